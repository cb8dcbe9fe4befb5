/* copies.c: writes to each page that is there, mapping by mapping. */
#define _GNU_SOURCE
#include "copies.h"

#include "chunks.h"
#include "mappings.h"

#include "memory/huge.h"
#include "process/system.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096ul
#define TOGETHER 512ul
#define MOVE (1u << 1) /* MPOL_MF_MOVE: pages of this process alone */
#define COLLAPSE 25    /* MADV_COLLAPSE, Linux 6.1 */
#define WORD_BITS (8 * sizeof(unsigned long))

struct node_mask {
    unsigned long word[MOST_NODES / WORD_BITS];
};

static void add(struct node_mask *mask, unsigned node) {
    mask->word[node / WORD_BITS] |= 1ul << node % WORD_BITS;
}

static void prefer(int node) {
    struct node_mask mask = {{0}};
    if (node < 0) {
        syscall(SYS_set_mempolicy, POLICY_DEFAULT, NULL, 0ul);
        return;
    }
    add(&mask, (unsigned)node);
    syscall(SYS_set_mempolicy, POLICY_PREFERRED, mask.word, MOST_NODES + 1ul);
}

static void bind_mapping(const struct mapping *m, const struct job *job) {
    struct node_mask mask = {{0}};
    for (uint32_t n = 0; n < job->nodes; n++)
        add(&mask, job->node[n]);
    syscall(SYS_mbind, m->start, m->end - m->start,
            job->copies == COPIES_BIND ? POLICY_BIND : POLICY_INTERLEAVE, mask.word, MOST_NODES + 1ul,
            MOVE); /* what the fork has already written to is the child's own, and not copied again */
}

/* The nodes of some pages, negative where there is none; where the kernel knows no nodes, 0. */
static void look(uintptr_t start, size_t pages, int *node) {
    void *page[TOGETHER];
    for (size_t n = 0; n < pages; n++)
        page[n] = (void *)(start + n * PAGE);
    if (syscall(SYS_move_pages, 0, pages, page, NULL, node, 0) == 0)
        return;
    unsigned char there[TOGETHER];
    const bool known = syscall(SYS_mincore, start, pages * PAGE, there) == 0;
    for (size_t n = 0; n < pages; n++)
        node[n] = known && (there[n] & 1) ? 0 : -1;
}

/* Whether any of some pages is there: to look at each of an address space that is only reserved takes long.
 */
static bool has_any(uintptr_t start, size_t pages) {
    unsigned char there[TOGETHER] = {0};
    if (syscall(SYS_mincore, start, pages * PAGE, there) != 0)
        return true;
    for (size_t n = 0; n < pages; n++)
        if (there[n] & 1)
            return true;
    return false;
}

static void write_to(uintptr_t page) { __atomic_fetch_add((volatile char *)page, 0, __ATOMIC_RELAXED); }

bool copies_may_be_on(const struct job *job, int node) {
    for (uint32_t n = 0; n < job->nodes; n++)
        if (node == job->node[n])
            return true;
    return false;
}

/* Whether each page has a node of its own, at first that of the original: else the job's nodes do for all. */
static bool by_page(const struct job *job) {
    return job->copies == COPIES_KEEP || job->copies == COPIES_DATASET || copies_follow_touches(job);
}

/* Where each page of some is wanted, of those that are there; else negative. */
static void want(uintptr_t start, size_t pages, const struct job *job, int *node) {
    look(start, pages, node);
    for (size_t n = 0; job->copies == COPIES_DATASET && n < pages; n++)
        if (node[n] >= 0)
            (void)chunks_node(job, start + n * PAGE, &node[n]); /* what is no array stays */
}

static void copy_part(uintptr_t start, size_t pages, const struct job *job, struct outcome *outcome,
                      int *preferred) {
    const bool single = by_page(job);
    int wanted[TOGETHER], after[TOGETHER];
    want(start, pages, job, wanted);
    for (size_t n = 0; n < pages; n++) {
        if (wanted[n] < 0)
            continue;
        if (single && wanted[n] != *preferred)
            prefer(*preferred = wanted[n]);
        write_to(start + n * PAGE);
    }
    look(start, pages, after);
    for (size_t n = 0; n < pages; n++) {
        outcome->pages += wanted[n] >= 0;
        outcome->astray +=
            wanted[n] >= 0 && !(single ? after[n] == wanted[n] : copies_may_be_on(job, after[n]));
    }
}

bool copies_are_joined(void) {
    char text[64];
    system_read_text("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text);
    return strstr(text, "[always]") != NULL;
}

void copies_join(uintptr_t start, uintptr_t end) {
    const uintptr_t first = (start + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1), last = end & ~(HUGE_BYTES - 1);
    if (first < last)
        madvise((void *)first, last - first, COLLAPSE);
}

/* Read past the mapping, for pages beyond a file's end would raise a signal; what cannot be read stays zero.
 */
static bool make_private(const struct mapping *m, const struct job *job, int *preferred) {
    const size_t bytes = m->end - m->start;
    char *copy =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (copy == MAP_FAILED)
        return false;
    for (size_t at = 0; at < bytes; at += PAGE) {
        int node = -1;
        if (by_page(job))
            want(m->start + at, 1, job, &node);
        if (node != *preferred)
            prefer(*preferred = node);
        char page[PAGE];
        const struct iovec into = {page, PAGE}, from = {(char *)m->start + at, PAGE};
        static const char zeros[PAGE];
        if (process_vm_readv(getpid(), &into, 1, &from, 1, 0) == (ssize_t)PAGE &&
            memcmp(page, zeros, PAGE) != 0)
            memcpy(copy + at, page, PAGE);
    }
    return mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)m->start) == (void *)m->start;
}

static bool holds(const struct mapping *m, const void *address) {
    return (uintptr_t)address >= m->start && (uintptr_t)address < m->end;
}

enum outcome_state copies_make(const struct job *job, struct outcome *outcome) {
    struct mappings all;
    int preferred = -1;
    if (!mappings_read(&all))
        return OUTCOME_NONE;
    const bool huge = copies_are_joined() && !copies_follow_touches(job);
    for (size_t i = 0; i < all.count; i++) {
        const struct mapping *m = &all.list[i];
        if (!m->writable || holds(m, outcome) || holds(m, all.list))
            continue;
        if (m->device)
            return OUTCOME_DEVICE;
        if (m->shared && !make_private(m, job, &preferred))
            return OUTCOME_MEMORY;
        if (!by_page(job))
            bind_mapping(m, job);
        for (uintptr_t at = m->start; at < m->end; at += TOGETHER * PAGE) {
            const size_t pages = (m->end - at < TOGETHER * PAGE ? m->end - at : TOGETHER * PAGE) / PAGE;
            if (has_any(at, pages))
                copy_part(at, pages, job, outcome, &preferred);
        }
        if (huge)
            copies_join(m->start, m->end);
    }
    prefer(-1);
    munmap(all.list, all.bytes);
    return OUTCOME_DONE;
}
