/* decision.c: the state machine of decision.h. */
#include "adapt/decision.h"

#include "adapt/arithmetic.h"
#include "adapt/trial_start.h"
#include "adapt/turns.h"

#include <string.h>

#define SURE_STEPS 9      /* before a small gain or loss is believed, where pages have moved */
#define HOPELESS_STEPS 24 /* in which parts of the pages were no gain */
#define SURE 4.0          /* deviations: what gains more need not pay for its way back */
#define GREAT_LOSS 0.1    /* in log2: for more, pages move back at any price */
#define GREAT_GAIN 0.2    /* in log2: three steps are enough to be sure of it */
#define CLEARLY 1.5       /* a step that takes so many times as long as before needs no second one */
#define LOOKS 10          /* in the waiting time between looks the time so far grows by this part */
#define LONGER 0.05       /* by so much of its time a step may be longer without being slower, */
#define MOVED_LONGER 0.2  /* by so much one after which all pages would have to move back, */
#define FAR_LONGER 1.0    /* by so much one in which pages move, */
#define FARTHEST 3.0      /* or crowded ones */

void decision_begin(struct decision *d, const struct known_gains *known, const struct known_teams *teams,
                    struct limits limits, uint32_t column, uint64_t now_ns) {
    memset(d, 0, sizeof *d);
    d->known = known;
    d->known_teams = teams;
    d->limits = limits;
    d->start_ns = now_ns;
    d->wanted = d->home = d->before = d->team_column = column;
    d->parts = PARTS;
    d->trials.count = 1;
    d->trials.column[0] = column;
    d->closed[0] = column != 0; /* that it was left once was for a gain */
}

void decision_close(struct decision *d, uint32_t column) { d->closed[column] = true; }

static double budget_left(const struct decision *d, uint64_t now_ns) {
    return decision_left(d, LOSS_PART, now_ns);
}

/* The gain of the steps timed so far over those before, in log2, and the deviation of that. */
static double gain_so_far(const struct decision *d, double *noise) {
    double off;
    const double now = steps_median(&d->steps, &off);
    const uint32_t steps = d->steps.times < MOST_TIMES ? d->steps.times : MOST_TIMES;
    *noise = 0;
    if (now <= 0)
        return 0;
    /* The deviation of a median is 1.25 times a mean's. */
    off = larger(off, d->before_off);
    *noise = 1.25 * root(d->before_off * d->before_off / d->before_steps + off * off / steps) / LN_2;
    return logarithm_2(d->before_ns / now);
}

/* By the steps that were begun: the gain is at most this. */
static void cut(struct decision *d, uint64_t now_ns) {
    double noise, gain = gain_so_far(d, &noise), expected = 0;
    if (d->stage == STAGE_TURNS) {
        decision_cut_turns(d, now_ns);
        return;
    }
    if (d->by_region) {
        if (!d->sure && d->stage == STAGE_WARMING && team_trials_drop(&d->teams)) {
            d->sure = true; /* what has cost so much ends; that is no reason to leave what may gain */
            d->free_ns += d->trial_ns;
            return;
        }
        decision_judge_teams(d, now_ns);
        return;
    }
    for (uint32_t n = 0; n < d->steps.at; n++)
        expected += (double)d->steps.expected[n];
    if (d->steps.times == 0 && d->steps.at > 0 && d->steps.step_ns > 0)
        gain = logarithm_2(expected / d->steps.step_ns);
    /* Pages that are together on one node are worth a second trial, where not one step was timed and what was
     * seen is no clear loss: an interruption looks like that. */
    if (d->obvious && d->steps.times == 0 && gain > -logarithm_2(CLEARLY) && !d->interrupted[d->wanted]++) {
        decision_note(d, OUTCOME_INTERRUPTED, 0, now_ns);
    } else {
        decision_note(d, OUTCOME_CUT, smaller(gain, 0), now_ns);
        decision_tell(d, smaller(gain, 0), true);
    }
    decision_go_back(d);
}

/* All pages have moved, and to move them back would cost more than to leave them there. */
static bool is_harmless(const struct decision *d, double gain, double noise) {
    return d->part_ns > 0 && gain > -LEAST_GAIN && gain > -NOISES * noise;
}

/* The next parts of the pages, if they can be paid for; before it is sure that they gain, one, with the way
 * back. */
