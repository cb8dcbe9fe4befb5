/* decisions.c: the state machine of native/placement/adapt, on programs whose times are exact.
 *
 * Compiled with sanitizers and run by tests/unit/native/placement/adapt/test_decision.py; aborts at the first
 * wrong answer. */
#include "adapt/decision.h"
#include "must.h"

#include <math.h>
#include <string.h>

#define MS 1000000ull
#define COLUMNS 3

/* Two known programs; the baseline, a mapping that helps most of them, and one that helps one of them a
 * little. */
static const float gain[] = {0, 1, 0.25f, 0, -1, 0.25f};
static const float weight[] = {0.75f, 0.25f};
static const struct known_gains known = {2, COLUMNS, gain, weight};
static const struct known_teams no_teams = {.count = 1};
static const struct limits limits = {1000 * MS, 0.05, false};
static struct decision d;
static uint64_t now;
static uint32_t has, changes, parts;

static void begin(uint32_t column) {
    now = has = changes = 0;
    parts = PARTS;
    decision_begin(&d, &known, &no_teams, limits, column, 0);
}

/* Change the mapping, where the decision says so; all pages move in so long a time. */
static void change(double pages_ms) {
    if (d.wanted != has || d.parts != parts) {
        const double cost = pages_ms * (double)MS / PARTS;
        changes += d.wanted != has;
        has = d.wanted;
        parts = d.parts;
        now += (uint64_t)cost;
        decision_changed(&d, cost, true);
    }
    for (uint32_t c = 0; c < COLUMNS; c++)
        d.pages_ns[c] = c != has ? pages_ms * (double)MS : 0;
}

static void end_instance(uint32_t region, double time_ms) {
    const uint64_t time = (uint64_t)(time_ms * (double)MS);
    now += time;
    decision_ended(&d, region, time, now);
}

/* Run a step of the regions' times, [column][regions], as the decision says. */
static void step(const double *time_ms, uint32_t regions, double pages_ms) {
    for (uint32_t r = 0; r < regions; r++) {
        change(pages_ms);
        end_instance(r, time_ms[has * regions + r]);
    }
}

static void nothing_is_tried_in_the_first_second(void) {
    const double time[COLUMNS] = {1, 0.5, 0.5};
    begin(0);
    while (now < 999 * MS)
        step(time, 1, 0);
    MUST(d.wanted == 0 && d.tried == 0 && d.stage == STAGE_LEARNING);
    for (int n = 0; n < 400 && d.tried == 0; n++)
        step(time, 1, 0);
    MUST(has == 1 && d.last.outcome == OUTCOME_KEPT);
}

static void a_gain_is_kept_and_its_size_is_right(void) {
    const double time[COLUMNS] = {1, 0.5, 1};
    begin(0);
    for (int n = 0; n < 3000; n++)
        step(time, 1, 0);
    MUST(has == 1 && fabs(d.gain - 1) < 1e-6);
    MUST(d.saved_ns > 0 && d.trials.count >= 2);
}

static void a_loss_is_left_within_the_budget_and_never_tried_again(void) {
    const double time[COLUMNS] = {1, 20, 20};
    begin(0);
    double most = 0;
    for (int n = 0; n < 20000; n++) {
        step(time, 1, 0);
        if (now > 1000 * MS)
            most = fmax(most, (double)now / (double)((uint64_t)(n + 1) * MS) - 1);
    }
    MUST(has == 0 && d.stage == STAGE_SETTLED);
    MUST(changes == 2 * d.tried && d.tried <= COLUMNS - 1);
    MUST(most < 0.04);
}

static void pages_that_are_no_gain_move_back_after_the_first_part(void) {
    const double time[COLUMNS] = {1, 2, 2};
    begin(0);
    for (int n = 0; n < 20000 && d.tried == 0; n++) {
        step(time, 1, 80);
        MUST(d.parts == 1 || d.parts == PARTS);
    }
    MUST(d.tried == 1 && d.last.outcome != OUTCOME_KEPT && d.wanted == 0);
    MUST(d.last.cost_ns < 0.03 * (double)now);
}

