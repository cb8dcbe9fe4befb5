/* touches_seen.c: native/capture/touches.c as a library of its own, which is how programs get it, and what it
 * has noted. */
#include "../../native/capture/touches.c"

/* The first toucher's node and 1 in an instance, 0 for none; -1 where nothing is protected. */
int touches_seen(const void *address, int instance);
bool touches_run(const void *function, enum copies copies, uint16_t node, void (*instance)(void),
                 struct outcome *outcome);

int touches_seen(const void *address, int instance) {
    const struct part *part = part_at((uintptr_t)address);
    return part ? toucher[instance][part->first + block_of(part, (uintptr_t)address)] : -1;
}

bool touches_run(const void *function, enum copies copies, uint16_t node, void (*instance)(void),
                 struct outcome *outcome) {
    static struct job job;
    job.copies = (uint32_t)copies;
    job.nodes = 1;
    job.node[0] = node;
    if (!touches_prepare(function))
        return false;
    touches_spare_stack();
    return touches_place(&job, instance, outcome);
}
