#define _GNU_SOURCE
#include "pages.h"

#include <errno.h>
#include <inttypes.h>
#include <numa.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ASKED = 64, HUGE_BYTES = 2 << 20 };

static int libnuma_error;

/* libnuma calls these where a call fails, instead of printing lines of its own: numa(3). */
void numa_error(char *where) {
    (void)where;
    libnuma_error = errno;
}

void numa_warn(int number, char *format, ...) { (void)number, (void)format; }

bool pages_open(struct pages *pages, size_t bytes, int node, struct answer *answer) {
    const size_t whole = (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
    *pages = (struct pages){.bytes = whole, .node = node};
    /* Twice: a huge page begins at a multiple of its size. */
    void *mapped = mmap(NULL, whole + HUGE_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        return fails(answer, "map memory", errno);
    char *start = mapped, *end = start + whole + HUGE_BYTES;
    pages->start = (char *)(((uintptr_t)start + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES);
    if (pages->start > start)
        munmap(start, (size_t)(pages->start - start));
    if (end > pages->start + whole)
        munmap(pages->start + whole, (size_t)(end - pages->start) - whole);
    (void)madvise(pages->start, whole, MADV_HUGEPAGE); /* a kernel without them uses small ones */
    if (node < 0)
        return true;
    if (numa_available() < 0)
        return fails(answer, "bind memory to a node", ENOSYS);
    libnuma_error = 0;
    numa_set_bind_policy(1);
    numa_tonode_memory(pages->start, whole, node);
    if (!libnuma_error)
        return true;
    pages_close(pages);
    return fails(answer, "bind memory to the node", libnuma_error);
}

static double share_on_node(const struct pages *pages) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), count = pages->bytes / page;
    void *where[ASKED];
    int status[ASKED], right = 0, wrong = 0;
    for (size_t n = 0; n < ASKED; n++)
        where[n] = pages->start + n * count / ASKED * page;
    if (pages->node < 0 || numa_move_pages(0, ASKED, where, NULL, status, 0) != 0)
        return -1;
    for (size_t n = 0; n < ASKED; n++) {
        right += status[n] == pages->node;
        wrong += status[n] >= 0 && status[n] != pages->node;
    }
    return right + wrong ? (double)right / (right + wrong) : -1;
}

/* proc_pid_smaps(5): the mapping's header, then its lines, AnonHugePages among them. */
static double share_huge(const struct pages *pages) {
    FILE *file = fopen("/proc/self/smaps", "re");
    if (!file)
        return -1;
    char line[512];
    uintptr_t start = 0, end = 0;
    size_t kilobytes, huge = 0;
    bool told = false;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &start, &end) == 2)
            continue;
        if (start < (uintptr_t)pages->start + pages->bytes && end > (uintptr_t)pages->start &&
            sscanf(line, "AnonHugePages: %zu kB", &kilobytes) == 1) {
            huge += kilobytes * 1024;
            told = true;
        }
    }
    (void)fclose(file);
    const double share = (double)huge / (double)pages->bytes;
    return !told ? -1 : share > 1 ? 1 : share;
}

void pages_note(const struct pages *pages, struct answer *answer) {
    answer->on_node = share_on_node(pages);
    answer->huge = share_huge(pages);
}

void pages_close(struct pages *pages) { munmap(pages->start, pages->bytes); }
