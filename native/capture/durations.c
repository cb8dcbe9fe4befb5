/* durations.c: see durations.h. */
#include "durations.h"

#include <string.h>

#define SHORTEST_BITS 15 /* 33 us: all shorter ones are of class 0 */
#define FEW 7u           /* three of the main class in a row: the next one probably is, too */

enum { UNKNOWN, OTHER, MAIN };

static unsigned class_of(uint64_t ns) {
    const uint64_t units = ns >> SHORTEST_BITS;
    const unsigned class = units ? 64u - (unsigned)__builtin_clzll(units) : 0;
    return class < DURATION_CLASSES ? class : DURATION_CLASSES - 1;
}

bool durations_alike(unsigned one, unsigned other) { return one <= other + 1 && other <= one + 1; }

void durations_add(struct durations *d, uint64_t ns) {
    const unsigned class = class_of(ns), before = durations_main(d);
    if (d->count == 1) { /* the first one fetches memory and starts the team */
        d->class[before].count = d->class[before].total_ns = 0;
    }
    d->class[class].count++;
    d->class[class].total_ns += ns;
    d->count++;
    d->total_ns += ns;
    if (!durations_alike(durations_main(d), before)) {
        d->history = 0;
        memset(d->after, UNKNOWN, sizeof d->after);
    }
    const bool is_main = durations_alike(class, durations_main(d));
    d->after[d->history % DURATION_HISTORY] = is_main ? MAIN : OTHER;
    d->history = d->history << 1 | is_main;
}

void durations_skip(struct durations *d) { d->history = d->history << 1 | durations_main_is_next(d); }

unsigned durations_main(const struct durations *d) {
    unsigned most = 0;
    for (unsigned class = 1; class < DURATION_CLASSES; class ++)
        if (d->class[class].total_ns > d->class[most].total_ns)
            most = class;
    return most;
}

bool durations_main_is_next(const struct durations *d) {
    const uint8_t came = d->after[d->history % DURATION_HISTORY];
    return came == UNKNOWN ? (d->history & FEW) == FEW : came == MAIN;
}

bool durations_vary(const struct durations *d) {
    const unsigned most = durations_main(d);
    uint64_t alike_ns = 0, all_ns = 0;
    for (unsigned class = 0; class < DURATION_CLASSES; class ++) {
        all_ns += d->class[class].total_ns;
        alike_ns += durations_alike(class, most) ? d->class[class].total_ns : 0;
    }
    return alike_ns < all_ns - all_ns / 8;
}

uint64_t durations_mean_ns(const struct durations *d, unsigned class) {
    return d->class[class].count ? d->class[class].total_ns / d->class[class].count : 0;
}
