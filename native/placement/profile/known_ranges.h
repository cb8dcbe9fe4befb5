/* known_ranges.h: the ranges of a profile, including removed ones, numbered in the order in which they were
 * added.
 *
 * Contract. All but known_first_touch is called under one lock, profile.c's.
 */
#ifndef NUMAPLACE_KNOWN_RANGES_H
#define NUMAPLACE_KNOWN_RANGES_H

#include "memory/ranges.h"
#include "profile/profile_file.h"

#define KNOWN_LIMIT 65536

struct known_range {
    struct profile_range file; /* as written, except for positions in the text and the samples */
    const char *module, *first_touch_module;
    struct range *live;            /* NULL after its removal */
    _Atomic uintptr_t first_touch; /* instruction; 0: not yet */
    _Atomic int32_t first_slot;
};

/* Add a range and set range->profile; return false if there is no memory. */
bool known_add(struct range *range);
/* The range is about to be removed. */
void known_remove(struct range *range);
uint32_t known_count(void);
uint64_t known_dropped(void);
/* Return a range by number, with what is known of its first touch filled in. */
struct known_range *known_range(uint32_t number);
/* Note the first touch of a range. Async-signal-safe; only the first call for a range counts. */
void known_first_touch(struct range *range, uint32_t slot, uintptr_t instruction);
/* Return the range and the page at position share / 2^64 among all pages of the live ranges, or NULL if there
 * are none. */
struct known_range *known_at(uint64_t share, uint32_t *number, size_t *page);

#endif
