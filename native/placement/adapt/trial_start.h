/* trial_start.h: what is tried next, and when it can be paid for.
 *
 * Contract. As decision.h.
 */
#ifndef NUMAPLACE_TRIAL_START_H
#define NUMAPLACE_TRIAL_START_H

#include "adapt/trial.h"

/* Begin the next trial, if it can be paid for; settle where none is left. */
void decision_begin_trial(struct decision *d, uint64_t now_ns);
/* Whether the next trial of teams can be paid for. */
bool decision_team_is_paid(const struct decision *d, uint64_t now_ns);

#endif
