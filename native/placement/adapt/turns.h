/* turns.h: what is tried against what was before, in turns; and how trials of teams end.
 *
 * Contract. As decision.h.
 */
#ifndef NUMAPLACE_TURNS_H
#define NUMAPLACE_TURNS_H

#include "adapt/trial.h"

/* A trial of teams has its steps, or was cut short. */
void decision_judge_teams(struct decision *d, uint64_t now_ns);
/* Compare what is tried with what was before; a step of that has ended; it was cut short. */
void decision_begin_turns(struct decision *d);
void decision_turn(struct decision *d, uint64_t now_ns);
void decision_cut_turns(struct decision *d, uint64_t now_ns);

#endif
