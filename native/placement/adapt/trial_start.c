/* trial_start.c: what is tried next, and when it can be paid for. */
#include "adapt/trial_start.h"

#include "adapt/arithmetic.h"

#define LEAST_NOISE 0.01 /* of a step: three may agree without being so alike */
#define RISKS 2.0        /* an instance must be paid for that is so many times as risky as expected, */
#define SMALL_RISK 0.1
#define LEAST_RISK 0.5 /* or by so much longer */
#define PLAIN_STEPS 8  /* timed before pages move: what follows is compared with them for long */
#define TEAM_RISK                                                                                            \
    1.0 /* of a step: half of the threads may take twice as long, for an instance of each region */
#define TEAM_COST 0.5 /* and do so for half of the time */

/* The rest of the program is taken to be as long as what has passed. */
static double rest_of(const struct decision *d, uint64_t now_ns) { return (double)(now_ns - d->start_ns); }

/* Pages that follow touches cost a fault for each block, too: others may gain a little less for much less. */
static void count_costs(struct decision *d, uint64_t now_ns) {
    if (d->next_known && rest_of(d, now_ns) < 2 * d->costed_ns) /* choosing takes as long as many a region */
        return;
    d->costed_ns = rest_of(d, now_ns);
    d->next_known = false;
    for (uint32_t c = 0; c < d->known->columns; c++)
        d->trials.cost[c] = d->pages_ns[c] / (LN_2 * larger(rest_of(d, now_ns), 1));
}

/* The baseline is a trial again where the steps are others than those for which it was left. */
static struct next_trial following(struct decision *d) {
    if (d->patterns > 1 && d->home != 0 && d->trials.count == 1 && !d->closed[0] && !d->limits.crowded_only) {
        d->obvious = false;
        return (struct next_trial){0, 1, 0.2, 0.2};
    }
    if (d->next_known)
        return d->next;
    d->next_known = true;
    d->obvious = false;
    d->next.column = -1;
    if (d->crowded && d->home == 0 &&
        d->trials.count == 1) { /* for what is known of it, moving them is no risk */
        bool out[MOST_COLUMNS];
        for (uint32_t c = 0; c < MOST_COLUMNS; c++)
            out[c] = d->closed[c] || !d->spreads[c];
        d->next = next_trial(d->known, &d->trials, d->wanted, out);
        d->next.excess = 0;
        d->next.risk = SMALL_RISK / RISKS;
        d->obvious = d->next.column >= 0;
    }
    if (d->next.column < 0 && !d->limits.crowded_only)
        d->next = next_trial(d->known, &d->trials, d->wanted, d->closed);
    return d->next;
}

/* Of the latest step: a trial can be cut after an instance at the earliest. */
static double longest_instance(const struct decision *d) {
    double longest = 0;
    for (uint32_t n = 0; n < d->steps.length; n++)
        longest = larger(longest, (double)d->steps.under_way[n]);
    return longest;
}

/* A kind of trial that can be begun, or else is left for later. */
struct offer {
    bool any;
    double gain, cost_ns, free_ns; /* cost: what must be left of `free_ns` */
    double least_ns; /* what the rest of the program must be worth, to gain more than that costs */
};

/* What all kinds of trials begin with. */
static void begin(struct decision *d, double step_ns, double noise, double left) {
    d->before = d->wanted;
    d->before_ns = step_ns;
    d->before_off = larger(noise, LEAST_NOISE);
    d->before_steps = d->steps.times < MOST_TIMES ? d->steps.times : MOST_TIMES;
    d->free_ns = left;
    d->moves_ns = d->back_ns = d->part_ns = d->trial_ns = d->whole_ns = d->unsure_ns = 0;
    d->by_region = d->sure = false;
    steps_expect(&d->steps, step_ns);
}

static struct offer offered_column(struct decision *d, double step_ns, uint64_t now_ns) {
    const struct next_trial next =
        d->trials.count == MOST_COLUMNS ? (struct next_trial){.column = -1} : following(d);
    if (next.column < 0 || next.expected_gain < LEAST_GAIN / 2)
        return (struct offer){.any = false};
    const double pages = d->pages_ns[next.column], part = pages / PARTS;
    const double cost = 2 * part + (1 + decision_steps_wanted(step_ns)) * step_ns * next.excess;
    const double risk = larger(RISKS * next.risk, d->obvious ? 0 : LEAST_RISK) * longest_instance(d);
    return (struct offer){.any = true,
                          .gain = next.expected_gain,
                          .cost_ns = larger(cost, 2 * part + risk),
                          .free_ns = decision_left(d, d->obvious ? SURE_PART : LOSS_PART, now_ns),
                          .least_ns = cost + pages};
}

static struct offer offered_teams(const struct decision *d, double step_ns, uint64_t now_ns) {
    const uint32_t team = d->limits.crowded_only ? 0 : team_trials_next(&d->teams, d->known_teams);
    return (struct offer){.any = team != 0,
                          .gain = d->known_teams->gain[team],
                          .cost_ns = TEAM_RISK * step_ns,
                          .free_ns = decision_left(d, LOSS_PART, now_ns),
                          .least_ns = TEAM_COST * step_ns};
}

static bool is_paid(const struct decision *d, struct offer offer, uint64_t now_ns) {
    const double rest = rest_of(d, now_ns) * (1 - exponential_2(-offer.gain));
    return offer.any && offer.cost_ns <= offer.free_ns && offer.least_ns <= rest;
}

bool decision_team_is_paid(const struct decision *d, uint64_t now_ns) {
    return is_paid(d, offered_teams(d, d->before_ns, now_ns), now_ns);
}

void decision_begin_trial(struct decision *d, uint64_t now_ns) {
    double noise; /* sorting takes as long as a small region: once */
    const double step_ns = steps_median(&d->steps, &noise);
    count_costs(d, now_ns);
    const struct offer column = offered_column(d, step_ns, now_ns);
    const struct offer teams = offered_teams(d, step_ns, now_ns);
    if (!column.any && !teams.any) {
        d->stage = STAGE_SETTLED;
        return;
    }
    const bool by_region =
        teams.any && (!column.any || teams.gain * column.cost_ns > column.gain * teams.cost_ns);
    const struct offer first = by_region ? teams : column;
    if (!is_paid(d, first, now_ns)) {
        /* Nothing is saved meanwhile but by a mapping that was kept. */
        const double rate = d->limits.share * (d->gain > 0 ? 1 : d->obvious ? SURE_PART : LOSS_PART);
        const double wait_ns = (first.cost_ns - first.free_ns) / rate;
        if (wait_ns > 0)
            d->next_try_ns += (uint64_t)larger(wait_ns - (double)(d->next_try_ns - now_ns), 0);
        return;
    }
    const uint32_t wanted = by_region ? 0 : (uint32_t)following(d).column;
    if (!by_region && d->pages_ns[wanted] > 0 && !d->obvious && d->steps.times < PLAIN_STEPS) {
        d->next_try_ns = now_ns;
        return;
    }
    begin(d, step_ns, noise, first.free_ns);
    if (by_region) {
        d->by_region = true;
        d->team_column = d->wanted;
        team_trials_begin(&d->teams, d->known_teams, team_trials_next(&d->teams, d->known_teams), true);
        decision_enter(d, STAGE_WARMING);
        return;
    }
    d->part_ns = d->back_ns = d->pages_ns[wanted] / PARTS;
    d->parts = d->part_ns > 0 ? 1 : PARTS;
    d->wanted = wanted;
    d->next_known = false;
    decision_enter(d, STAGE_CHANGING);
}