/* The second promises a little less, for much less. */
static void what_costs_much_less_is_tried_first(void) {
    static const float gains[] = {0, 1, 0.9f};
    static const float one[] = {1};
    static const struct known_gains both = {1, COLUMNS, gains, one};
    for (int dear = 0; dear < 2; dear++) {
        begin(0);
        decision_begin(&d, &both, &no_teams, limits, 0, 0);
        for (int n = 0; n < 40000 && d.wanted == 0; n++) {
            d.pages_ns[1] = dear ? 400.0 * (double)MS : 0;
            end_instance(0, 1);
        }
        MUST(d.wanted == (dear ? 2 : 1));
    }
}

/* Both help; the second alone puts pages on several nodes. */
static void crowded_pages_are_spread_first(void) {
    const double time[COLUMNS] = {1, 0.5, 0.8};
    for (int crowded = 0; crowded < 2; crowded++) {
        begin(0);
        d.crowded = crowded;
        d.spreads[2] = true;
        while (d.tried == 0 && d.stage != STAGE_SETTLED) {
            step(time, 1, 40);
            MUST(decision_column(&d) == 0 || d.tried);
        }
        MUST(d.last.outcome == OUTCOME_KEPT && d.last.column == (crowded ? 2 : 1));
    }
}

/* The first instance after the first pages have moved takes longer; the second time it does not, or does. */
static void crowded_pages_are_spread_after_an_interruption(void) {
    const double time[COLUMNS] = {10, 5, 8};
    for (int again = 0; again < 2; again++) {
        uint32_t slow = 0, timed = 0;
        begin(0);
        d.limits.crowded_only = d.crowded = true;
        d.spreads[2] = true;
        for (uint32_t n = 0; n < 40000 && d.stage != STAGE_SETTLED; n++) {
            const uint32_t r = n % 2;
            change(240);
            timed += r == 0 && d.stage == STAGE_TIMING && parts == 1 && d.steps.times == 0;
            const bool slower = r == 0 && d.stage == STAGE_TIMING && parts == 1 &&
                                slow < 1 + (uint32_t)again && slow + 1 == timed;
            slow += slower;
            end_instance(r, slower ? 14 : time[has]);
            if (d.tried == 1)
                MUST(d.last.outcome == OUTCOME_INTERRUPTED && !d.closed[2]);
        }
        MUST(slow == 1 + (uint32_t)again && d.tried == 2);
        MUST(d.last.outcome == (again ? OUTCOME_CUT : OUTCOME_KEPT) && d.wanted == (again ? 0 : 2));
    }
}

/* Others come in no order between instances of the region that takes most of the time. */
static void what_other_regions_take_is_no_loss_if_they_took_it_before(void) {
    const double time[COLUMNS] = {1, 0.5, 0.8};
    uint64_t seed = 1;
    begin(0);
    d.limits.crowded_only = d.crowded = true;
    d.spreads[2] = true;
    for (uint32_t n = 0; n < 40000 && d.tried == 0; n++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        const uint32_t region = seed >> 63 ? 7 : 8 + (uint32_t)(seed >> 50) % 5;
        change(240);
        end_instance(region, time[has] * (region == 7 ? 10 : 3));
    }
    MUST(d.steps.one_region && d.last.outcome == OUTCOME_KEPT && d.wanted == 2);
}

static void nothing_but_crowded_pages_is_touched_where_the_kernel_moves_pages(void) {
    const double time[COLUMNS] = {1, 0.5, 0.8};
    for (int crowded = 0; crowded < 2; crowded++) {
        begin(0);
        d.limits.crowded_only = true;
        d.crowded = crowded;
        d.spreads[2] = true;
        for (int n = 0; n < 20000 && d.stage != STAGE_SETTLED; n++)
            step(time, 1, 40);
        MUST(d.tried == (uint32_t)crowded && has == (crowded ? 2 : 0));
    }
}

static void moves_that_are_dearer_than_expected_are_no_reason_to_go_back(void) {
    const double time[COLUMNS] = {1, 0.5, 0.8};
    begin(0);
    while (d.tried == 0) {
        const uint32_t had = d.parts;
        step(time, 1, 40);
        if (d.parts != had && d.wanted == 1)
            decision_changed(&d, 20 * (double)MS, false);
        MUST(d.wanted == 1 || d.stage == STAGE_LEARNING || d.stage == STAGE_WAITING);
    }
    MUST(d.last.outcome == OUTCOME_KEPT && d.last.column == 1);
}

