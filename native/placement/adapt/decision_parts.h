/* decision_parts.h: what the files of the state machine (decision.h) share.
 *
 * Contract. Nothing here is for others.
 */
#ifndef NUMAPLACE_DECISION_PARTS_H
#define NUMAPLACE_DECISION_PARTS_H

#include "adapt/decision.h"

#define TIMED_NS 2e6 /* steps are timed for so long in all, */
#define NOISES 2.0   /* a gain must exceed so many deviations */

/* decision.c */
void decision_enter(struct decision *d, enum stage stage);
uint32_t decision_steps_wanted(double step_ns);
/* What trials may still cost, if they may have lost this part of the share. */
double decision_left(const struct decision *d, double loss_part, uint64_t now_ns);
/* What has been spent or gained so far by the trial under way counts. */
void decision_book(struct decision *d);
/* A trial has ended; and what it says of the mapping, which is closed. */
void decision_note(struct decision *d, enum outcome outcome, double gain, uint64_t now_ns);
void decision_tell(struct decision *d, double gain, bool ended);
void decision_go_back(struct decision *d);

/* trial_start.c: begin the next trial, if it can be paid for; settle where none is left. Whether the next
 * trial of a team can be paid for. */
void decision_begin_trial(struct decision *d, uint64_t now_ns);
bool decision_team_is_paid(const struct decision *d, uint64_t now_ns);

/* turns.c: a trial of teams has its steps, or was cut short. Compare what is tried with what was before; a
 * step of that has ended; it was cut short. */
void decision_judge_teams(struct decision *d, uint64_t now_ns);
void decision_begin_turns(struct decision *d);
void decision_turn(struct decision *d, uint64_t now_ns);
void decision_cut_turns(struct decision *d, uint64_t now_ns);

#endif
