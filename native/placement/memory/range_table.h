/* range_table.h: where ranges are kept: found by any address inside, by the address of the allocation, and
 * one after the other.
 *
 * Contract. Finding takes no lock and may be done in a signal handler. A thread removes an entry only after
 * taking it exclusively (table_claim). An entry's memory is never freed, because a reader may still look at
 * it.
 */
#ifndef NUMAPLACE_RANGE_TABLE_H
#define NUMAPLACE_RANGE_TABLE_H

#include "memory/range.h"

#include <stdatomic.h>

#define RANGE_CAPACITY 65536
#define RANGE_BLOCKS 3    /* of one range, at most: range_table.c */
#ifndef RANGE_BUCKET_BITS /* tests use fewer, to make ranges collide */
#define RANGE_BUCKET_BITS 16
#endif
#define RANGE_BUCKETS (1u << RANGE_BUCKET_BITS)

enum range_state { RANGE_FREE, RANGE_FILLING, RANGE_LINKING, RANGE_LIVE, RANGE_VISITED, RANGE_LEAVING };

struct range_entry {
    struct range range;
    uintptr_t address; /* of the allocation */
    uint32_t index;
    _Atomic uint32_t state;              /* enum range_state */
    _Atomic uint32_t next;               /* in its bucket by address: index + 1; 0 ends */
    _Atomic uint32_t link[RANGE_BLOCKS]; /* in its buckets by block: index * RANGE_BLOCKS + number + 1 */
    _Atomic uint32_t free_next;
};

extern _Atomic uint32_t ranges_by_address[RANGE_BUCKETS] __attribute__((visibility("hidden")));

static inline uint32_t range_bucket(uintptr_t address) {
    return (uint32_t)((uint64_t)(address >> 4) * 0x9e3779b97f4a7c15u >> (64 - RANGE_BUCKET_BITS));
}

/* Return an unused entry, as RANGE_FILLING, or NULL if the table is full; and give one back. */
struct range_entry *table_take(void);
void table_give(struct range_entry *entry);
/* Link an entry whose range and address are filled in, so that it can be found; and unlink it. */
void table_link(struct range_entry *entry);
void table_unlink(struct range_entry *entry);
/* Return an entry whose range overlaps [from, to), or NULL. */
struct range_entry *table_find(uintptr_t from, uintptr_t to);
/* Return the entry of the allocation at an address, exclusively for the caller to remove, once no visitor
 * uses it; NULL if there is none. */
struct range_entry *table_claim(uintptr_t address);
/* Return how many entries were ever used; and one of them by its index. */
uint32_t table_used(void);
struct range_entry *table_entry(uint32_t index);
/* In the child of a fork: locks that another thread held are free again. Operations that other threads had
 * begun stay unfinished: entries that can be found stay known. */
void table_after_fork(void);

#endif
