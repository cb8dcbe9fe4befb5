/* early.c: reads the process's mappings and moves what is in them. */
#define _GNU_SOURCE
#include "policy/early.h"

#include "memory/huge.h"
#include "memory/ranges.h"
#include "memory/sites.h"
#include "process/settings.h"
#include "process/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 8192 /* a path has 4095 at most */
/* Every page is queried, even of memory that a constructor reserved and did not use: 0.1 s. */
#define MOST_PAGES (1ul << 20)

/* A line of /proc/self/maps. */
struct mapping {
    uintptr_t start, end;
    uint64_t offset; /* in its file */
    bool of_file;
};

static uint16_t target[MOST_NODES]; /* in order of number, as the kernel interleaves */
static size_t targets;
static size_t pages_left;

/* Linux counts the pages of a file's mapping by the place in the file, and anonymous ones by address, huge
 * ones by their size (linux/mempolicy.c: get_vma_policy). */
static int node_of(const struct mapping *m, uintptr_t at) {
    const struct range whole = {.start = m->start, .end = m->end};
    if (m->of_file)
        return target[(m->offset + (at - m->start)) / PAGE_BYTES % targets];
    return target[at / (huge_range(&whole) ? HUGE_BYTES : PAGE_BYTES) % targets];
}

/* Only misplaced pages are passed to the kernel to be moved. */
static void look(const struct mapping *m, struct page_moves *misplaced) {
    void *page[PAGE_MOVES];
    int status[PAGE_MOVES];
    for (uintptr_t at = m->start; at < m->end && pages_left;) {
        size_t count = 0;
        for (; at < m->end && count < PAGE_MOVES && pages_left; at += PAGE_BYTES, pages_left--) {
            status[count] = -ENOENT;
            page[count++] = (void *)at;
        }
        if (system_where(count, page, status) < 0)
            return;
        for (size_t i = 0; i < count; i++) {
            const int node = node_of(m, (uintptr_t)page[i]);
            if (status[i] >= 0 && status[i] != node)
                page_moves_add(misplaced, (uintptr_t)page[i], node);
        }
    }
}

/* Read START-END RIGHTS OFFSET DEVICE INODE [NAME]; return whether it is to be checked. */
static bool read_line(char *line, bool alone, struct mapping *m) {
    char *at;
    m->start = strtoul(line, &at, 16);
    if (*at++ != '-')
        return false;
    m->end = strtoul(at, &at, 16);
    if (strncmp(at, " rw-p ", 6) != 0)
        return false;
    m->offset = strtoull(at + 6, &at, 16);
    for (int words = 0; words < 2; words++) { /* device and inode */
        at += strspn(at, " ");
        at += strcspn(at, " ");
    }
    const char *name = at + strspn(at, " ");
    m->of_file = *name == '/';
    if (site_in_this_library((const void *)m->start))
        return false;
    if (m->of_file)
        return !site_module_outside(name);
    return strcmp(name, "[heap]") == 0 || (alone && (*name == '\0' || strncmp(name, "[anon", 5) == 0));
}

static void look_at_lines(int file, struct page_moves *misplaced) {
    char text[LINE_BYTES + 1];
    const bool alone = system_is_single();
    size_t had = 0;
    for (;;) {
        const ssize_t got = read(file, text + had, LINE_BYTES - had);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return;
        had += got > 0 ? (size_t)got : 0;
        text[had] = '\0';
        char *line = text;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            struct mapping mapping;
            *end = '\0';
            if (read_line(line, alone, &mapping))
                look(&mapping, misplaced);
        }
        had -= (size_t)(line - text);
        memmove(text, line, had);
    }
}

static void set_targets(const uint16_t *nodes, size_t count) {
    for (targets = 0; targets < count; targets++) {
        size_t at = targets;
        for (; at > 0 && target[at - 1] > nodes[targets]; at--)
            target[at] = target[at - 1];
        target[at] = nodes[targets];
    }
}

void early_move(const uint16_t *nodes, size_t count) {
    static struct page_moves misplaced;
    const int before = errno;
    const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    set_targets(nodes, count);
    pages_left = MOST_PAGES;
    if (file >= 0) {
        look_at_lines(file, &misplaced);
        close(file);
        page_moves_flush(&misplaced);
    }
    errno = before;
}
