/* forked_child.h: a forked child with a parallel region is a process of the run, as the programs of it are.
 *
 * Contract. Where the settings say so (`forks`), its region file and its part of the map count from the fork.
 * Nothing is written before its first outermost region: a child that soon executes a program, or ends, leaves
 * nothing. Many end by _exit, which calls no destructor: it is interposed, and tells what a destructor would;
 * quick_exit calls the same. A child that goes on with the profile (profile.h) writes one of its own, and one
 * that cannot says so (unseen_library.h). A child of vfork, or of a fork that called no handlers, is left
 * alone.
 */
#ifndef NUMAPLACE_FORKED_CHILD_H
#define NUMAPLACE_FORKED_CHILD_H

#include <stdatomic.h>
#include <stdbool.h>

/* Once, in the library's constructor. */
void forked_child_prepare(void);
/* In the child of a fork: whether it `profiles` as its parent was to. */
void forked_child_after_fork(bool profiles);

extern atomic_bool forked_child_is_new __attribute__((visibility("hidden")));
void forked_child_begin(void);
/* Before an outermost region, before all else. */
static inline void forked_child_region(void) {
    if (__builtin_expect(atomic_load_explicit(&forked_child_is_new, memory_order_relaxed), 0))
        forked_child_begin();
}

#endif