/* Looking for the next trial takes as long as many a region. */
static void looks_become_rarer_as_time_passes(void) {
    const double time[COLUMNS] = {1, 20, 20};
    begin(0);
    int looks = 0;
    for (int n = 0; n < 20000 && d.stage != STAGE_SETTLED; n++) {
        looks += decision_may_try(&d, now);
        step(time, 1, 0);
    }
    MUST(looks > 0 && looks < 200);
}

/* Levels of a multigrid: one region, instances of 8, 2, 1, 2 ms; under column 1 the large one alone is
 * faster. */
static void instances_of_several_sizes_are_compared_by_whole_steps(void) {
    const double time[COLUMNS * 4] = {8, 2, 1, 2, 4, 2, 1, 2, 8, 2, 1, 2};
    begin(0);
    for (uint64_t n = 0; n < 4 * 2000; n++) {
        if (d.wanted != has) {
            has = d.wanted;
            decision_changed(&d, 0, true);
        }
        const uint64_t ns = (uint64_t)(time[has * 4 + n % 4] * (double)MS);
        now += ns;
        decision_ended(&d, 7, ns, now);
    }
    MUST(d.steps.length == 4 && has == 1);
    MUST(fabs(d.gain - log2(13.0 / 9.0)) < 1e-6);
}

/* Three small ones begin the program, and the latest instance before the pattern is known is not the longest.
 */
static void a_step_begins_with_its_longest_instance(void) {
    const double time[5] = {2, 1, 2, 8, 3};
    begin(0);
    for (uint32_t n = 0; n < 3; n++)
        end_instance(50 + n, 1);
    for (uint32_t n = 0; d.steps.times == 0; n++) {
        MUST(n < 1000);
        end_instance(n % 5 ? 7 : 8, time[n % 5]);
    }
    MUST(d.steps.length == 5 && d.steps.under_way[0] == 8 * MS && d.steps.under_way[1] == 3 * MS);
    MUST(d.steps.pattern[2] == 8 && d.steps.latest[0] == 16 * MS);
}

static void a_gain_that_does_not_last_is_given_up_once(void) {
    const double good[COLUMNS] = {1, 0.5, 1}, bad[COLUMNS] = {1, 1.5, 1};
    begin(0);
    while (d.stage != STAGE_WATCHING)
        step(good, 1, 1);
    MUST(has == 1);
    for (int n = 0; n < 5000; n++)
        step(bad, 1, 1);
    MUST(has != 1 && d.closed[1]);
}

/* The first steps under the mapping are faster than before, as all later ones are: in turns it gains nothing.
 */
static void what_became_faster_by_itself_is_not_kept(void) {
    double time[COLUMNS] = {1, 1, 1};
    begin(0);
    while (d.stage != STAGE_CHANGING)
        step(time, 1, 0);
    time[0] = time[1] = time[2] = 0.5;
    for (int n = 0; n < 1000 && d.tried == 0; n++)
        step(time, 1, 0);
    MUST(d.last.outcome == OUTCOME_NO_GAIN && d.last.turns >= 3 && d.wanted == 0);
    MUST(fabs(d.last.gain) < 1e-6);
}

/* 8 threads of the program's, 4, 4 elsewhere, 2, 1. Of three regions one gains down to two threads, one
 * loses, one is too short to matter. */
static const struct known_teams teams = {5, {8, 4, 4, 2, 1}, {0, 0.1, 0.1, 0.1, 0.1}};
static const double team_ms[3][5] = {
    {4, 2.5, 2.6, 2, 3}, {6, 12, 12, 24, 48}, {0.01, 0.01, 0.01, 0.01, 0.01}};
static uint32_t instances[3][5];

static void team_steps(uint32_t steps) {
    for (uint32_t n = 0; n < 3 * steps; n++) {
        change(0);
        const uint32_t team = decision_team(&d, n % 3);
        instances[n % 3][team]++;
        end_instance(n % 3, team_ms[n % 3][team]);
    }
}

static void each_region_gets_the_team_that_is_best_for_it(void) {
    begin(0);
    d.known_teams = &teams;
    decision_close(&d, 1);
    decision_close(&d, 2);
    memset(instances, 0, sizeof instances);
    team_steps(3000);
    MUST(decision_team(&d, 0) == 3 && decision_team(&d, 1) == 0 && decision_team(&d, 2) == 0);
    MUST(d.last.teams && d.last.outcome == OUTCOME_KEPT && d.last.turns >= 3);
    MUST(fabs(d.gain - log2(10.01 / 8.01)) < 1e-6);
    /* What loses has each team for an instance, and none with a quarter of the threads. */
    MUST(instances[1][1] == 1 && instances[1][2] == 1 && instances[1][3] == 0 && instances[1][4] == 0);
    MUST(d.stage == STAGE_SETTLED);
}

