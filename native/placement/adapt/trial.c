/* trial.c: the steps that all kinds of trials share. */
#include "adapt/trial.h"

#include "adapt/arithmetic.h"

#define MOST_STEPS 32 /* so many are timed at most */

uint32_t decision_steps_wanted(double step_ns) {
    const double count = rounded_up(TIMED_NS / larger(step_ns, 1));
    return count < LEAST_STEPS ? LEAST_STEPS : count > MOST_STEPS ? MOST_STEPS : (uint32_t)count;
}

void decision_enter(struct decision *d, enum stage stage) {
    d->stage = stage;
    d->behind_ns = 0;
    steps_again(&d->steps);
    team_trials_again(&d->teams);
}

double decision_left(const struct decision *d, double loss_part, uint64_t now_ns) {
    const double share = d->limits.share * (double)(now_ns - d->start_ns);
    return smaller(share, loss_part * share + d->saved_ns) - d->spent_ns;
}

void decision_book(struct decision *d) {
    if (d->trial_ns > 0)
        d->spent_ns += d->trial_ns;
    else
        d->saved_ns -= d->trial_ns;
    d->whole_ns += d->trial_ns;
    d->trial_ns = 0;
}

void decision_note(struct decision *d, enum outcome outcome, double gain, uint64_t now_ns) {
    d->last = (struct tried){.column = d->wanted,
                             .before = d->before,
                             .outcome = outcome,
                             .gain = gain,
                             .cost_ns = d->whole_ns + d->trial_ns,
                             .at_ns = now_ns - d->start_ns,
                             .steps = d->steps.times,
                             .turns = d->turns.count,
                             .teams = d->by_region};
    d->turns.count = 0;
    d->tried++;
    decision_book(d);
}

void decision_tell(struct decision *d, double gain, bool ended) {
    struct trials *t = &d->trials;
    t->column[t->count] = d->wanted;
    t->gain[t->count] = d->gain + gain;
    t->ended[t->count++] = ended;
    d->closed[d->wanted] = true;
}

void decision_go_back(struct decision *d) {
    d->wanted = d->before;
    d->parts = PARTS;
    decision_enter(d, STAGE_RETURNING);
}
