/* touches.h: the pages of a replay go to the nodes of the threads that touch them (page policies `locality`,
 * `balance` and `mix`).
 *
 * As the library for whole runs does it (native/placement/policy/next_touch.c): the arrays (chunks.h) and the
 * heap's small allocations are protected, and each block of pages is opened at its first touch, which notes
 * the node of the thread. One instance of the
 * region decides; for `mix` two, which show whether threads of several nodes use a block. It is the child's
 * own memory that is protected: nothing but the replay can touch it meanwhile.
 *
 * The kernel does not write for a system call to memory that is protected: one that the region makes, such as
 * getrandom, fails in these instances. Threads wait at a futex only after they have read it themselves.
 */
#ifndef NUMACAPTURE_TOUCHES_H
#define NUMACAPTURE_TOUCHES_H

#include "exchange.h"

#include <stdbool.h>

/* Read how many mappings there may be, as long as files may be read; false where that is not possible. */
bool touches_prepare(void);
/* The stack of the calling thread is never protected: from every thread of the replay, before touches_place.
 */
void touches_spare_stack(void);
/* Run instances of the region, and move its pages as the job says; false where memory is lacking. */
bool touches_place(const struct job *job, void (*instance)(void), struct outcome *outcome);

#endif
