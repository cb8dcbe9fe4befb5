/* ranges.c: adds, identifies and removes ranges. */
#include "memory/ranges.h"

#include "../regions/export.h"
#include "memory/sites.h"
#include "process/next_call.h"
#include "process/thread_slot.h"

#include <sched.h>

#define ORDERS 65536
#define MOST_PROBES 256

struct order {
    _Atomic uint64_t key;
    _Atomic uint32_t count;
};

bool ranges_wanted;

static THREAD_LOCAL volatile uint32_t
    inside; /* calls of this file in this thread that change what is known */
static struct order orders[ORDERS];
static _Atomic uint64_t dropped;
static void (*range_added)(struct range *range), (*range_removed)(struct range *range);

void ranges_watch(void (*added)(struct range *range), void (*removed)(struct range *range)) {
    range_added = added;
    range_removed = removed;
}

static void become_live(struct range_entry *entry) {
    atomic_store_explicit(&entry->state, RANGE_LIVE, memory_order_release);
}

/* Return the count of earlier ranges of a site and slot, and count this one; false if the table is full. */
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
    inside++;
    struct range_entry *entry = table_take();
    if (!entry) {
        dropped++;
        inside--;
        return;
    }
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
    into->place = 0;
    into->tries = 0;
    into->mappings = 0;
    into->left = false;
    into->cut = NULL;
    into->origin = NULL;
    into->change = 0;
    into->hinted = into->promised = false;
    into->fresh = range->fresh;
    into->file = range->file;
    into->file.settled = into->file.looks = 0;
    entry->address = address;
    table_link(entry);
    range_added(into);
    into->fresh = false;
    become_live(entry);
    inside--;
}

static void add_allocation(void *start, size_t bytes, const void *caller, struct range range) {
    const bool is_file = range.kind == RANGE_FILE;
    range.slot = slot_of_this_thread();
    if (bytes < RANGE_BYTES || !whole_pages((uintptr_t)start, bytes, &range))
        return;
    inside++;
    const struct site *site = site_of(caller);
    inside--;
    if (site && (site->outside || (range.kind == RANGE_MAPPED && site->allocator)))
        return;
    range.site = is_file ? site_hash(range.module, range.offset) : site ? site->hash : 0;
    if (!site || !next_order(range.site, range.slot, &range.order)) {
        dropped++;
        return;
    }
    if (!is_file) {
        range.offset = site->offset;
        range.module = site->module;
    }
    add((uintptr_t)start, &range);
}

void ranges_add(void *start, size_t bytes, const void *caller, enum range_kind kind) {
    add_allocation(start, bytes, caller, (struct range){.kind = kind});
}

void ranges_add_fresh(void *start, size_t bytes, const void *caller) {
    add_allocation(start, bytes, caller, (struct range){.kind = RANGE_MAPPED, .fresh = true});
}

void ranges_add_file(void *start, size_t bytes, const void *caller, const struct range *like) {
    struct range range = *like;
    range.kind = RANGE_FILE;
    range.fresh = true;
    add_allocation(start, bytes, caller, range);
}

void ranges_add_static(uintptr_t start, size_t bytes, const char *module, uint64_t offset) {
    struct range range = {.kind = RANGE_STATIC, .module = module, .offset = offset};
    if (bytes < RANGE_BYTES || !whole_pages(start, bytes, &range) || table_find(range.start, range.end))
        return;
    range.site = site_hash(module, offset);
    add(start, &range);
}

void ranges_add_arena(uintptr_t start, size_t bytes, uint32_t order) {
    static const char heap[] = "[heap]";
    struct range range = {.kind = RANGE_ARENA, .module = heap, .order = order};
    if (!whole_pages(start, bytes, &range) || table_find(range.start, range.end))
        return;
    range.site = site_hash(heap, 0);
    add(start | 1, &range); /* the address of no block: free must not meet it */
}

bool ranges_take(void *start, struct range *was) {
    inside++;
    struct range_entry *entry = table_claim((uintptr_t)start);
    if (entry) {
        if (was)
            *was = entry->range;
        range_removed(&entry->range);
        table_unlink(entry);
        table_give(entry);
    }
    inside--;
    return entry != NULL;
}

void ranges_put_back(void *start, const struct range *was) { add((uintptr_t)start, was); }

void ranges_remove(void *start) {
    if (ranges_may_know(start))
        ranges_take(start, NULL);
}

void ranges_remove_overlapping(void *start, size_t bytes) {
    const uintptr_t from = (uintptr_t)start, to = bytes > UINTPTR_MAX - from ? UINTPTR_MAX : from + bytes;
    struct range_entry *entry;
    while (from < to && (entry = table_find(from, to)))
        if (!ranges_take((void *)entry->address, NULL))
            sched_yield(); /* another thread is just about it */
}

void ranges_remove_all(void) {
    for (uint32_t i = 0; i < table_used(); i++) {
        const struct range_entry *entry = table_entry(i);
        if (atomic_load_explicit(&entry->state, memory_order_acquire) == RANGE_LIVE)
            ranges_take((void *)entry->address, NULL);
    }
}

static void add_rest(const struct range *of, uintptr_t start, uintptr_t end) {
    struct range rest = *of;
    rest.start = start;
    rest.end = end;
    rest.bytes = end - start;
    if (of->kind == RANGE_FILE)
        rest.offset += start - of->start;
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
    struct range_entry *entry;
    struct range was;
    while (from < to && (entry = table_find(from, to))) {
        if (!ranges_take((void *)entry->address, &was)) {
            sched_yield(); /* another thread is just about it */
        } else if (was.kind == RANGE_MAPPED || was.kind == RANGE_FILE) {
            add_rest(&was, was.start, from);
            add_rest(&was, to, was.end);
        }
    }
}

struct range *ranges_find(uintptr_t address) {
    struct range_entry *entry = table_find(address, address + 1);
    return entry ? &entry->range : NULL;
}

void ranges_for_each(void (*visit)(struct range *range, void *data), void *data) {
    inside++;
    for (uint32_t i = 0; i < table_used(); i++) {
        uint32_t was = RANGE_LIVE;
        if (!atomic_compare_exchange_strong(&table_entry(i)->state, &was, RANGE_VISITED))
            continue;
        visit(&table_entry(i)->range, data);
        become_live(table_entry(i));
    }
    inside--;
}

bool ranges_busy(void) { return inside > 0; }

void ranges_after_fork(void) {
    table_after_fork();
    sites_after_fork();
    next_calls_after_fork();
}

uint64_t ranges_dropped(void) { return dropped; }
