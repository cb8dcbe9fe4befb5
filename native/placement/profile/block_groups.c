/* block_groups.c: notes each block with its group, and watches some for their first touch. */
#include "profile/block_groups.h"

#include "../regions/export.h"
#include "memory/block_watch.h"
#include "memory/heap.h"
#include "memory/sites.h"
#include "process/system.h"
#include "profile/block_table.h"
#include "profile/call_stacks.h"
#include "profile/first_touches.h"
#include "profile/placed_stacks.h"
#include "protection/arming.h"
#include "protection/protection.h"

#include <string.h>

#define START_NS 2000000u
#define SHARE 33u          /* of the time since the first block */
#define NOTED_NS 40u       /* as measured, to note a block and that it is freed */
#define TURN_BLOCKS 256u   /* between two looks at the clock */
#define FREES_A_LOOK 1024u /* while nothing is noted */
#define WALKS_NS 5000000u  /* to name groups, each by one walk of the stack, besides 1% of the time */
#define WALKS_SHARE 100u
#define ALL_WATCHED 32u    /* the first ones of a group, and half as many of each doubling */
#define MOST_WAITING 4096u /* pages */
#define PAGE_SHIFT 12u

struct first {
    _Atomic bool is_there;
    int32_t slot;
    uint32_t page, pages, stack, region, access;
};

struct group {
    _Atomic uint32_t known; /* its number among the known ranges + 1 */
    _Atomic uint32_t made, live, most_live;
    _Atomic uint32_t next_page, most_pages;
    _Atomic uint32_t least_bytes, most_bytes; /* of a block */
    _Atomic uint64_t live_bytes, most_live_bytes;
    _Atomic uint32_t firsts;
    struct first *first;
};

struct waiting {
    uintptr_t page;
    uint32_t group, group_page;
    bool fresh; /* it was not there yet */
};

static struct lock *lock;
static bool looks_early;
static struct group *groups; /* by call stack */
static struct waiting *waiting;
static _Atomic uint32_t waiting_count;
static atomic_bool opened; /* some that wait may not be protected */
static _Atomic uint64_t began_ns, spent_ns, walked_ns;
static atomic_bool rests; /* no blocks are noted, for want of time */

static THREAD_LOCAL volatile uint32_t left, until_look; /* of this thread's turn */

/* The time since the first block. */
static uint64_t elapsed_ns(void) {
    const uint64_t now = system_now_ns();
    uint64_t began = 0;
    if (atomic_compare_exchange_strong(&began_ns, &began, now))
        began = now;
    return now > began ? now - began : 0;
}

static bool is_cheap(void) { return atomic_load(&spent_ns) < START_NS + elapsed_ns() / SHARE; }

static bool afford(void) {
    if (left == 0) {
        if (!is_cheap()) {
            atomic_store(&rests, true);
            atomic_store_explicit(&block_watch.least, RANGE_BYTES, memory_order_relaxed);
            return false;
        }
        left = TURN_BLOCKS;
        atomic_fetch_add(&spent_ns, TURN_BLOCKS * NOTED_NS);
    }
    left--;
    return true;
}

void block_groups_look(void) {
    if (!atomic_load_explicit(&rests, memory_order_relaxed) || !is_cheap())
        return;
    atomic_store(&rests, false);
    atomic_store_explicit(&block_watch.least, BLOCK_BYTES, memory_order_relaxed);
}

static uint32_t stack_of(const void *caller, const void *frame) {
    const uint32_t known = placed_stack_known(caller, frame);
    if (known)
        return known;
    const struct site *site = site_of(caller);
    if (!site || site->outside || atomic_load(&walked_ns) >= WALKS_NS + elapsed_ns() / WALKS_SHARE)
        return 0;
    const uint64_t since_ns = system_thread_ns();
    const uint32_t stack = placed_stack_walk(caller, frame);
    atomic_fetch_add(&walked_ns, system_thread_ns() - since_ns);
    return stack;
}

static struct group *group_of(uint32_t stack, const void *caller) {
    struct group *g = &groups[stack - 1];
    if (atomic_load_explicit(&g->known, memory_order_acquire))
        return g;
    const struct site *site = site_of(caller);
    const uint64_t mask = lock_take(lock);
    if (!g->first)
        g->first = system_memory(MOST_BLOCK_FIRSTS * sizeof *g->first);
    if (!atomic_load(&g->known) && g->first && site)
        atomic_store_explicit(&g->known, known_add_blocks(site, stack), memory_order_release);
    lock_give(lock, mask);
    return atomic_load(&g->known) ? g : NULL;
}

static void raise(_Atomic uint32_t *most, uint32_t value) {
    if (atomic_load_explicit(most, memory_order_relaxed) < value)
        atomic_store_explicit(most, value, memory_order_relaxed);
}

/* One of so many, and not always the same one: threads may take turns in touching blocks. */
static bool is_watched(uint32_t number) {
    uint32_t every = 1;
    while (number / every >= ALL_WATCHED)
        every *= 2;
    return number % every == (number / every * 0x9e3779b9u >> 16) % every;
}

