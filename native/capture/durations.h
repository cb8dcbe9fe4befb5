/* durations.h: how long a region's instances take, in classes by powers of two, and whether the next one is
 * of the class that is wanted: of those that were not replayed yet, the one on which most time is spent.
 *
 * A region may be called with much and with little to do, as on a multigrid's levels. Whether a long instance
 * comes next is what came after the same sequence before, twice in a row, as a processor predicts branches
 * (two-level prediction; Yeh and Patt, MICRO 1991). What took long because a busy computer interrupted it
 * follows no sequence. Pure.
 */
#ifndef NUMACAPTURE_DURATIONS_H
#define NUMACAPTURE_DURATIONS_H

#include <stdbool.h>
#include <stdint.h>

#define DURATION_CLASSES 20
#define DURATION_HISTORY 1024 /* sequences of ten */

struct duration_class {
    uint64_t count, total_ns;
};

struct durations {
    uint64_t count, total_ns;
    struct duration_class class[DURATION_CLASSES]; /* without the first instance, once there are others */
    uint32_t replayed;                             /* a bit a class */
    uint32_t history; /* a bit an instance: whether it was of the wanted class, or next to it */
    uint8_t after[DURATION_HISTORY];
};

/* An instance has ended. */
void durations_add(struct durations *d, uint64_t ns);
/* One has ended whose time says nothing: it counts as what was expected. */
void durations_skip(struct durations *d);
/* The class that is wanted; DURATION_CLASSES where there is none. */
unsigned durations_wanted(const struct durations *d);
/* Whether the next instance is of that class, or next to it. */
bool durations_wanted_is_next(const struct durations *d);
/* The wanted class has been replayed: another one is wanted from now on. */
void durations_replayed(struct durations *d);
/* Whether over an eighth of the time is spent on others than the class with most, and those next to it. */
bool durations_vary(const struct durations *d);
/* The mean of a class in nanoseconds, 0 where it has none. */
uint64_t durations_mean_ns(const struct durations *d, unsigned class);
/* The time and the instances of a class and those next to it, without what goes with a replayed class. */
uint64_t durations_around_ns(const struct durations *d, unsigned class);
uint64_t durations_around(const struct durations *d, unsigned class);

#endif