static void move_on(struct decision *d, uint64_t now_ns) {
    double noise;
    const double gain = gain_so_far(d, &noise);
    const double left = budget_left(d, now_ns), back_ns = d->part_ns * d->parts;
    if (d->steps.times < LEAST_STEPS)
        return;
    /* A loss that is clear, or is paid for already, or has cost as much as the way back; or no gain, and the
     * way back can be paid for. */
    const double lost_ns = d->steps.times * d->before_ns * (exponential_2(-gain) - 1);
    if ((d->steps.times >= SURE_STEPS && (gain < -NOISES * noise || lost_ns > back_ns)) ||
        (gain < -GREAT_LOSS && left < 0) ||
        (gain < noise && d->steps.times >= HOPELESS_STEPS && back_ns < left)) {
        cut(d, now_ns);
        return;
    }
    d->sure =
        d->sure || (gain > SURE * noise && (d->obvious || gain > GREAT_GAIN || d->steps.times >= SURE_STEPS));
    d->back_ns = d->sure ? 0 : back_ns + d->part_ns;
    d->free_ns = d->sure ? decision_left(d, SURE_PART, now_ns) : left;
    /* The first part may be too small a gain to be seen. */
    if (d->part_ns + d->back_ns > d->free_ns || (!d->sure && d->parts > 1 && gain < noise))
        return;
    const double parts = d->sure && d->part_ns > 0 ? rounded_down(d->free_ns / d->part_ns) : 1;
    d->unsure_ns = 0;
    d->parts += (uint32_t)smaller(parts, PARTS - d->parts);
    decision_enter(d, STAGE_CHANGING);
}

static void judge(struct decision *d, uint64_t now_ns) {
    double noise;
    const double gain = gain_so_far(d, &noise);
    const bool clear = without_sign(gain) > NOISES * noise;
    if (d->parts < PARTS && !(clear && gain < -GREAT_LOSS)) { /* a part may be too small a gain to be seen */
        d->stage = STAGE_PARTLY;
        decision_book(d);
        move_on(d, now_ns);
        return;
    }
    if (!clear && d->steps.times < MOST_TIMES)
        return; /* more steps tell */
    if (d->part_ns == 0 && gain > LEAST_GAIN && clear) {
        decision_begin_turns(d);
        return;
    }
    if ((gain > LEAST_GAIN && clear) || is_harmless(d, gain, noise)) {
        team_trials_reset(&d->teams);
        d->team_column = d->wanted;
        decision_note(d, OUTCOME_KEPT, gain, now_ns);
        decision_tell(d, gain, false);
        d->gain += gain;
        decision_enter(d, STAGE_WATCHING);
        return;
    }
    decision_note(d, OUTCOME_NO_GAIN, gain, now_ns);
    decision_tell(d, gain, false);
    decision_go_back(d);
}

static void watch(struct decision *d, uint64_t now_ns) {
    double noise;
    const double gain = gain_so_far(d, &noise), back_ns = PARTS * d->part_ns;
    struct trials *t = &d->trials;
    if (gain < LEAST_GAIN / 2 && gain > -GREAT_LOSS && back_ns > budget_left(d, now_ns)) {
        decision_enter(d, STAGE_WATCHING); /* until the way back can be paid for, or is not needed */
        return;
    }
    d->gain -= d->last.gain;
    t->gain[t->count - 1] = d->gain + gain;
    if (gain < LEAST_GAIN / 2 && !is_harmless(d, gain, noise)) {
        decision_note(d, OUTCOME_GONE_BACK, gain, now_ns);
        decision_go_back(d);
        d->team_column = d->wanted;
        return;
    }
    d->gain += gain;
    d->last.gain = gain;
    d->stage = STAGE_WAITING;
}

static void step_ended(struct decision *d, uint64_t now_ns) {
    double off;
    if (d->stage == STAGE_SETTLED || (d->stage == STAGE_WAITING && now_ns < d->next_try_ns))
        return;
    const uint32_t wanted = decision_steps_wanted(steps_median(&d->steps, &off));
    switch (d->stage) {
    case STAGE_LEARNING:
        if (d->steps.times == 1) /* it may be the one that finds its data */
            team_trials_learn(&d->teams, &d->steps);
        if (d->steps.times >= wanted)
            d->stage = STAGE_WAITING;
        break;
    case STAGE_WAITING:
        d->next_try_ns = now_ns + (now_ns - d->start_ns) / LOOKS;
        if (steps_are_steady(&d->steps))
            decision_begin_trial(d, now_ns);
        break;
    case STAGE_WARMING:
        decision_enter(d, STAGE_TIMING);
        break;
    case STAGE_TIMING:
        if (d->steps.times >= wanted && d->by_region)
            decision_judge_teams(d, now_ns);
        else if (d->steps.times >= wanted)
            judge(d, now_ns);
        else if (d->steps.latest[(d->steps.times - 1) % MOST_TIMES] > CLEARLY * d->before_ns)
            cut(d, now_ns);
        break;
    case STAGE_PARTLY:
        decision_book(d);
        move_on(d, now_ns);
        break;
    case STAGE_TURNS:
        decision_turn(d, now_ns);
        break;
    case STAGE_WATCHING:
        if (d->steps.times >= 2 * wanted)
            watch(d, now_ns);
        break;
    case STAGE_CHANGING:
    case STAGE_RETURNING:
    case STAGE_SETTLED:
        break;
    }
}

