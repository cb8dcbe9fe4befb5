/* known_ranges.h: the ranges of a profile, also those that are gone, numbered in the order in which they
 * came.
 *
 * Contract. All but known_first_touch is called under one lock, profile.c's.
 */
#ifndef NUMAPLACE_KNOWN_RANGES_H
#define NUMAPLACE_KNOWN_RANGES_H

#include "memory/ranges.h"
#include "profile/profile_file.h"

#define KNOWN_LIMIT 65536

struct known_range {
    struct profile_range file; /* as it is written, but for places in the text and the samples */
    const char *module, *first_touch_module;
    struct range *live;            /* NULL when it is gone */
    _Atomic uintptr_t first_touch; /* instruction; 0: not yet */
    _Atomic int32_t first_slot;
};

/* Note a new range, in range->profile too; false where there is no room. */
bool known_add(struct range *range);
/* It is about to go. */
void known_remove(struct range *range);
uint32_t known_count(void);
uint64_t known_dropped(void);
/* Return a range by number, with what is known of its first touch filled in. */
struct known_range *known_range(uint32_t number);
/* Note the first touch of a range. Async-signal-safe; only the first call for a range counts. */
void known_first_touch(struct range *range, uint32_t slot, uintptr_t instruction);
/* Return the range and the page at a share of all pages of the live ranges: share / 2^64. NULL where there
 * are none. */
struct known_range *known_at(uint64_t share, uint32_t *number, size_t *page);

#endif
