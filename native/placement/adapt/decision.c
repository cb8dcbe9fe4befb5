/* decision.c: the state machine of decision.h. */
#include "adapt/decision.h"

#include "adapt/arithmetic.h"

#include <string.h>

#define LEAST_STEPS 3
#define TIMED_NS 2e6     /* steps are timed for so long in all, */
#define MOST_STEPS 32    /* or so many of them */
#define LEAST_NOISE 0.01 /* of a step: three may agree without being so alike */
#define NOISES 2.0       /* a gain must exceed so many deviations, */
#define SURE 4.0         /* and so many where its way back need not be paid for */
#define GREAT_LOSS 0.1   /* in log2: for more, pages move back at any price */
#define CLEARLY 1.5      /* a step that takes so many times as long as before needs no second one */
#define RISKS 2.0        /* an instance must be paid for that is so many times as risky as expected, */
#define LOOKS 25         /* in the waiting time between looks the time so far grows by this part */
#define SMALL_RISK 0.1
#define LONGER 0.05    /* by so much of its time a step may be longer without being slower, */
#define FAR_LONGER 1.0 /* and by so much one in which pages move, */
#define FARTHEST 3.0   /* or crowded ones */
#define LEAST_RISK 0.5 /* or by so much longer */

static uint32_t steps_wanted(double step_ns) {
    const double count = rounded_up(TIMED_NS / larger(step_ns, 1));
    return count < LEAST_STEPS ? LEAST_STEPS : count > MOST_STEPS ? MOST_STEPS : (uint32_t)count;
}

static void enter(struct decision *d, enum stage stage) {
    d->stage = stage;
    d->behind_ns = 0;
    steps_again(&d->steps);
}

void decision_begin(struct decision *d, const struct known_gains *known, struct limits limits,
                    uint32_t column, uint64_t now_ns) {
    memset(d, 0, sizeof *d);
    d->known = known;
    d->limits = limits;
    d->start_ns = now_ns;
    d->wanted = d->home = d->before = column;
    d->parts = PARTS;
    d->trials.count = 1;
    d->trials.column[0] = column;
    d->closed[0] = column != 0; /* that it was left once was for a gain */
}

void decision_close(struct decision *d, uint32_t column) { d->closed[column] = true; }

/* What trials may still cost, if they may have lost this part of the share. */
static double left_of(const struct decision *d, double loss_part, uint64_t now_ns) {
    const double share = d->limits.share * (double)(now_ns - d->start_ns);
    return smaller(share, loss_part * share + d->saved_ns) - d->spent_ns;
}

static double budget_left(const struct decision *d, uint64_t now_ns) { return left_of(d, LOSS_PART, now_ns); }

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

static void begin_trial(struct decision *d, uint64_t now_ns) {
    if (d->trials.count == MOST_COLUMNS) {
        d->stage = STAGE_SETTLED;
        return;
    }
    const struct next_trial next = following(d);
    if (next.column < 0 || next.expected_gain < LEAST_GAIN / 2) {
        d->stage = STAGE_SETTLED;
        return;
    }
    const uint32_t column = (uint32_t)next.column;
    double noise;
    const double step_ns = steps_median(&d->steps, &noise);
    const double left = left_of(d, d->obvious ? SURE_PART : LOSS_PART, now_ns);
    const double pages = d->pages_ns[column], part = pages / PARTS;
    const double cost = 2 * part + (1 + steps_wanted(step_ns)) * step_ns * next.excess;
    const double rest = (double)(now_ns - d->start_ns) * (1 - exponential_2(-next.expected_gain));
    const double risk = larger(RISKS * next.risk, d->obvious ? 0 : LEAST_RISK) * longest_instance(d);
    if (cost > left || 2 * part + risk > left || cost + pages > rest)
        return;
    d->parts = pages > 0 ? 1 : PARTS;
    d->part_ns = part;
    d->before = d->wanted;
    d->wanted = column;
    d->before_ns = step_ns;
    d->before_off = larger(noise, LEAST_NOISE);
    d->before_steps = d->steps.times < MOST_TIMES ? d->steps.times : MOST_TIMES;
    if (d->first_ns == 0)
        d->first_ns = step_ns;
    d->free_ns = left;
    d->back_ns = part;
    d->trial_ns = d->whole_ns = d->unsure_ns = 0;
    d->next_known = d->sure = false;
    steps_expect(&d->steps, step_ns);
    enter(d, STAGE_CHANGING);
}

