/* range_table.c: the links of the table.
 *
 * Finding by an address inside: a range of 2^k to 2^(k+1) bytes overlaps at most three aligned blocks of 2^k
 * bytes, and is linked in the bucket of each. A search looks into one bucket for each k that ever occurred. A
 * reader takes no lock. Links are changed one pointer at a time, so that a walk always ends; if an entry is
 * removed and linked elsewhere during a walk, the reader may miss entries; it detects this by the bucket's
 * count of removals and walks again. A reader that has interrupted a writer of its own thread sees a count at
 * rest.
 */
#include "memory/range_table.h"

#include "../regions/spin.h"
#include "process/system.h"

#include <limits.h>

#define LOCKS 256
#define PART 1024 /* memory for this many entries is allocated when the first of them is used */

struct bucket {
    _Atomic uint32_t head;
    _Atomic uint32_t removals;
};

_Atomic uint32_t ranges_by_address[RANGE_BUCKETS];

static _Atomic(struct range_entry *) parts[RANGE_CAPACITY / PART];
static struct bucket by_block[RANGE_BUCKETS];
static atomic_flag address_locks[LOCKS], block_locks[LOCKS];
static _Atomic uint64_t levels;     /* bit k: ranges of at least 2^k bytes occurred */
static _Atomic uint32_t used;       /* entries that were ever used */
static _Atomic uint64_t free_first; /* index + 1, and above it a count that tells equal heads apart */

static uint32_t load(const _Atomic uint32_t *value) {
    return atomic_load_explicit(value, memory_order_acquire);
}

static void store(_Atomic uint32_t *value, uint32_t to) {
    atomic_store_explicit(value, to, memory_order_release);
}

static struct bucket *bucket_of(unsigned level, uintptr_t block) {
    return &by_block[((uint64_t)block + level * 0x100000001b3u) * 0x9e3779b97f4a7c15u >>
                     (64 - RANGE_BUCKET_BITS)];
}

struct range_entry *table_entry(uint32_t index) {
    return &atomic_load_explicit(&parts[index / PART], memory_order_acquire)[index % PART];
}

static bool make_part(uint32_t index) {
    struct range_entry *none = NULL;
    if (atomic_load_explicit(&parts[index / PART], memory_order_acquire))
        return true;
    struct range_entry *fresh = system_memory(PART * sizeof *fresh);
    if (fresh && !atomic_compare_exchange_strong(&parts[index / PART], &none, fresh))
        system_free(fresh, PART * sizeof *fresh);
    return fresh;
}

/* The list of free entries. */

static struct range_entry *free_entry(void) {
    uint64_t first = atomic_load_explicit(&free_first, memory_order_acquire);
    while ((uint32_t)first) {
        struct range_entry *entry = table_entry((uint32_t)first - 1);
        const uint64_t next = ((first >> 32) + 1) << 32 | load(&entry->free_next);
        if (atomic_compare_exchange_weak(&free_first, &first, next))
            return entry;
    }
    uint32_t count = load(&used);
    while (count < RANGE_CAPACITY && make_part(count)) {
        if (atomic_compare_exchange_weak(&used, &count, count + 1)) {
            table_entry(count)->index = count;
            return table_entry(count);
        }
    }
    return NULL;
}

struct range_entry *table_take(void) {
    struct range_entry *entry = free_entry();
    if (entry)
        store(&entry->state, RANGE_FILLING);
    return entry;
}

void table_give(struct range_entry *entry) {
    store(&entry->state, RANGE_FREE);
    uint64_t first = atomic_load_explicit(&free_first, memory_order_relaxed), mine;
    do {
        store(&entry->free_next, (uint32_t)first);
        mine = ((first >> 32) + 1) << 32 | ((uint64_t)entry->index + 1);
    } while (!atomic_compare_exchange_weak(&free_first, &first, mine));
}

/* Buckets by block. */

static struct range_entry *holder(uint32_t link) { return table_entry((link - 1) / RANGE_BLOCKS); }

static _Atomic uint32_t *after(uint32_t link) { return &holder(link)->link[(link - 1) % RANGE_BLOCKS]; }

static atomic_flag *block_lock(const struct bucket *bucket) {
    return &block_locks[(bucket - by_block) % LOCKS];
}

static unsigned level_of(const struct range *range) {
    return (unsigned)(sizeof(unsigned long) * CHAR_BIT) - 1 -
           (unsigned)__builtin_clzl(range->end - range->start);
}

static void link_block(struct bucket *bucket, uint32_t link) {
    spin_lock(block_lock(bucket));
    store(after(link), load(&bucket->head));
    store(&bucket->head, link);
    spin_unlock(block_lock(bucket));
}

