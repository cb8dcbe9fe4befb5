/* decision.h: which mapping a running program should have next: a state machine over the times of its
 * regions.
 *
 * Contract. Pure: no allocation, no I/O, no clock of its own; one thread at a time. Times are in ns. A column
 * is a mapping; column 0 is the baseline. The caller says when an instance has ended and what changing the
 * mapping has cost, and from the next instance on runs the program under `wanted`.
 *
 * The rules, in this order:
 *   - Nothing is tried in the first `quiet_ns`, nor before the program's steps (steps.h) are known, three or
 * more were timed under the mapping that it has, and they do not become faster by themselves.
 *   - Next is the mapping that known programs say should add most (next_trial.h), if the rest of the program,
 * taken to be as long as what has passed, should gain more by it than the trial is expected to cost.
 *   - A trial may cost what is left of the budget: `share` of the time so far, and no more than LOSS_PART of
 * it beyond what earlier trials have gained. Costs are what steps took longer, and moves of pages. A trial is
 * cut short after the first slower instance that leaves too little of the budget for another such one and the
 * way back. What moves have cost is no reason: the way back would cost as much again.
 *   - Pages move in PARTS parts: one by one, as the budget and what is gained meanwhile allow, unless they
 * are a loss beyond the noise; and once a gain is sure, as many together as SURE_PART pays for.
 *   - The first step after a change is not timed. A mapping is kept if the median of at least three steps
 * under it is better than the median before by more than the noise of both, and by LEAST_GAIN. Else the
 * program goes back. Pages that have all moved stay where that is no loss: the way back would be one.
 *   - A mapping without a move of pages is compared with the one before in turns: a few steps of the one, a
 * few of the other, until their gain is clear. Any other kept mapping is watched for twice as many steps. If
 * it was no gain after all, the program goes back, once.
 *   - Where known programs gained more by it for what it costs, the main regions get smaller teams
 * (team_trials.h), each the best that it had; all of them together are compared with the plain ones in turns.
 *   - What was tried is never tried again; what was interrupted twice neither.
 *   - Where all pages are on one node and the threads on several, what spreads them is tried first; with
 * `crowded_only` nothing else is.
 *   - If the program's steps become others, its gains are unknown: the baseline may be tried again then,
 * first.
 */
#ifndef NUMAPLACE_DECISION_H
#define NUMAPLACE_DECISION_H

#include "adapt/trial.h"

/* Begin, in this column. What is known stays the caller's. */
void decision_begin(struct decision *decision, const struct known_gains *known,
                    const struct known_teams *teams, struct limits limits, uint32_t column, uint64_t now_ns);
/* What an earlier run found: never try this column. */
void decision_close(struct decision *decision, uint32_t column);
/* Whether the next call of decision_ended may begin a trial: `pages_ns` must be right then. */
static inline bool decision_may_try(const struct decision *d, uint64_t now_ns) {
    return d->stage == STAGE_WAITING && now_ns >= d->next_try_ns && d->steps.at + 1 >= d->steps.length;
}
/* An instance of a region has ended. */
void decision_ended(struct decision *decision, uint32_t region, uint64_t time_ns, uint64_t now_ns);
/* Something of the change to `wanted` and its `parts` has cost so much; `complete`: nothing of it is left to
 * do. */
void decision_changed(struct decision *decision, double cost_ns, bool complete);
/* The mapping that the program has, or, during a trial, that which it is compared with. */
uint32_t decision_column(const struct decision *decision);
/* The team of known_teams that a region has from its next instance on; 0: that of `wanted`. */
static inline uint32_t decision_team(const struct decision *d, uint32_t region) {
    return d->teams.regions && d->wanted == d->team_column ? team_trials_team(&d->teams, region) : 0;
}
/* Deciding has taken so long. */
static inline void decision_took(struct decision *d, double cost_ns) { d->spent_ns += cost_ns; }
/* The change cannot be made: go back, and never try it again. */
void decision_refused(struct decision *decision, uint64_t now_ns);

#endif
