/* durations.c: see durations.h. */
#include "durations.h"

#include <string.h>

#define SHORTEST_BITS 15 /* 33 us: all shorter ones are of class 0 */
#define FEW 7u           /* three of the wanted class in a row: the next one probably is, too */

enum { UNKNOWN, OTHER, WANTED_ONCE, WANTED };

static unsigned class_of(uint64_t ns) {
    const uint64_t units = ns >> SHORTEST_BITS;
    const unsigned class = units ? 64u - (unsigned)__builtin_clzll(units) : 0;
    return class < DURATION_CLASSES ? class : DURATION_CLASSES - 1;
}

static bool alike(unsigned one, unsigned other) { return one <= other + 1 && other <= one + 1; }

static bool is_replayed(const struct durations *d, unsigned class) {
    return (d->replayed << 1 >> class & FEW) != 0; /* it, or one next to it */
}

static void forget_order(struct durations *d) {
    d->history = 0;
    memset(d->after, UNKNOWN, sizeof d->after);
}

void durations_add(struct durations *d, uint64_t ns) {
    const unsigned class = class_of(ns), before = durations_wanted(d);
    if (d->count == 1) /* the first one fetches memory and starts the team */
        memset(d->class, 0, sizeof d->class);
    d->class[class].count++;
    d->class[class].total_ns += ns;
    d->count++;
    d->total_ns += ns;
    const unsigned wanted = durations_wanted(d);
    if (!alike(wanted, before))
        forget_order(d);
    const bool is_wanted = alike(class, wanted);
    uint8_t *came = &d->after[d->history % DURATION_HISTORY];
    *came = !is_wanted ? OTHER : *came == WANTED_ONCE ? WANTED : *came == WANTED ? WANTED : WANTED_ONCE;
    d->history = d->history << 1 | is_wanted;
}

void durations_skip(struct durations *d) { d->history = d->history << 1 | durations_wanted_is_next(d); }

static unsigned with_most(const struct durations *d, bool all) {
    unsigned most = DURATION_CLASSES;
    for (unsigned class = 0; class < DURATION_CLASSES; class ++)
        if (d->class[class].count && (all || !is_replayed(d, class)) &&
            (most == DURATION_CLASSES || d->class[class].total_ns > d->class[most].total_ns))
            most = class;
    return most;
}

unsigned durations_wanted(const struct durations *d) { return with_most(d, false); }

bool durations_wanted_is_next(const struct durations *d) {
    const uint8_t came = d->after[d->history % DURATION_HISTORY];
    return came == WANTED || (came != OTHER && (d->history & FEW) == FEW);
}

void durations_replayed(struct durations *d) {
    const unsigned class = durations_wanted(d);
    if (class < DURATION_CLASSES)
        d->replayed |= 1u << class;
    forget_order(d);
}

bool durations_vary(const struct durations *d) {
    const unsigned most = with_most(d, true);
    uint64_t alike_ns = 0, all_ns = 0;
    for (unsigned class = 0; class < DURATION_CLASSES; class ++) {
        all_ns += d->class[class].total_ns;
        alike_ns += alike(class, most) ? d->class[class].total_ns : 0;
    }
    return alike_ns < all_ns - all_ns / 8;
}

uint64_t durations_mean_ns(const struct durations *d, unsigned class) {
    return class < DURATION_CLASSES && d->class[class].count
               ? d->class[class].total_ns / d->class[class].count
               : 0;
}

uint64_t durations_around_ns(const struct durations *d, unsigned wanted) {
    uint64_t sum = 0;
    for (unsigned class = 0; class < DURATION_CLASSES; class ++)
        sum += alike(class, wanted) && !is_replayed(d, class) ? d->class[class].total_ns : 0;
    return sum;
}

uint64_t durations_around(const struct durations *d, unsigned wanted) {
    uint64_t sum = 0;
    for (unsigned class = 0; class < DURATION_CLASSES; class ++)
        sum += alike(class, wanted) && !is_replayed(d, class) ? d->class[class].count : 0;
    return sum;
}
