/* affinity.h: the masks that the program sees, and those that it sets.
 *
 * Contract. For a thread that this library bound to its slot's PU, the C library's calls report all PUs of
 * the mapping, in any thread of the process: as without the library in a process restricted to them. Other
 * masks are reported unchanged.
 *
 * A mask that the program sets itself is kept: the thread is no longer bound to a slot's PU, and reads it
 * back. It is bound again once it sets a mask with all PUs of the mapping, as programs do that restore their
 * initial mask. Programs that a bound thread starts inherit the mask of all PUs. System calls by
 * number set what they say, and report what the kernel knows.
 *
 * All functions but the first need settings() not to be NULL.
 */
#ifndef NUMAPLACE_AFFINITY_H
#define NUMAPLACE_AFFINITY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Bind the calling thread to a slot's PU, unless the program has set where it runs. */
void affinity_bind(uint32_t slot);
/* Whether a thread that the calling one creates inherits the binding to the slot's PU. */
bool affinity_inherits(uint32_t slot);
/* Bind a new thread that still waits, to all PUs of the mapping where its slot is NO_SLOT; and in that
 * thread, before anything else. Moving a waiting thread costs the kernel much less than moving a running one.
 */
void affinity_bind_new(pthread_t thread, uint32_t slot);
void affinity_begin(void);
/* Bind another thread, with its number, which stays alive meanwhile, or with NO_SLOT let it run on all PUs of
 * the mapping. False where the program has set where it runs, or it cannot be. */
bool affinity_bind_other(pthread_t thread, pid_t its_number, uint32_t slot);
/* Whether the program has set where that thread runs. */
bool affinity_is_programs_of(pthread_t thread, pid_t its_number);
/* Let the calling thread run on all PUs of the mapping, unless the program has set where it runs. */
void affinity_release(void);
/* Around the start of a program, which inherits the mask. After vfork this thread is another process, so that
 * only the kernel's mask changes. Return whether it was changed. */
bool affinity_show_all(void);
void affinity_show_slot(bool shown);
/* Whether this thread is the child of a vfork, which shares its parent's memory. */
bool affinity_is_vforked(void);
/* Whether attributes set the mask of a new thread; and in that thread: note that the program set it. */
bool affinity_in(const pthread_attr_t *attributes);
void affinity_is_programs(void);
/* The calling thread ends: its numbers may be reused. */
void affinity_end(void);
/* In the child of a fork: the lock is free, and this thread has another number. */
void affinity_after_fork(void);

#endif
