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
 * Processes share the mapping as the threads of one team would (claims.h): a slot's PU is one process's at a
 * time. A team takes the slots that it asks for, and in place of those whose PU is another process's the next
 * ones that are free. Where there are too few, none of its threads is bound: they may run on all PUs of the
 * mapping, and a process that never had a PU has its pages where its threads are. A thread that the program
 * starts itself is left free alone. The PUs of a team are kept for the next one, until its threads end, or
 * the process ends, or starts another outside a region: that may need them, and the calling thread is unbound
 * until its next region.
 *
 * All functions need settings() not to be NULL.
 */
#ifndef NUMAPLACE_SLOTS_H
#define NUMAPLACE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "../regions/regions.h"

/* Once, before the others. */
void slots_prepare(void);
/* Bind the main thread to the first slot. */
void slots_begin(void);
/* Bind the calling thread to the PU of a slot that this process has, if it is not there already. */
void slot_bind(uint32_t slot);
/* Choose the slot of a thread that is about to be created, or NO_SLOT where no PU is free for it;
 * `slot_start` sets it in the new thread, which its creator binds (affinity.h). */
uint32_t slot_reserve(void);
void slot_start(uint32_t slot);
void slot_give_back(uint32_t slot);
/* Let the calling thread run on all PUs of the mapping. */
void slots_release_binding(void);
/* That, and leave all PUs to other processes. */
void slots_give_up(void);
/* Whether this process of the run is the one that adapts, whose table is at `path`. */
bool slots_hold_run(const char *path);
/* Before the calling thread forks or starts a program, outside a region: leave its PU and those of teams to
 * the child. Return the slot that it had, for when the child has ended; NO_SLOT where it had none. */
uint32_t slots_before_child(void);
void slots_after_child(uint32_t slot);
/* In the child of a fork: one thread, on all PUs of the mapping. */
void slots_after_fork(void);

/* Fill in the row of slots for the region that the calling thread is about to start. */
void slot_choose_row(struct region_call *call);
/* Bind the calling thread to a place in the row, its own or another's, and remember it for nested regions;
 * and undo this. */
void slot_enter(const struct region_call *call, uint32_t place, uint32_t team);
void slot_leave(void);
/* Return the slot of a place in the row of a team: of its thread of that number, unless hints have it take
 * another's place (hints/hinted_teams.h). */
uint32_t slot_of_place(const struct region_call *call, uint32_t place, uint32_t team);
/* An outermost region has ended, in the thread that started it. */
void slots_region_end(void);
/* Bind the calling thread to its place among a team's slots, over which a team of another size is spread. */
void slot_enter_within(const struct region_team *within, uint32_t thread, uint32_t team);

#endif
