/* ranges.c: the table of ranges, found by any address inside, by the address of the allocation, and in turn.
 *
 * Finding by an address inside: a range of 2^k to 2^(k+1) bytes overlaps at most three aligned blocks of 2^k
 * bytes, and is linked in the bucket of each. A search looks into one bucket for each k that ever occurred. A
 * reader takes no lock. Links are changed one pointer at a time, so that a walk always ends; what it may
 * miss, when an entry is taken out under its feet and linked elsewhere, it sees by the count of removals from
 * the bucket, and it walks again. A reader that has interrupted a writer of its own thread sees a count at
 * rest.
 */
#include "memory/ranges.h"

#include "../regions/spin.h"
#include "memory/sites.h"
#include "process/next_call.h"
#include "process/system.h"
#include "threads/slots.h"

#include <limits.h>

#define MOST_BLOCKS 3 /* of one range */
#define LEVELS 64
#define LOCKS 256
#define ORDERS 65536
#define MOST_PROBES 256
#define PART 1024 /* entries that get their memory together, when the first of them is used */

enum state { FREE, FILLING, LINKING, LIVE, VISITED, LEAVING };

struct entry {
    struct range range;
    uintptr_t address; /* of the allocation */
    uint32_t index;
    _Atomic uint32_t state;             /* enum state */
    _Atomic uint32_t next;              /* in its bucket by address: index + 1; 0 ends */
    _Atomic uint32_t link[MOST_BLOCKS]; /* in its buckets by block: index * MOST_BLOCKS + number + 1 */
    _Atomic uint32_t free_next;
};

struct bucket {
    _Atomic uint32_t head;
    _Atomic uint32_t removals;
};

struct order {
    _Atomic uint64_t key;
    _Atomic uint32_t count;
};

bool ranges_wanted;
_Atomic uint32_t ranges_by_address[RANGE_BUCKETS];

static _Atomic(struct entry *) parts[RANGE_CAPACITY / PART];
static struct bucket by_block[RANGE_BUCKETS];
static struct order orders[ORDERS];
static atomic_flag address_locks[LOCKS], block_locks[LOCKS];
static _Atomic uint64_t levels;     /* bit k: ranges of at least 2^k bytes occurred */
static _Atomic uint32_t used;       /* entries that were ever used */
static _Atomic uint64_t free_first; /* index + 1, and above it a count that tells equal heads apart */
static _Atomic uint64_t dropped;

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

/* Of one that is or was in use. */
static struct entry *entry_at(uint32_t index) {
    return &atomic_load_explicit(&parts[index / PART], memory_order_acquire)[index % PART];
}

static bool make_part(uint32_t index) {
    struct entry *none = NULL;
    if (atomic_load_explicit(&parts[index / PART], memory_order_acquire))
        return true;
    struct entry *fresh = system_memory(PART * sizeof *fresh);
    if (fresh && !atomic_compare_exchange_strong(&parts[index / PART], &none, fresh))
        system_free(fresh, PART * sizeof *fresh);
    return fresh;
}

/* The list of free entries. */

static struct entry *take_entry(void) {
    uint64_t first = atomic_load_explicit(&free_first, memory_order_acquire);
    while ((uint32_t)first) {
        struct entry *entry = entry_at((uint32_t)first - 1);
        const uint64_t next = ((first >> 32) + 1) << 32 | load(&entry->free_next);
        if (atomic_compare_exchange_weak(&free_first, &first, next))
            return entry;
    }
    uint32_t count = load(&used);
    while (count < RANGE_CAPACITY && make_part(count)) {
        if (atomic_compare_exchange_weak(&used, &count, count + 1)) {
            entry_at(count)->index = count;
            return entry_at(count);
        }
    }
    return NULL;
}