static void book(struct decision *d) {
    if (d->trial_ns > 0)
        d->spent_ns += d->trial_ns;
    else
        d->saved_ns -= d->trial_ns;
    d->whole_ns += d->trial_ns;
    d->trial_ns = 0;
}

static void note(struct decision *d, enum outcome outcome, double gain, uint64_t now_ns) {
    d->last = (struct tried){.column = d->wanted,
                             .before = d->before,
                             .outcome = outcome,
                             .gain = gain,
                             .cost_ns = d->whole_ns + d->trial_ns,
                             .at_ns = now_ns - d->start_ns,
                             .steps = d->steps.times};
    d->tried++;
    book(d);
}

static void tell(struct decision *d, double gain, bool ended) {
    struct trials *t = &d->trials;
    t->column[t->count] = d->wanted;
    t->gain[t->count] = d->gain + gain;
    t->ended[t->count++] = ended;
    d->closed[d->wanted] = true;
}

static void go_back(struct decision *d) {
    d->wanted = d->before;
    d->parts = PARTS;
    enter(d, STAGE_RETURNING);
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
    for (uint32_t n = 0; n < d->steps.at; n++)
        expected += (double)d->steps.expected[n];
    if (d->steps.times == 0 && d->steps.at > 0 && d->steps.step_ns > 0)
        gain = logarithm_2(expected / d->steps.step_ns);
    /* Pages that are together on one node are worth a second trial, where not one step was timed and what was
     * seen is no clear loss: an interruption looks like that. */
    if (d->obvious && d->steps.times == 0 && gain > -logarithm_2(CLEARLY) && !d->interrupted[d->wanted]++) {
        note(d, OUTCOME_INTERRUPTED, 0, now_ns);
    } else {
        note(d, OUTCOME_CUT, smaller(gain, 0), now_ns);
        tell(d, smaller(gain, 0), true);
    }
    go_back(d);
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
    /* A loss that is clear, or is paid for already; or no gain, and the way back can be paid for. */
    if (gain < -NOISES * noise || (gain < -GREAT_LOSS && left < 0) ||
        (gain < noise && d->steps.times >= MOST_TIMES && back_ns < left)) {
        cut(d, now_ns);
        return;
    }
    d->sure = d->sure || gain > SURE * noise;
    d->back_ns = d->sure ? 0 : back_ns + d->part_ns;
    d->free_ns = d->sure ? left_of(d, SURE_PART, now_ns) : left;
    /* The first part may be too small a gain to be seen. */
    if (d->part_ns + d->back_ns > d->free_ns || (!d->sure && d->parts > 1 && gain < noise))
        return;
    const double parts = d->sure && d->part_ns > 0 ? rounded_down(d->free_ns / d->part_ns) : 1;
    d->unsure_ns = 0;
    d->parts += (uint32_t)smaller(parts, PARTS - d->parts);
    enter(d, STAGE_CHANGING);
}

static void judge(struct decision *d, uint64_t now_ns) {
    double noise;
    const double gain = gain_so_far(d, &noise);
    const bool clear = without_sign(gain) > NOISES * noise;
    if (d->parts < PARTS && !(clear && gain < 0)) { /* a part may be too small a gain to be seen */
        d->stage = STAGE_PARTLY;
        book(d);
        move_on(d, now_ns);
        return;
    }
    if (!clear && d->steps.times < MOST_TIMES)
        return; /* more steps tell */
    if ((gain > LEAST_GAIN && clear) || is_harmless(d, gain, noise)) {
        note(d, OUTCOME_KEPT, gain, now_ns);
        tell(d, gain, false);
        d->gain += gain;
        enter(d, STAGE_WATCHING);
        return;
    }
    note(d, OUTCOME_NO_GAIN, gain, now_ns);
    tell(d, gain, false);
    go_back(d);
}

