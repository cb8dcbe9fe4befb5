/* slots.h: which thread runs on which PU.
 *
 * Contract. The mapping gives one slot a thread (settings.h), in thread order. Slot 0 is the main thread's
 * from the start. A thread that the program starts with pthread_create takes, by creation order, the free
 * slot with the lowest number, or the one with the fewest threads where none is free, and gives it back when
 * it ends. In a parallel region, thread i of a team of n takes a slot of the team's row: an outermost team
 * has all slots; the team of a nested region has its parent's share of them.
 *
 * A program's own choice of a mask is left alone (affinity.h), and so is its choice of a thread count: a team
 * smaller than the mapping is spread over all the thread nodes, as the thread policy says; a larger one puts
 * several threads on a slot. The plan may give an outermost region a smaller team on slots of its own
 * (teams.h); teams inside it have the same shares as in any other team of that size.
 *
 * All functions need settings() not to be NULL.
 */
#ifndef NUMAPLACE_SLOTS_H
#define NUMAPLACE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "../regions/regions.h"

/* Bind the calling thread to a slot's PU, if it is not there already. */
void slot_take(uint32_t slot);
/* Choose the slot of a thread that is about to be created; `slot_start` sets it in the new thread, which its
 * creator binds (affinity.h). */
uint32_t slot_reserve(void);
void slot_start(uint32_t slot);
void slot_give_back(uint32_t slot);
/* Let the calling thread run on all PUs of the mapping. */
void slots_release_binding(void);
/* In the child of a fork: one thread, on all PUs of the mapping. */
void slots_after_fork(void);

/* Fill in the row of slots for the region that the calling thread is about to start. */
void slot_choose_row(struct region_call *call);
/* Bind the calling thread to its place in the row, and remember it for nested regions; and undo this. */
void slot_enter(const struct region_call *call, uint32_t thread, uint32_t team);
void slot_leave(void);
/* Bind the calling thread to its place among a team's slots, over which a team of another size is spread. */
void slot_enter_within(const struct region_team *within, uint32_t thread, uint32_t team);

#endif
