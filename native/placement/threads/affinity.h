/* affinity.h: where the program may run by its own knowledge, and by its own choice.
 *
 * Contract. A thread that this library bound to its slot's PU hears, when it or another thread of the process
 * asks the C library, that it may run on all PUs of the mapping: what it would hear without the library in a
 * process that is restricted to them. Anything else that the kernel says is passed on as it is.
 *
 * A mask that the program sets itself holds: the thread is no longer bound to a slot's PU, and reads it back.
 * It is bound again once it sets a mask with all PUs of the mapping, as programs do that go back to the mask
 * they began with. Programs that a bound thread starts begin with the mask of all PUs. Raw system calls see
 * and do what the kernel does.
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
/* Whether a thread that the calling one creates is bound to the slot's PU without any more, as its creator
 * is. */
bool affinity_inherits(uint32_t slot);
/* Bind a thread that was created and does nothing yet but wait; and in that thread, before anything else. The
 * kernel moves a thread that waits at a small part of the price of one that runs. */
void affinity_bind_new(pthread_t thread, uint32_t slot);
void affinity_begin(void);
/* Let the calling thread run on all PUs of the mapping, unless the program has set where it runs. */
void affinity_release(void);
/* Around the start of a program, which inherits the mask. After vfork this thread stands for another process,
 * so that only the kernel's mask changes. Return whether it was changed. */
bool affinity_show_all(void);
void affinity_show_slot(bool shown);
/* Whether this thread stands for another process, which shares this one's memory. */
bool affinity_is_vforked(void);
/* Whether attributes say where a new thread is to run; in that thread: it is the program that says so. */
bool affinity_in(const pthread_attr_t *attributes);
void affinity_is_programs(void);
/* The calling thread ends: its numbers will be another's. */
void affinity_end(void);
/* In the child of a fork: the lock is free, and this thread has another number. */
void affinity_after_fork(void);

#endif
