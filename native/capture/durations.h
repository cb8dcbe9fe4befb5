/* durations.h: how long a region's instances take, in classes by powers of two, and whether the next one is
 * of those on which most time is spent.
 *
 * A region may be called with much and with little to do, as on a multigrid's levels. Whether a long instance
 * comes next is what came after the same sequence before, as a processor predicts branches (two-level
 * prediction; Yeh and Patt, MICRO 1991). Pure.
 */
#ifndef NUMACAPTURE_DURATIONS_H
#define NUMACAPTURE_DURATIONS_H

#include <stdbool.h>
#include <stdint.h>

#define DURATION_CLASSES 20
#define DURATION_HISTORY 1024 /* sequences of ten */

struct durations {
    uint64_t count, total_ns;
    struct {
        uint64_t count, total_ns;
    } class[DURATION_CLASSES]; /* without the first instance, once there are others */
    uint32_t history;          /* a bit an instance: whether it was of the main class, or next to it */
    uint8_t after[DURATION_HISTORY];
};

/* An instance has ended. */
void durations_add(struct durations *d, uint64_t ns);
/* One has ended whose time says nothing: it counts as what was expected. */
void durations_skip(struct durations *d);
/* The class that takes most time; 0 where there is none. */
unsigned durations_main(const struct durations *d);
/* Whether the next instance is of that class, or next to it. */
bool durations_main_is_next(const struct durations *d);
/* Whether over an eighth of the time is spent on others than these. */
bool durations_vary(const struct durations *d);
/* The mean of a class in nanoseconds, 0 where it has none. */
uint64_t durations_mean_ns(const struct durations *d, unsigned class);
/* Whether classes are the same, or next to each other. */
bool durations_alike(unsigned one, unsigned other);

#endif
