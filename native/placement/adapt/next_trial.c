/* next_trial.c: the arithmetic of predictor/searching/next_run.py. */
#include "adapt/next_trial.h"

#include "adapt/arithmetic.h"

/* As in next_run.py. */
#define DEVIATION 0.35
#define UNLIKE 0.4

static double gain_of(const struct known_gains *known, uint32_t program, uint32_t column, uint32_t first) {
    const float *row = known->gain + (uint64_t)program * known->columns;
    return (double)row[column] - (double)row[first];
}

static double squared(const struct known_gains *known, const struct trials *trials, uint32_t program) {
    double sum = 0;
    for (uint32_t n = 0; n < trials->count; n++) {
        if (!__builtin_isfinite(trials->gain[n]))
            continue;
        double off = gain_of(known, program, trials->column[n], trials->column[0]) - trials->gain[n];
        if (trials->ended[n] && off < 0)
            off = 0;
        sum += off * off;
    }
    return sum / (DEVIATION * DEVIATION);
}

static double best_so_far(const struct known_gains *known, const struct trials *trials, uint32_t program) {
    double best = -INFINITE;
    for (uint32_t n = 0; n < trials->count; n++)
        best = larger(best, gain_of(known, program, trials->column[n], trials->column[0]));
    return best;
}

struct next_trial next_trial(const struct known_gains *known, const struct trials *trials, uint32_t current,
                             const bool closed[MOST_COLUMNS]) {
    static double weight[MOST_PROGRAMS]; /* too large for a stack */
    double nearest = INFINITE, likely = 0, expected[MOST_COLUMNS] = {0};
    for (uint32_t k = 0; k < known->programs; k++) {
        weight[k] = squared(known, trials, k);
        nearest = smaller(nearest, weight[k]);
    }
    for (uint32_t k = 0; k < known->programs; k++) {
        weight[k] = known->weight[k] * exponential(-(weight[k] - nearest) / 2);
        likely += weight[k];
    }
    for (uint32_t k = 0; k < known->programs; k++) {
        weight[k] = (1 - UNLIKE) * weight[k] / likely + UNLIKE * known->weight[k];
        const double best = best_so_far(known, trials, k);
        for (uint32_t c = 0; c < known->columns; c++) {
            const double more = gain_of(known, k, c, trials->column[0]) - best;
            expected[c] += more > 0 ? weight[k] * more : 0;
        }
    }
    struct next_trial found = {.column = -1, .expected_gain = -1};
    double most = -INFINITE;
    for (uint32_t c = 0; c < known->columns; c++) {
        bool out = closed[c];
        for (uint32_t n = 0; n < trials->count; n++)
            out = out || trials->column[n] == c;
        if (!out && expected[c] - trials->cost[c] > most) {
            most = expected[c] - trials->cost[c];
            found = (struct next_trial){.column = (int)c, .expected_gain = expected[c]};
        }
    }
    for (uint32_t k = 0; k < known->programs && found.column >= 0; k++) {
        const double longer =
            larger(exponential_2(-gain_of(known, k, (uint32_t)found.column, current)) - 1, 0);
        found.excess += weight[k] * longer;
        found.risk += weight[k] * longer * longer;
    }
    found.risk = root(found.risk);
    return found;
}
