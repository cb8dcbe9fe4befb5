/* regions.c: calls the hooks for each thread of a region. */
#include "regions.h"

#include "runtime.h"

#include <stdatomic.h>
#include <stddef.h>

static const struct region_hooks none;
static _Atomic(const struct region_hooks *) hooks = &none;

#define CALL_HOOK(name, ...)                                                                                 \
    do {                                                                                                     \
        const struct region_hooks *h = atomic_load_explicit(&hooks, memory_order_acquire);                   \
        if (h->name)                                                                                         \
            h->name(__VA_ARGS__);                                                                            \
    } while (0)

/* Number of regions around the calling thread. The tasks of a region may run after the shares, until its end,
 * in any thread of the team: therefore the encountering thread counts as inside until then, and another
 * thread until it enters its next region. */
static THREAD_LOCAL int depth;

void regions_watch(const struct region_hooks *given) { atomic_store(&hooks, given); }

int region_depth(void) { return depth; }

int region_team(const struct region_call *call) { return call->runtime->num_threads(); }

struct passage passage_begin(struct region_call *call, void *function, const struct runtime *runtime,
                             struct restart restart) {
    const struct passage before = {runtime_inside, depth};
    if (call->function != function || call->runtime != runtime || call->level != depth)
        *call = (struct region_call){.function = function, .runtime = runtime, .level = depth};
    call->began_ns = 0;
    call->team = 0;
    call->again = restart.again;
    call->given = restart.given;
    CALL_HOOK(begin, call);
    runtime_inside = runtime;
    depth = before.depth + 1;
    return before;
}

unsigned region_chosen_threads(struct region_call *call, unsigned own) {
    if (own == 0 && call->runtime->max_threads() >= (int)call->chosen->threads)
        return call->chosen->threads;
    call->chosen = NULL;
    return own;
}

void passage_end(struct region_call *call, struct passage before) {
    depth = before.depth;
    runtime_inside = before.runtime;
    CALL_HOOK(end, call);
}

void passage_enter(struct region_call *call, int thread) {
    runtime_inside = call->runtime;
    depth = call->level + 1;
    if (thread == 0)
        call->team = (uint64_t)region_team(call);
    CALL_HOOK(enter, call, thread);
}

void passage_leave(struct region_call *call) { CALL_HOOK(leave, call); }

void passage_wait(void) { CALL_HOOK(wait); }

void passage_barrier(void) { CALL_HOOK(barrier); }

bool passage_next_chunk(void) {
    CALL_HOOK(next_chunk);
    return atomic_load_explicit(&hooks, memory_order_relaxed)->chunk != NULL;
}

void passage_chunk(void) { CALL_HOOK(chunk); }

/* OMP_SCHEDULE decides; omp_sched_static is 1, whatever modifier is set. */
bool passage_schedule_is_dynamic(void) {
    int kind = 1, chunk = 0;
    if (runtime_inside && atomic_load(&hooks)->next_chunk)
        runtime_inside->get_schedule(&kind, &chunk);
    return (kind & 0xff) != 1;
}