static void unlink_block(struct bucket *bucket, uint32_t link) {
    spin_lock(block_lock(bucket));
    _Atomic uint32_t *at = &bucket->head;
    while (load(at) && load(at) != link)
        at = after(load(at));
    if (load(at)) {
        store(at, load(after(link)));
        /* After the entry can no longer be found, and before it is reused. */
        store(&bucket->removals, load(&bucket->removals) + 1);
    }
    spin_unlock(block_lock(bucket));
}

static void each_block(struct range_entry *entry, void (*change)(struct bucket *, uint32_t)) {
    const unsigned level = level_of(&entry->range);
    uint32_t link = entry->index * RANGE_BLOCKS + 1;
    for (uintptr_t block = entry->range.start >> level; block <= (entry->range.end - 1) >> level; block++)
        change(bucket_of(level, block), link++);
}

static bool overlaps(const struct range_entry *entry, uintptr_t from, uintptr_t to) {
    return __atomic_load_n(&entry->range.start, __ATOMIC_ACQUIRE) < to &&
           from < __atomic_load_n(&entry->range.end, __ATOMIC_ACQUIRE);
}

static struct range_entry *find_in(const struct bucket *bucket, uintptr_t from, uintptr_t to) {
    for (;;) {
        const uint32_t before = load(&bucket->removals);
        uint32_t link = load(&bucket->head);
        while (link && !overlaps(holder(link), from, to))
            link = load(after(link));
        if (load(&bucket->removals) == before)
            return link ? holder(link) : NULL;
    }
}

struct range_entry *table_find(uintptr_t from, uintptr_t to) {
    for (uint64_t rest = atomic_load_explicit(&levels, memory_order_acquire); rest; rest &= rest - 1) {
        const unsigned level = (unsigned)__builtin_ctzll(rest);
        uintptr_t block = from >> level;
        const uintptr_t last = (to - 1) >> level;
        if (last - block >= RANGE_CAPACITY) { /* then looking at each entry costs no more */
            for (uint32_t i = 0; i < load(&used); i++)
                if (load(&table_entry(i)->state) != RANGE_FREE && overlaps(table_entry(i), from, to))
                    return table_entry(i);
            return NULL;
        }
        for (; block <= last; block++) {
            struct range_entry *found = find_in(bucket_of(level, block), from, to);
            if (found)
                return found;
        }
    }
    return NULL;
}

/* Buckets by the allocation's address. */

static atomic_flag *address_lock(uint32_t bucket) { return &address_locks[bucket % LOCKS]; }

static void link_address(struct range_entry *entry) {
    const uint32_t bucket = range_bucket(entry->address);
    spin_lock(address_lock(bucket));
    store(&entry->next, load(&ranges_by_address[bucket]));
    store(&ranges_by_address[bucket], entry->index + 1);
    spin_unlock(address_lock(bucket));
}

static void unlink_address(struct range_entry *entry) {
    const uint32_t bucket = range_bucket(entry->address), mine = entry->index + 1;
    spin_lock(address_lock(bucket));
    _Atomic uint32_t *at = &ranges_by_address[bucket];
    while (load(at) && load(at) != mine)
        at = &table_entry(load(at) - 1)->next;
    if (load(at))
        store(at, load(&entry->next));
    spin_unlock(address_lock(bucket));
}

struct range_entry *table_claim(uintptr_t address) {
    const uint32_t bucket = range_bucket(address);
    for (;;) {
        uint32_t was = RANGE_LIVE;
        spin_lock(address_lock(bucket));
        uint32_t at = load(&ranges_by_address[bucket]);
        while (at && table_entry(at - 1)->address != address)
            at = load(&table_entry(at - 1)->next);
        const bool mine =
            at && atomic_compare_exchange_strong(&table_entry(at - 1)->state, &was, RANGE_LEAVING);
        spin_unlock(address_lock(bucket));
        if (mine)
            return table_entry(at - 1);
        if (!at || was == RANGE_LEAVING)
            return NULL;
        sched_yield();
    }
}

void table_link(struct range_entry *entry) {
    const uint64_t level = 1ull << level_of(&entry->range);
    if (!(atomic_load_explicit(&levels, memory_order_relaxed) & level))
        atomic_fetch_or(&levels, level);
    store(&entry->state, RANGE_LINKING);
    link_address(entry); /* first, so that every entry that can be found can also be removed */
    each_block(entry, link_block);
}

void table_unlink(struct range_entry *entry) {
    each_block(entry, unlink_block);
    unlink_address(entry);
}

uint32_t table_used(void) { return load(&used); }

void table_after_fork(void) {
    for (size_t i = 0; i < LOCKS; i++) {
        atomic_flag_clear(&address_locks[i]);
        atomic_flag_clear(&block_locks[i]);
    }
    for (uint32_t i = 0; i < load(&used); i++) {
        struct range_entry *entry = table_entry(i);
        store(&entry->state, load(&entry->state) > RANGE_FILLING ? RANGE_LIVE : RANGE_FREE);
    }
}