/* The second region takes far longer with any other team than the trial may cost. */
static void a_region_that_loses_much_ends_no_trial_of_others(void) {
    const double ms[2][2] = {{4, 1}, {1, 90}};
    const struct known_teams half = {2, {2, 1}, {0, 0.1}};
    begin(0);
    d.known_teams = &half;
    decision_close(&d, 1);
    decision_close(&d, 2);
    uint32_t slow = 0;
    for (uint32_t n = 0; n < 2 * 2000; n++) {
        change(0);
        const uint32_t team = decision_team(&d, n % 2);
        slow += n % 2 && team;
        end_instance(n % 2, ms[n % 2][team]);
    }
    MUST(slow == 1 && decision_team(&d, 0) == 1 && decision_team(&d, 1) == 0);
}

static void what_others_ran_with_is_what_it_starts_with(void) {
    begin(0);
    d.known_teams = &teams;
    team_trials_set(&d.teams, 0, 3);
    decision_close(&d, 1);
    decision_close(&d, 2);
    memset(instances, 0, sizeof instances);
    team_steps(3000);
    MUST(instances[0][3] == 3000);
    MUST(instances[1][1] == 1 && decision_team(&d, 1) == 0);
}

static void regions_without_a_pattern_are_left_alone(void) {
    begin(0);
    uint64_t seed = 1;
    for (int n = 0; n < 20000; n++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        const uint64_t ns = ((seed >> 33) % 1000 + 1) * 10000;
        now += ns;
        decision_ended(&d, (uint32_t)(seed >> 40) % 50, ns, now);
        MUST(d.wanted == 0);
    }
    MUST(d.tried == 0);
}

static void other_steps_are_a_new_program(void) {
    const double one[COLUMNS * 2] = {1, 1, 0.5, 0.5, 1, 1};
    begin(0);
    for (int n = 0; n < 2000; n++)
        step(one, 2, 0);
    MUST(has == 1 && d.patterns == 1);
    for (int n = 0; n < 4000; n++) {
        if (d.wanted != has) {
            has = d.wanted;
            decision_changed(&d, 0, true);
        }
        const uint64_t ns = has == 1 ? 3 * MS : MS;
        now += ns;
        decision_ended(&d, 100 + (uint32_t)(n % 3), ns, now);
    }
    MUST(d.patterns == 2 && has == 0);
}

static void a_late_start_goes_on_from_its_mapping(void) {
    const double time[COLUMNS] = {1, 0.5, 1};
    begin(1);
    has = 1;
    decision_close(&d, 2);
    for (int n = 0; n < 4000; n++)
        step(time, 1, 0);
    MUST(has == 1 && d.tried == 0 && d.stage == STAGE_SETTLED);
}

int main(void) {
    nothing_is_tried_in_the_first_second();
    a_gain_is_kept_and_its_size_is_right();
    a_loss_is_left_within_the_budget_and_never_tried_again();
    pages_that_are_no_gain_move_back_after_the_first_part();
    what_costs_much_less_is_tried_first();
    crowded_pages_are_spread_first();
    crowded_pages_are_spread_after_an_interruption();
    what_other_regions_take_is_no_loss_if_they_took_it_before();
    nothing_but_crowded_pages_is_touched_where_the_kernel_moves_pages();
    moves_that_are_dearer_than_expected_are_no_reason_to_go_back();
    looks_become_rarer_as_time_passes();
    instances_of_several_sizes_are_compared_by_whole_steps();
    a_step_begins_with_its_longest_instance();
    a_gain_that_does_not_last_is_given_up_once();
    what_became_faster_by_itself_is_not_kept();
    each_region_gets_the_team_that_is_best_for_it();
    a_region_that_loses_much_ends_no_trial_of_others();
    what_others_ran_with_is_what_it_starts_with();
    regions_without_a_pattern_are_left_alone();
    other_steps_are_a_new_program();
    a_late_start_goes_on_from_its_mapping();
    return 0;
}