static void watch(struct decision *d, uint64_t now_ns) {
    double noise;
    const double gain = gain_so_far(d, &noise), back_ns = PARTS * d->part_ns;
    struct trials *t = &d->trials;
    if (gain < LEAST_GAIN / 2 && gain > -GREAT_LOSS && back_ns > budget_left(d, now_ns)) {
        enter(d, STAGE_WATCHING); /* until the way back can be paid for, or is not needed */
        return;
    }
    d->gain -= d->last.gain;
    t->gain[t->count - 1] = d->gain + gain;
    if (gain < LEAST_GAIN / 2 && !is_harmless(d, gain, noise)) {
        note(d, OUTCOME_GONE_BACK, gain, now_ns);
        go_back(d);
        return;
    }
    d->gain += gain;
    d->last.gain = gain;
    d->stage = STAGE_WAITING;
}

static void step_ended(struct decision *d, uint64_t now_ns) {
    double off;
    if (d->stage == STAGE_SETTLED || (d->stage == STAGE_WAITING && !decision_may_try(d, now_ns)))
        return;
    const uint32_t wanted = steps_wanted(steps_median(&d->steps, &off));
    switch (d->stage) {
    case STAGE_LEARNING:
        if (d->steps.times > wanted) /* the first may be the one that finds its data */
            d->stage = STAGE_WAITING;
        break;
    case STAGE_WAITING:
        d->next_try_ns = now_ns + (now_ns - d->start_ns) / LOOKS;
        if (steps_are_steady(&d->steps))
            begin_trial(d, now_ns);
        break;
    case STAGE_WARMING:
        enter(d, STAGE_TIMING);
        break;
    case STAGE_TIMING:
        if (d->steps.times >= wanted)
            judge(d, now_ns);
        else if (d->steps.latest[(d->steps.times - 1) % MOST_TIMES] > CLEARLY * d->before_ns)
            cut(d, now_ns);
        break;
    case STAGE_PARTLY:
        book(d);
        move_on(d, now_ns);
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
           d->stage == STAGE_PARTLY;
}

uint32_t decision_column(const struct decision *d) { return is_trying(d) ? d->before : d->wanted; }

static void lose_pattern(struct decision *d, uint64_t now_ns) {
    if (is_trying(d) || d->stage == STAGE_WATCHING) {
        if (d->stage != STAGE_WATCHING) {
            note(d, OUTCOME_INTERRUPTED, 0, now_ns);
            if (++d->interrupted[d->wanted] > 1)
                d->closed[d->wanted] = true;
            d->wanted = d->before;
            d->parts = PARTS;
        }
    }
    d->home = d->before = d->wanted;
    d->trials = (struct trials){.count = 1, .column = {d->wanted}};
    d->gain = 0;
    d->first_ns = 0;
    d->next_known = false;
    d->closed[0] = d->home == 0;
    d->stage = STAGE_LEARNING;
    d->next_look = 0;
}

static void look_for_steps(struct decision *d, uint64_t now_ns) {
    if (now_ns - d->start_ns < d->limits.quiet_ns || d->steps.seen < d->next_look)
        return;
    d->next_look = 2 * d->steps.seen;
    if (steps_find(&d->steps) && ++d->patterns > MOST_PATTERNS)
        d->stage = STAGE_SETTLED;
}

void decision_ended(struct decision *d, uint32_t region, uint64_t time_ns, uint64_t now_ns) {
    if (d->stage == STAGE_SETTLED && d->patterns > MOST_PATTERNS)
        return;
    double expected_ns;
    const enum step_event event = steps_add(&d->steps, region, (double)time_ns, &expected_ns);
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
        const double most = !moves ? LONGER : d->obvious ? FARTHEST : FAR_LONGER;
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
    d->behind_ns = 0;
    if (d->gain > 0 && !is_trying(d)) {
        const double step_ns = d->steps.latest[(d->steps.times - 1) % MOST_TIMES];
        d->saved_ns += step_ns * (exponential_2(d->gain) - 1);
    }
    step_ended(d, now_ns);
}

void decision_changed(struct decision *d, double cost_ns, bool complete) {
    if (d->stage == STAGE_CHANGING) {
        d->trial_ns += cost_ns;
        if (complete)
            enter(d, d->parts == 1 || d->parts == PARTS ? STAGE_WARMING : STAGE_PARTLY);
    } else {
        d->spent_ns += cost_ns;
        if (complete && d->stage == STAGE_RETURNING)
            enter(d, STAGE_LEARNING);
    }
}

void decision_refused(struct decision *d, uint64_t now_ns) {
    note(d, OUTCOME_INTERRUPTED, 0, now_ns);
    d->closed[d->wanted] = true;
    go_back(d);
}
