/* turns.c: what is tried against what was before, in turns; and how trials of teams end. */
#include "adapt/turns.h"

#include "adapt/arithmetic.h"
#include "adapt/trial_start.h"

#define LEAST_TURNS 3
#define MOST_BLOCK 8      /* steps of a turn; their first is not timed */
#define LEAST_NOISE 0.015 /* of a pair, in log2 */

static uint32_t block(const struct decision *d) {
    const double steps = rounded_up(TIMED_NS / 4 / larger(d->before_ns, 1));
    return steps > MOST_BLOCK ? MOST_BLOCK : steps < 1 ? 1 : (uint32_t)steps;
}

/* Run the steps of the next turn. */
static void take_turn(struct decision *d, bool plain) {
    d->turns.plain = plain;
    d->wanted = plain ? d->before : d->turns.column;
    if (d->by_region)
        team_trials_show(&d->teams, !plain);
    decision_enter(d, STAGE_TURNS);
}

void decision_begin_turns(struct decision *d) {
    d->turns = (struct turns){.column = d->wanted};
    take_turn(d, true);
}

static void end_trial(struct decision *d, enum outcome outcome, double gain, uint64_t now_ns) {
    const bool teams = d->by_region, kept = outcome == OUTCOME_KEPT;
    if (d->stage == STAGE_TURNS)
        d->wanted = d->turns.column;
    decision_note(d, outcome, gain, now_ns);
    if (teams)
        team_trials_keep(&d->teams, kept);
    else
        decision_tell(d, gain, outcome == OUTCOME_CUT);
    d->by_region = false;
    if (kept) {
        d->gain += gain;
        if (!teams)
            team_trials_reset(&d->teams);
        d->team_column = d->wanted;
    }
    if (teams || kept)
        decision_enter(d, STAGE_LEARNING);
    else
        decision_go_back(d);
}

static double gain_of_turns(const struct turns *t, double *noise) {
    double spread;
    const double gain = steps_median_of(t->gain, t->count, &spread);
    *noise = 1.25 * larger(1.48 * spread, LEAST_NOISE) / root(t->count);
    return gain;
}

void decision_turn(struct decision *d, uint64_t now_ns) {
    struct turns *t = &d->turns;
    const uint32_t steps = block(d);
    if (d->steps.times <= steps)
        return;
    double sum = 0, noise;
    for (uint32_t n = 1; n <= steps; n++)
        sum += d->steps.latest[(d->steps.times - n) % MOST_TIMES];
    if (t->plain) {
        t->plain_ns = sum;
        take_turn(d, false);
        return;
    }
    t->gain[t->count++] = logarithm_2(t->plain_ns / sum);
    const double gain = gain_of_turns(t, &noise);
    if (t->count >= LEAST_TURNS && gain > LEAST_GAIN && gain > NOISES * noise)
        end_trial(d, OUTCOME_KEPT, gain, now_ns);
    else if (t->count == MOST_TURNS || (t->count >= LEAST_TURNS && gain + NOISES * noise < LEAST_GAIN))
        end_trial(d, OUTCOME_NO_GAIN, gain, now_ns);
    else
        take_turn(d, true);
}

void decision_cut_turns(struct decision *d, uint64_t now_ns) {
    double noise, gain = 0;
    if (d->turns.count)
        gain = gain_of_turns(&d->turns, &noise);
    end_trial(d, OUTCOME_CUT, smaller(gain, 0), now_ns);
}

void decision_judge_teams(struct decision *d, uint64_t now_ns) {
    team_trials_judge(&d->teams);
    decision_book(d);
    if (decision_team_is_paid(d, now_ns)) {
        const uint32_t team = team_trials_next(&d->teams, d->known_teams);
        d->free_ns = decision_left(d, LOSS_PART, now_ns);
        d->sure = false;
        team_trials_begin(&d->teams, d->known_teams, team, false);
        decision_enter(d, STAGE_WARMING);
    } else if (team_trials_found(&d->teams)) {
        decision_begin_turns(d);
    } else {
        end_trial(d, OUTCOME_NO_GAIN, 0, now_ns);
    }
}
