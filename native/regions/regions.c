/* regions.c: calls the hooks for each thread of a region. */
#include "regions.h"

#include "runtime.h"

#include <stddef.h>

/* Number of regions around the calling thread. The tasks of a region may run after the shares, until its end,
 * in any thread of the team: therefore the encountering thread counts as inside until then, and another
 * thread until it enters its next region. */
static THREAD_LOCAL int depth;

int region_depth(void) { return depth; }

int region_team(const struct region_call *call) { return call->runtime->num_threads(); }

struct passage passage_begin(struct region_call *call, void *function, const struct runtime *runtime) {
    const struct passage before = {runtime_inside, depth};
    if (call->function != function || call->runtime != runtime || call->level != depth)
        *call = (struct region_call){.function = function, .runtime = runtime, .level = depth};
    call->began_ns = 0;
    call->team = 0;
    region_begin(call);
    runtime_inside = runtime;
    depth = before.depth + 1;
    return before;
}

void passage_end(struct region_call *call, struct passage before) {
    depth = before.depth;
    runtime_inside = before.runtime;
    region_end(call);
}

void passage_enter(struct region_call *call, int thread) {
    runtime_inside = call->runtime;
    depth = call->level + 1;
    if (thread == 0)
        call->team = (uint64_t)region_team(call);
    region_enter(call, thread);
}

void passage_leave(struct region_call *call) { region_leave(call); }

/* OMP_SCHEDULE decides; omp_sched_static is 1, whatever modifier is set. */
bool passage_schedule_is_dynamic(void) {
    int kind = 1, chunk = 0;
    if (runtime_inside)
        runtime_inside->get_schedule(&kind, &chunk);
    return (kind & 0xff) != 1;
}