static void give_entry(struct entry *entry) {
    store(&entry->state, FREE);
    uint64_t first = atomic_load_explicit(&free_first, memory_order_relaxed), mine;
    do {
        store(&entry->free_next, (uint32_t)first);
        mine = ((first >> 32) + 1) << 32 | ((uint64_t)entry->index + 1);
    } while (!atomic_compare_exchange_weak(&free_first, &first, mine));
}

/* Buckets by block. */

static struct entry *holder(uint32_t link) { return entry_at((link - 1) / MOST_BLOCKS); }

static _Atomic uint32_t *after(uint32_t link) { return &holder(link)->link[(link - 1) % MOST_BLOCKS]; }

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
        /* Before the entry is used again, and after nobody can come upon it any more. */
        store(&bucket->removals, load(&bucket->removals) + 1);
    }
    spin_unlock(block_lock(bucket));
}

static void each_block(struct entry *entry, void (*change)(struct bucket *, uint32_t)) {
    const unsigned level = level_of(&entry->range);
    uint32_t link = entry->index * MOST_BLOCKS + 1;
    for (uintptr_t block = entry->range.start >> level; block <= (entry->range.end - 1) >> level; block++)
        change(bucket_of(level, block), link++);
}

static bool overlaps(const struct entry *entry, uintptr_t from, uintptr_t to) {
    return __atomic_load_n(&entry->range.start, __ATOMIC_ACQUIRE) < to &&
           from < __atomic_load_n(&entry->range.end, __ATOMIC_ACQUIRE);
}

static struct entry *find_in(const struct bucket *bucket, uintptr_t from, uintptr_t to) {
    for (;;) {
        const uint32_t before = load(&bucket->removals);
        uint32_t link = load(&bucket->head);
        while (link && !overlaps(holder(link), from, to))
            link = load(after(link));
        if (load(&bucket->removals) == before)
            return link ? holder(link) : NULL;
    }
}

/* Return a range that overlaps [from, to). */
static struct entry *find(uintptr_t from, uintptr_t to) {
    for (uint64_t rest = atomic_load_explicit(&levels, memory_order_acquire); rest; rest &= rest - 1) {
        const unsigned level = (unsigned)__builtin_ctzll(rest);
        uintptr_t block = from >> level;
        const uintptr_t last = (to - 1) >> level;
        if (last - block >= RANGE_CAPACITY) { /* as well one look at each entry */
            for (uint32_t i = 0; i < load(&used); i++)
                if (load(&entry_at(i)->state) != FREE && overlaps(entry_at(i), from, to))
                    return entry_at(i);
            return NULL;
        }
        for (; block <= last; block++) {
            struct entry *found = find_in(bucket_of(level, block), from, to);
            if (found)
                return found;
        }
    }
    return NULL;
}

/* Buckets by the allocation's address. */

static atomic_flag *address_lock(uint32_t bucket) { return &address_locks[bucket % LOCKS]; }

static void link_address(struct entry *entry) {
    const uint32_t bucket = range_bucket(entry->address);
    spin_lock(address_lock(bucket));
    store(&entry->next, load(&ranges_by_address[bucket]));
    store(&ranges_by_address[bucket], entry->index + 1);
    spin_unlock(address_lock(bucket));
}

static void unlink_address(struct entry *entry) {
    const uint32_t bucket = range_bucket(entry->address), mine = entry->index + 1;
    spin_lock(address_lock(bucket));
    _Atomic uint32_t *at = &ranges_by_address[bucket];
    while (load(at) && load(at) != mine)
        at = &entry_at(load(at) - 1)->next;
    if (load(at))
        store(at, load(&entry->next));
    spin_unlock(address_lock(bucket));
}

/* Return the entry at an address, for the caller alone to take out, as soon as nobody visits it. */
static struct entry *claim(uintptr_t address) {
    const uint32_t bucket = range_bucket(address);
    for (;;) {
        uint32_t was = LIVE;
        spin_lock(address_lock(bucket));
        uint32_t at = load(&ranges_by_address[bucket]);
        while (at && entry_at(at - 1)->address != address)
            at = load(&entry_at(at - 1)->next);
        const bool mine = at && atomic_compare_exchange_strong(&entry_at(at - 1)->state, &was, LEAVING);
        spin_unlock(address_lock(bucket));
        if (mine)
            return entry_at(at - 1);
        if (!at || was == LEAVING)
            return NULL;
        sched_yield();
    }
}