static bool is_trying(const struct decision *d) {
    return d->stage == STAGE_CHANGING || d->stage == STAGE_WARMING || d->stage == STAGE_TIMING ||
           d->stage == STAGE_PARTLY || d->stage == STAGE_TURNS;
}

uint32_t decision_column(const struct decision *d) { return is_trying(d) ? d->before : d->wanted; }

static void lose_pattern(struct decision *d, uint64_t now_ns) {
    if (is_trying(d) || d->stage == STAGE_WATCHING) {
        if (d->stage != STAGE_WATCHING) {
            decision_note(d, OUTCOME_INTERRUPTED, 0, now_ns);
            if (!d->by_region && ++d->interrupted[d->wanted] > 1)
                d->closed[d->wanted] = true;
            d->wanted = d->before;
            d->parts = PARTS;
        }
    }
    d->home = d->before = d->wanted;
    d->trials = (struct trials){.count = 1, .column = {d->wanted}};
    d->gain = 0;
    d->next_known = d->by_region = false;
    team_trials_keep(&d->teams, false);
    d->closed[0] = d->home == 0;
    d->stage = STAGE_LEARNING;
    d->next_look = 0;
}

static void look_for_steps(struct decision *d, uint64_t now_ns) {
    if (now_ns - d->start_ns < d->limits.quiet_ns || d->steps.seen < d->next_look)
        return;
    d->next_look = d->steps.seen + d->steps.seen / 4 + 1;
    if (!steps_find(&d->steps))
        return;
    if (++d->patterns > MOST_PATTERNS)
        d->stage = STAGE_SETTLED;
}

void decision_ended(struct decision *d, uint32_t region, uint64_t time_ns, uint64_t now_ns) {
    if (d->stage == STAGE_SETTLED && d->patterns > MOST_PATTERNS)
        return;
    double expected_ns;
    const enum step_event event = steps_add(&d->steps, region, (double)time_ns, &expected_ns);
    team_trials_add(&d->teams, region, (double)time_ns, expected_ns);
    if (event == STEP_LOST) {
        lose_pattern(d, now_ns);
        return;
    }
    if (d->steps.length == 0) {
        look_for_steps(d, now_ns);
        return;
    }
    if (is_trying(d)) {
        const double longer = (double)time_ns - expected_ns; /* and so may the next one be, */
        *(expected_ns > 0 ? &d->trial_ns : &d->unsure_ns) += longer;
        /* What moves have cost is paid: the way back would not return it. A step in which pages follow their
         * threads is longer by that, too. */
        const bool moves = d->part_ns > 0 && (d->stage == STAGE_CHANGING || d->stage == STAGE_WARMING);
        const bool moved = d->part_ns > 0 && d->parts == PARTS;
        const double most = moves ? (d->obvious ? FARTHEST : FAR_LONGER) : moved ? MOVED_LONGER : LONGER;
        d->behind_ns += longer;
        const bool slower = expected_ns <= 0 || d->behind_ns > most * d->before_ns;
        if (slower && d->stage != STAGE_PARTLY &&
            d->trial_ns + larger(longer, 0) + d->unsure_ns + d->back_ns > d->free_ns) {
            cut(d, now_ns);
            return;
        }
    }
    if (event != STEP_ENDED)
        return;
    team_trials_step(&d->teams);
    d->behind_ns = 0;
    if (d->gain > 0 && !is_trying(d)) {
        const double step_ns = d->steps.latest[(d->steps.times - 1) % MOST_TIMES];
        d->saved_ns += step_ns * (exponential_2(d->gain) - 1);
    }
    step_ended(d, now_ns);
}

/* The first part has moved: what it took beyond what was expected is paid, and so will the way back take. */
static void learn_part(struct decision *d) {
    const double over = larger(d->moves_ns - d->part_ns, 0);
    d->part_ns += over;
    d->back_ns += over;
    d->free_ns += 2 * over;
}

void decision_changed(struct decision *d, double cost_ns, bool complete) {
    if (d->stage == STAGE_CHANGING) {
        d->trial_ns += cost_ns;
        d->moves_ns += cost_ns;
        if (complete && d->parts == 1)
            learn_part(d);
        if (complete)
            decision_enter(d, d->parts == 1 || d->parts == PARTS ? STAGE_WARMING : STAGE_PARTLY);
    } else {
        d->spent_ns += cost_ns;
        if (complete && d->stage == STAGE_RETURNING)
            decision_enter(d, STAGE_LEARNING);
    }
}

void decision_refused(struct decision *d, uint64_t now_ns) {
    decision_note(d, OUTCOME_INTERRUPTED, 0, now_ns);
    d->closed[d->wanted] = true;
    decision_go_back(d);
}
