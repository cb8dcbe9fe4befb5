/* own_pus.h: which of the mapping's PUs are this process's, and which of its threads are on them.
 *
 * Contract. A slot's PU is one process's at a time (claims.h): a thread or a team that finds none free gets
 * none. Without claims every slot is this process's. Slots are the mapping's (slots.h), and this is for
 * slots.c and teams.c, in any thread; each call takes the lock itself.
 */
#ifndef NUMAPLACE_OWN_PUS_H
#define NUMAPLACE_OWN_PUS_H

#include <stdbool.h>
#include <stdint.h>

#include "../regions/regions.h"

/* The slots that a team asks for: of a row, or of a list over which it is spread. */
struct wish {
    struct slot_row row;
    const uint16_t *slots; /* NULL: the row is of the mapping's own */
    uint32_t listed;       /* threads that the list is for; those beyond take their places in the row */
    enum thread_policy policy;
};
uint32_t asked_slot(const struct wish *wish, uint32_t thread, uint32_t team);

/* Once, before the others; and in the child of a fork: none is its own. */
void own_pus_prepare(void);
void own_pus_after_fork(void);

/* Whether every thread of a team has a PU of this process's own. Where one has not, none has, nor have later
 * teams, until it is tried again: between two teams, so that all threads of one find the same. */
bool own_pus_for(const struct wish *wish, uint32_t team);
/* An outermost region begins, in the thread that starts it; and has ended. */
void own_pus_team_begins(void);
void own_pus_team_ends(void);
/* The slot that stands for one that a team asked for: itself, unless its PU is another process's. */
uint32_t own_slot_for(uint32_t asked);
/* Whether a team of this process has ever had its PUs. */
bool own_pus_ever(void);

/* Choose a slot for one more thread, by the contract of slot_reserve; NO_SLOT where none is free. The first
 * slot may be the last to be chosen. */
uint32_t own_pus_reserve(bool first_is_last);
/* A thread leaves one slot for another; either may be NO_SLOT. False, with nothing changed, where the other's
 * PU is another process's. */
bool own_pus_change(uint32_t left, uint32_t taken);
/* The calling thread leaves the slot that it is bound to, if any, for another, if that is this process's. A
 * team keeps its PU. */
bool own_pus_move_to(uint32_t slot);
void own_pus_leave(void);
/* A thread that had a slot has ended: after the last one its PU is free. */
void own_pus_give_back(uint32_t slot);
/* The slot is the thread's that has it, and no team's, whatever process is started. */
void own_pus_keep(uint32_t slot);
/* Claim a slot's PU again; return whether that can be. */
bool own_pus_reclaim(uint32_t slot);
/* Leave the calling thread's PU, and those of teams where none is at work, to other processes; false where
 * the lock is taken, maybe by this thread, in whose signal handler the program forks. */
bool own_pus_leave_to_child(void);
/* Leave all of them. */
void own_pus_give_up(void);
/* slots_hold_run. */
bool own_pus_hold_run(const char *path);

#endif
