/* spin.h: a lock for a few instructions, taken at most once for each region or function.
 *
 * Contract. The holder must not wait for another thread, nor call a dl* function: a thread that runs a
 * parallel region from a library's constructor may hold the loader's lock. Not for signal handlers. In the
 * child of a fork it is free.
 */
#ifndef NUMAPREDICT_SPIN_H
#define NUMAPREDICT_SPIN_H

#include <sched.h>
#include <stdatomic.h>

static inline void spin_lock(atomic_flag *lock) {
    while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire))
        sched_yield();
}

static inline void spin_unlock(atomic_flag *lock) { atomic_flag_clear_explicit(lock, memory_order_release); }

#endif
