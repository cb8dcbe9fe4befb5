/* slot_row.h: which slots of a mapping the threads of a team take. Pure arithmetic.
 *
 * A mapping has one slot a thread. An outermost team has the row of all slots, and the team of a nested
 * region its parent's share of the parent's row. A team smaller than its row is spread over it, as the thread
 * policy says; a larger one puts several threads on a slot. Placement binds threads by this rule, and the
 * tracer books their work by it.
 */
#ifndef NUMAPREDICT_SLOT_ROW_H
#define NUMAPREDICT_SLOT_ROW_H

#include <stdint.h>

enum thread_policy { CONTIGUOUS, SCATTER, THREAD_POLICIES };

/* `count` slots from `first` on, `step` apart. */
struct slot_row {
    uint16_t first, count, step;
};

/* The slot of thread `thread` of `team` in the row. */
static inline uint32_t slot_in_row(struct slot_row row, uint32_t thread, uint32_t team,
                                   enum thread_policy policy) {
    const uint32_t count = row.count;
    const uint32_t at = policy == SCATTER ? thread % count : (uint32_t)((uint64_t)thread * count / team);
    return row.first + (at < count ? at : count - 1) * row.step;
}

/* The row of the team that this thread starts inside its own. */
static inline struct slot_row row_of_inner_team(struct slot_row row, uint32_t thread, uint32_t team,
                                                enum thread_policy policy) {
    struct slot_row inner = row;
    if (team >= row.count) { /* not more slots than threads: each nested team stays on its parent's */
        inner.first = (uint16_t)slot_in_row(row, thread, team, policy);
        inner.count = 1;
        inner.step = 1;
    } else if (policy == SCATTER) {
        inner.first = (uint16_t)(row.first + thread * row.step);
        inner.count = (uint16_t)((row.count - thread + team - 1) / team);
        inner.step = (uint16_t)(row.step * team);
    } else {
        const uint32_t from = (uint32_t)((uint64_t)thread * row.count / team);
        const uint32_t to = (uint32_t)((uint64_t)(thread + 1) * row.count / team);
        inner.first = (uint16_t)(row.first + from * row.step);
        inner.count = (uint16_t)(to - from);
    }
    return inner;
}

#endif