/* A page that the allocator does not write to before the block is freed, and that is mostly the block's. */
static bool page_to_watch(const struct block *block, uintptr_t *page) {
    *page = (block->start + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
    if (*page + PAGE_BYTES > block->start + block->bytes)
        *page = (block->start + PAGE_BYTES / 2 - 1) & ~(PAGE_BYTES - 1);
    return *page + PAGE_BYTES <= block->start + block->bytes;
}

static struct range *arena_at(uintptr_t page) {
    struct range *range = ranges_find(page);
    return range && range->kind == RANGE_ARENA ? range : NULL;
}

static size_t protect(uintptr_t page) {
    struct range *range = arena_at(page);
    return range ? protection_arm_groups(range, (page - range->start) / PAGE_BYTES, 1, PAGE_SHIFT) : 0;
}

static void watch(const struct block *block) {
    uintptr_t page;
    if (!page_to_watch(block, &page) || !first_touches_take())
        return;
    const uint64_t since_ns = system_thread_ns();
    if (looks_early && !arena_at(page))
        heap_look_early();
    const uint64_t mask = lock_take(lock);
    const uint32_t at = atomic_load(&waiting_count);
    const bool fresh = system_is_empty_all(page, PAGE_BYTES);
    if (at < MOST_WAITING && protect(page)) {
        waiting[at] = (struct waiting){page, block->group, block->page, fresh};
        atomic_store(&waiting_count, at + 1);
    } else {
        first_touches_give(false);
    }
    lock_give(lock, mask);
    first_touches_spent(since_ns);
}

static void made(uintptr_t start, size_t bytes, const void *caller, const void *frame) {
    if (!protection_wanted() || !afford())
        return;
    const uint32_t stack = stack_of(caller, frame);
    struct group *g = stack ? group_of(stack, caller) : NULL;
    if (!g)
        return;
    const uint32_t pages = block_pages(bytes), page = atomic_fetch_add(&g->next_page, pages);
    const struct block block = {.start = start, .bytes = bytes, .group = stack, .page = page};
    if (page > UINT32_MAX / 2 || !block_table_add(start, bytes, stack, page))
        return;
    raise(&g->most_pages, page + pages);
    raise(&g->most_bytes, (uint32_t)bytes);
    raise(&g->least_bytes, RANGE_BYTES - (uint32_t)bytes); /* what it is less than RANGE_BYTES */
    const uint32_t live = atomic_fetch_add(&g->live, 1) + 1;
    const uint64_t live_bytes = atomic_fetch_add(&g->live_bytes, bytes) + bytes;
    if (live_bytes > atomic_load_explicit(&g->most_live_bytes, memory_order_relaxed)) {
        atomic_store_explicit(&g->most_live_bytes, live_bytes, memory_order_relaxed);
        atomic_store_explicit(&g->most_live, live, memory_order_relaxed);
    }
    if (is_watched(atomic_fetch_add(&g->made, 1)))
        watch(&block);
}

static bool freed(uintptr_t start) {
    struct block block;
    if (atomic_load_explicit(&rests, memory_order_relaxed) && until_look-- == 0) {
        until_look = FREES_A_LOOK;
        block_groups_look();
    }
    if (!block_table_find(start, &block))
        return false;
    struct group *g = &groups[block.group - 1];
    block_table_live(start, false);
    atomic_fetch_sub(&g->live_bytes, block.bytes);
    if (atomic_fetch_sub(&g->live, 1) == 1)
        atomic_store(&g->next_page, 0);
    return true;
}

static void kept(uintptr_t start) {
    block_table_live(start, true);
    struct block block;
    if (!block_table_find(start, &block))
        return;
    struct group *g = &groups[block.group - 1];
    atomic_fetch_add(&g->live_bytes, block.bytes);
    atomic_fetch_add(&g->live, 1);
}

void block_groups_prepare(struct lock *profile, bool early) {
    lock = profile;
    looks_early = early;
    groups = system_memory(call_stacks_count() * sizeof *groups + 1);
    waiting = system_memory(MOST_WAITING * sizeof *waiting);
    if (!groups || !waiting || !call_stacks_count())
        return;
    block_watch.made = made;
    block_watch.freed = freed;
    block_watch.kept = kept;
}

bool block_group_of(uintptr_t page, uint32_t *number, uint32_t *group_page) {
    struct block owner;
    if (!block_watch.bytes || !block_table_owner(page, false, &owner))
        return false;
    *number = atomic_load(&groups[owner.group - 1].known) - 1;
    *group_page = block_page_at(&owner, page);
    return true;
}

void block_group_touched(const struct touch *touch, uint32_t region) {
    struct block owner;
    if (!block_table_owner(touch->range->start + touch->first * PAGE_BYTES, false, &owner) ||
        !block_table_touch(owner.start))
        return;
    struct group *g = &groups[owner.group - 1];
    const uint32_t at = atomic_fetch_add(&g->firsts, 1);
    if (at >= MOST_BLOCK_FIRSTS)
        return;
    struct first *f = &g->first[at];
    f->slot = (int32_t)touch->slot;
    f->page = owner.page;
    f->pages = block_pages(owner.bytes);
    f->region = region;
    f->access = (uint32_t)touch->access;
    f->stack = call_stack_of_touch(touch);
    atomic_store_explicit(&f->is_there, true, memory_order_release);
}

/* Whether a page goes on waiting: its block was neither freed nor touched. */
static bool waits(const struct waiting *w, bool *was_touched) {
    struct block owner;
    const bool same =
        block_table_owner(w->page, false, &owner) && owner.group == w->group && owner.page == w->group_page;
    *was_touched = same && owner.touched;
    return same && !owner.touched;
}

void block_groups_opened(void) { atomic_store(&opened, true); }

void block_groups_resume(void) {
    uint32_t left = 0;
    if (!atomic_exchange(&opened, false))
        return;
    const uint64_t before = system_thread_ns();
    for (uint32_t n = 0; n < atomic_load(&waiting_count); n++) {
        bool touched;
        const struct waiting w = waiting[n];
        if (!waits(&w, &touched)) {
            first_touches_give(touched);
            continue;
        }
        if (protect(w.page) && w.fresh &&
            !system_is_empty_all(w.page, PAGE_BYTES)) { /* touched while it was open */
            struct range *range = arena_at(w.page);
            protection_disarm(range, protection_block_of(range, (w.page - range->start) / PAGE_BYTES), 1,
                              FOR_FIRST_TOUCH);
            first_touches_give(false);
            continue;
        }
        waiting[left++] = w;
    }
    atomic_store(&waiting_count, left);
    first_touches_spent(before - (system_thread_ns() - before)); /* opening takes as long */
}

void block_groups_count(void) {
    for (uint32_t stack = 0; groups && stack < call_stacks_count(); stack++) {
        struct group *g = &groups[stack];
        struct known_range *k = atomic_load(&g->known) ? known_range(atomic_load(&g->known) - 1) : NULL;
        if (!k)
            continue;
        const uint32_t most = atomic_load(&g->most_bytes), least = RANGE_BYTES - atomic_load(&g->least_bytes);
        k->file.bytes = atomic_load(&g->most_live_bytes);
        k->file.pages = atomic_load(&g->most_pages) ? atomic_load(&g->most_pages) : 1;
        k->file.blocks = atomic_load(&g->most_live);
        k->file.block_bytes = most == least ? most : 0;
    }
}

static int page_order(const struct profile_first *a, const struct profile_first *b) {
    return a->page < b->page ? -1 : a->page > b->page;
}

/* Insertion: they came nearly in this order. */
static void sort(struct profile_first *first, size_t number) {
    for (size_t n = 1; n < number; n++) {
        const struct profile_first held = first[n];
        size_t at = n;
        for (; at > 0 && page_order(&first[at - 1], &held) > 0; at--)
            first[at] = first[at - 1];
        first[at] = held;
    }
}

size_t block_group_firsts(uint32_t known, struct profile_first **firsts) {
    static struct profile_first sorted[MOST_BLOCK_FIRSTS];
    const struct known_range *k = known_range(known);
    const struct group *g = &groups[k->stack - 1];
    size_t number = 0, kept_number = 0;
    for (uint32_t n = 0; n < MOST_BLOCK_FIRSTS && n < atomic_load(&g->firsts); n++) {
        const struct first *f = &g->first[n];
        if (atomic_load_explicit(&f->is_there, memory_order_acquire))
            sorted[number++] = (struct profile_first){.page = f->page,
                                                      .pages = f->pages,
                                                      .touched = f->page,
                                                      .slot = f->slot,
                                                      .stack = f->stack,
                                                      .region = f->region,
                                                      .access = f->access};
    }
    sort(sorted, number);
    for (size_t n = 0; n < number; n++) {
        if (kept_number && sorted[n].page == sorted[kept_number - 1].page)
            continue; /* the blocks began again: the earlier one counts */
        sorted[kept_number++] = sorted[n];
    }
    for (size_t n = 0; n < kept_number; n++) {
        const uint32_t end = n + 1 < kept_number ? sorted[n + 1].page : (uint32_t)k->file.pages;
        sorted[n].pages = end - sorted[n].page;
    }
    *firsts = sorted;
    return kept_number;
}

void block_group_runs(const struct known_range *arena, uint32_t number,
                      void (*put)(const struct profile_owner *run, void *data), void *data) {
    struct profile_owner run = {.range = number};
    for (uintptr_t at = arena->start; block_watch.bytes && at < arena->end; at += PAGE_BYTES) {
        struct block owner;
        const bool owned = block_table_owner(at, true, &owner);
        const uint32_t group = owned ? atomic_load(&groups[owner.group - 1].known) - 1 : 0;
        const uint32_t page = owned ? block_page_at(&owner, at) : 0;
        if (run.pages && owned && group == run.group && page == run.group_page + run.pages) {
            run.pages++;
            continue;
        }
        if (run.pages)
            put(&run, data);
        run.page = (uint32_t)((at - arena->start) / PAGE_BYTES);
        run.group = group;
        run.group_page = page;
        run.pages = owned;
    }
    if (run.pages)
        put(&run, data);
}
