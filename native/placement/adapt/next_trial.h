/* next_trial.h: which mapping to try next, by what known programs gained: the rule of
 * predictor/searching/next_run.py.
 *
 * Contract. A column is a mapping of the table. Gains are log2 of a time over another. Pure arithmetic in
 * double, by one thread at a time: no allocation, no I/O, no state. tests/unit/native/placement/adapt
 * compares the choices with Python's.
 */
#ifndef NUMAPLACE_NEXT_TRIAL_H
#define NUMAPLACE_NEXT_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#define MOST_COLUMNS 32
#define MOST_PROGRAMS 1024

/* What known programs gained over column 0; `weight` is how much each counts before the first trial, 1 in
 * all. */
struct known_gains {
    uint32_t programs, columns;
    const float *gain; /* [programs][columns] */
    const float *weight;
};

/* The trials so far, of which the first is where all gains are counted from. Of an `ended` one the gain is at
 * most this; a gain that is not a number tells nothing. */
struct trials {
    uint32_t count;
    uint32_t column[MOST_COLUMNS];
    double gain[MOST_COLUMNS];
    bool ended[MOST_COLUMNS];
    double cost[MOST_COLUMNS]; /* of changing to each column, as a gain that only pays for it */
};

struct next_trial {
    int column;           /* -1: none is left */
    double expected_gain; /* over the best so far */
    double excess; /* expected of its time over that of `current`, in shares of the latter; 0 where it is no
                      longer */
    double risk;   /* root of the mean square of the same */
};

/* Return the trial that should add most beyond its cost. `closed`: columns that cannot be tried. */
struct next_trial next_trial(const struct known_gains *known, const struct trials *trials, uint32_t current,
                             const bool closed[MOST_COLUMNS]);

#endif
