/* known_ranges.h: the ranges of a profile, including removed ones, numbered in the order in which they were
 * added.
 *
 * Contract. All but known_of and known_count is called under one lock, profile.c's.
 */
#ifndef NUMAPLACE_KNOWN_RANGES_H
#define NUMAPLACE_KNOWN_RANGES_H

#include "memory/ranges.h"
#include "memory/sites.h"
#include "profile/profile_file.h"

#define KNOWN_LIMIT 65536

enum part_state { PART_WAITS, PART_FILLING, PART_TOUCHED, PART_LOST, PART_UNTOUCHED };

/* A part of a range, and its first touch (first_touches.h). */
struct first_part {
    _Atomic uint32_t state; /* enum part_state */
    uint32_t stack;         /* call_stacks.h */
    uint32_t page;          /* that was touched, within the range */
    uint16_t slot, region;
    uint8_t access; /* enum access */
};

struct known_range {
    struct profile_range file; /* as written, except for the numbers of other records */
    const char *module;
    uintptr_t start, end;
    struct range *live; /* NULL after its removal */
    uint32_t stack;     /* of its allocation (call_stacks.h) */
    uint32_t parts, shift;
    struct first_part *part;
    _Atomic uint32_t waiting; /* parts that were not touched yet */
    uint32_t *waits;          /* profile_waits: touches by how long they were waited for; NULL: none */
};

/* Add a range and set range->profile; return NULL if there is no memory. */
struct known_range *known_add(struct range *range);
/* Add a group of blocks and return its number + 1; 0 if there is no memory. */
uint32_t known_add_blocks(const struct site *site, uint32_t stack);
/* The range is about to be removed. */
void known_remove(struct range *range);
uint32_t known_count(void);
uint64_t known_dropped(void);
/* Return a range by number. */
struct known_range *known_range(uint32_t number);
/* Return what is known of a range, or NULL. Async-signal-safe. */
struct known_range *known_of(const struct range *range);
/* Count a touch that a watched block of a range was waited for so long. */
void known_waited(struct known_range *known, uint64_t ns);
/* Return the number of live ranges; and one of them. */
uint32_t known_live_count(void);
struct known_range *known_live(uint32_t number);
/* Return the range and the page at position share / 2^64 among all pages of the live ranges, or NULL if there
 * are none. */
struct known_range *known_at(uint64_t share, uint32_t *number, size_t *page);

#endif
