/* pool.h: the threads that the program starts itself, outside parallel regions, and its main thread: those
 * that work have a PU each, and idle ones take none from them.
 *
 * Contract. A new thread has a slot by creation order (slots.h). From the first one on a thread of this
 * library looks now and then at the processor time that each has used, and moves those for which there is a
 * better place (pool_choice.h): rarely, since it looks ever less often while nothing changes. It ends when
 * the program's own threads have. A thread that has been in a parallel region is the region's from then on,
 * and is not moved; nor is one whose mask the program has set. Other parts of this library change the slot of
 * a thread of the pool only between pool_hold and pool_let.
 *
 * All functions need settings() not to be NULL, and do nothing before pool_prepare.
 */
#ifndef NUMAPLACE_POOL_H
#define NUMAPLACE_POOL_H

#include "../regions/export.h"
#include "policy/verify.h"

#include <stdbool.h>
#include <stdint.h>

/* Once, in the main thread, where the program's own threads are bound. */
void pool_prepare(void);
/* In the child of a fork: the calling thread is the main thread, and the only one. */
void pool_after_fork(void);

/* A thread is about to be created: whether it is the pool's, and no team's; it was not created; it was. */
bool pool_grows(void);
void pool_shrinks(void);
void pool_looks(void);
/* In the new thread; and at its end, or the main thread's. */
void pool_thread_begins(bool of_the_pool);
void pool_thread_ends(void);
/* Whether the main thread never had a slot, and may want the first one. */
bool pool_main_is_free(void);

extern THREAD_LOCAL bool pool_moves_this_thread;
void pool_leave_to_regions_now(void);
/* The calling thread comes to a parallel region. */
static inline void pool_leave_to_regions(void) {
    if (__builtin_expect(pool_moves_this_thread, 0))
        pool_leave_to_regions_now();
}

/* Around changes of the calling thread's slot. */
uint64_t pool_hold(void);
void pool_let(uint64_t mask);

/* Where no thread of the pool lives: wait until the one that looks has ended, too, also for the kernel. */
void pool_rest(void);
/* A thread could not be created: whether the one that looked had the place, and is gone for good. */
bool pool_makes_room(void);
/* Look no more. */
void pool_give_up(void);

/* What became of the pool, for verify.h; `visit` is told of each of its threads that still lives and has a
 * slot, but the calling one, whether it is bound to that slot's PU. False where the program had no pool. */
bool pool_tell(struct verified_pool *found, void (*visit)(uint32_t slot, bool right));

#endif
