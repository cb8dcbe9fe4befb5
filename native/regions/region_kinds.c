/* region_kinds.c: a hash table in the region file. */
#include "region_kinds.h"

#include <stdbool.h>

#define MOST_PROBES 64u

#define LITTLE_WORK 10u /* one in so many of the time: such threads sleep, and their time says more */

/* Return in which part of an octave a time is, of two to the `bits` parts. */
static uint32_t part_of(uint64_t ns, unsigned bits) {
    if (ns >> bits == 0)
        return 0;
    const unsigned octave = 63u - (unsigned)__builtin_clzll(ns);
    return (octave << bits) + (uint32_t)(ns >> (octave - bits) & ((1u << bits) - 1));
}

static bool is_same(const struct region_kind *one, const struct region_kind *other) {
    return one->entry == other->entry && one->length == other->length && one->work == other->work &&
           one->depth == other->depth && one->team == other->team;
}

void region_kinds_note(struct region_kinds *kinds, struct region_kind one, uint32_t number) {
    if (one.work_ns < one.time_ns / LITTLE_WORK)
        one.work_ns = 0;
    one.length = part_of(one.time_ns, one.work_ns ? 1 : 3); /* work tells instances apart */
    one.work = part_of(one.work_ns, 2);
    const uint64_t words = one.depth ^ (uint64_t)one.entry << 40 ^ (uint64_t)one.team << 32 ^
                           (uint64_t)one.work << 10 ^ one.length;
    uint64_t at = words * 0x9e3779b97f4a7c15ull >> 40;
    for (uint32_t probe = 0; probe < MOST_PROBES; probe++, at++) {
        struct region_kind *kind = &kinds->listed[at % REGION_FILE_KINDS];
        if (kind->count == 0) {
            *kind = one;
            kind->time_ns = kind->work_ns = 0;
        } else if (!is_same(kind, &one)) {
            continue;
        }
        const uint32_t count = kind->count + 1;
        if ((count & (count - 1)) == 0)
            kind->number[(unsigned)__builtin_ctz(count) % REGION_FILE_NUMBERS] = number;
        kind->time_ns += one.time_ns;
        kind->work_ns += one.work_ns;
        __atomic_store_n(&kind->count, count, __ATOMIC_RELEASE);
        return;
    }
}