/* Return the count of earlier ranges of a site and slot, and count this one; false where there is no room. */
static bool next_order(uint64_t site, uint32_t slot, uint32_t *order) {
    const uint64_t key = (site ^ slot * 0x9e3779b97f4a7c15u) | 1;
    const uint64_t hash = key * 0x9e3779b97f4a7c15u >> 32;
    for (uint64_t probe = 0; probe < MOST_PROBES; probe++) {
        struct order *at = &orders[(hash + probe) % ORDERS];
        uint64_t seen = atomic_load_explicit(&at->key, memory_order_relaxed);
        if (seen == key || (seen == 0 && atomic_compare_exchange_strong(&at->key, &seen, key)) ||
            seen == key) {
            *order = atomic_fetch_add_explicit(&at->count, 1, memory_order_relaxed);
            return true;
        }
    }
    return false;
}

static bool whole_pages(uintptr_t start, size_t bytes, struct range *range) {
    range->bytes = bytes;
    range->start = (start + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
    range->end = (start + bytes) & ~(PAGE_BYTES - 1);
    return range->start < range->end;
}

static void add(uintptr_t address, const struct range *range) {
    ranges_remove_overlapping((void *)range->start, range->end - range->start);
    struct entry *entry = take_entry();
    if (!entry) {
        dropped++;
        return;
    }
    store(&entry->state, FILLING);
    struct range *into = &entry->range;
    __atomic_store_n(&into->start, range->start, __ATOMIC_RELEASE);
    __atomic_store_n(&into->end, range->end, __ATOMIC_RELEASE);
    into->site = range->site;
    into->offset = range->offset;
    into->module = range->module;
    into->slot = range->slot;
    into->order = range->order;
    into->kind = range->kind;
    into->bytes = range->bytes;
    into->protection = NULL;
    into->moves = 0;
    into->room = 0;
    into->left = false;
    into->fresh = range->fresh;
    entry->address = address;
    const uint64_t level = 1ull << level_of(range);
    if (!(atomic_load_explicit(&levels, memory_order_relaxed) & level))
        atomic_fetch_or(&levels, level);
    store(&entry->state, LINKING);
    link_address(entry); /* first, so that whatever can be found can be taken out */
    each_block(entry, link_block);
    range_added(into);
    into->fresh = false;
    store(&entry->state, LIVE);
}

static void add_allocation(void *start, size_t bytes, const void *caller, enum range_kind kind, bool fresh) {
    struct range range = {.kind = kind, .slot = slot_of_this_thread(), .fresh = fresh};
    if (bytes < RANGE_BYTES || !whole_pages((uintptr_t)start, bytes, &range))
        return;
    const struct site *site = site_of(caller);
    if (site && (site->outside || (kind == RANGE_MAPPED && site->allocator)))
        return;
    if (!site || !next_order(site->hash, range.slot, &range.order)) {
        dropped++;
        return;
    }
    range.site = site->hash;
    range.offset = site->offset;
    range.module = site->module;
    add((uintptr_t)start, &range);
}

void ranges_add(void *start, size_t bytes, const void *caller, enum range_kind kind) {
    add_allocation(start, bytes, caller, kind, false);
}

void ranges_add_fresh(void *start, size_t bytes, const void *caller) {
    add_allocation(start, bytes, caller, RANGE_MAPPED, true);
}

void ranges_add_static(uintptr_t start, size_t bytes, const char *module, uint64_t offset) {
    struct range range = {.kind = RANGE_STATIC, .module = module, .offset = offset};
    if (bytes < RANGE_BYTES || !whole_pages(start, bytes, &range) || find(range.start, range.end))
        return;
    range.site = site_hash(module, offset);
    add(start, &range);
}

void ranges_add_arena(uintptr_t start, size_t bytes, uint32_t order) {
    static const char heap[] = "[heap]";
    struct range range = {.kind = RANGE_ARENA, .module = heap, .order = order};
    if (!whole_pages(start, bytes, &range) || find(range.start, range.end))
        return;
    range.site = site_hash(heap, 0);
    add(start | 1, &range); /* the address of no block: free must not meet it */
}

bool ranges_take(void *start, struct range *was) {
    struct entry *entry = claim((uintptr_t)start);
    if (!entry)
        return false;
    if (was)
        *was = entry->range;
    range_removed(&entry->range);
    each_block(entry, unlink_block);
    unlink_address(entry);
    give_entry(entry);
    return true;
}

void ranges_put_back(void *start, const struct range *was) { add((uintptr_t)start, was); }

void ranges_remove(void *start) {
    if (ranges_may_know(start))
        ranges_take(start, NULL);
}

void ranges_remove_overlapping(void *start, size_t bytes) {
    const uintptr_t from = (uintptr_t)start, to = bytes > UINTPTR_MAX - from ? UINTPTR_MAX : from + bytes;
    struct entry *entry;
    while (from < to && (entry = find(from, to)))
        if (!ranges_take((void *)entry->address, NULL))
            sched_yield(); /* another thread is just about it */
}

void ranges_remove_all(void) {
    for (uint32_t i = 0; i < load(&used); i++) {
        const struct entry *entry = entry_at(i);
        if (load(&entry->state) == LIVE)
            ranges_take((void *)entry->address, NULL);
    }
}

static void add_rest(const struct range *of, uintptr_t start, uintptr_t end) {
    struct range rest = *of;
    rest.start = start;
    rest.end = end;
    rest.bytes = end - start;
    if (end > start && rest.bytes >= RANGE_BYTES)
        add(start, &rest);
}

void ranges_cut(void *start, size_t bytes) {
    const uintptr_t from = (uintptr_t)start;
    uintptr_t to;
    if (__builtin_add_overflow(from, bytes, &to) || __builtin_add_overflow(to, PAGE_BYTES - 1, &to) ||
        from % PAGE_BYTES)
        return; /* the call that this is for will fail */
    to &= ~(PAGE_BYTES - 1);
    struct entry *entry;
    struct range was;
    while (from < to && (entry = find(from, to))) {
        if (!ranges_take((void *)entry->address, &was)) {
            sched_yield(); /* another thread is just about it */
        } else if (was.kind == RANGE_MAPPED) {
            add_rest(&was, was.start, from);
            add_rest(&was, to, was.end);
        }
    }
}

struct range *ranges_find(uintptr_t address) {
    struct entry *entry = find(address, address + 1);
    return entry ? &entry->range : NULL;
}

void ranges_for_each(void (*visit)(struct range *range, void *data), void *data) {
    for (uint32_t i = 0; i < load(&used); i++) {
        uint32_t was = LIVE;
        if (!atomic_compare_exchange_strong(&entry_at(i)->state, &was, VISITED))
            continue;
        visit(&entry_at(i)->range, data);
        store(&entry_at(i)->state, LIVE);
    }
}

uint64_t ranges_dropped(void) { return dropped; }

void ranges_after_fork(void) {
    for (size_t i = 0; i < LOCKS; i++) {
        atomic_flag_clear(&address_locks[i]);
        atomic_flag_clear(&block_locks[i]);
    }
    /* What other threads were about will not be ended: what can be found stays known. */
    for (uint32_t i = 0; i < load(&used); i++)
        if (load(&entry_at(i)->state) > FILLING)
            store(&entry_at(i)->state, LIVE);
        else
            store(&entry_at(i)->state, FREE);
    sites_after_fork();
    next_calls_after_fork();
}
