/* touches_seen.c: native/capture/touches.c and chunks.c as a library of their own, which is how programs get
 * them, and what has been noted. */
#include "../../native/capture/touches.c"

#include "../../native/capture/chunks.h"

/* The first toucher's node and 1 in an instance, 0 for none; -1 where nothing is protected. */
int touches_seen(const void *address, int instance);
bool touches_run(enum copies copies, uint16_t node, void (*instance)(void), struct outcome *outcome);
/* The node of a page that is cut by arrays into chunks on nodes 0, 1, 2, ...; -1 where it is of none. */
int chunk_of(const void *page, unsigned chunks);

__attribute__((constructor)) static void load(void) { chunks_prepare(); }

int touches_seen(const void *address, int instance) {
    const struct part *part = part_at((uintptr_t)address);
    return part ? toucher[instance][part->first + block_of(part, (uintptr_t)address)] : -1;
}

int chunk_of(const void *page, unsigned chunks) {
    static struct job job;
    int node = -1;
    job.nodes = chunks;
    for (unsigned n = 0; n < chunks; n++)
        job.node[n] = (uint16_t)n;
    return chunks_node(&job, (uintptr_t)page, &node) ? node : -1;
}

bool touches_run(enum copies copies, uint16_t node, void (*instance)(void), struct outcome *outcome) {
    static struct job job;
    job.copies = (uint32_t)copies;
    job.nodes = 1;
    job.node[0] = node;
    chunks_stay(&job);
    if (!touches_prepare())
        return false;
    touches_spare_stack();
    return touches_place(&job, instance, outcome);
}
