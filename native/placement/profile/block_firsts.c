/* block_firsts.c: watches one page of some blocks of each group. */
#include "profile/block_firsts.h"

#include "blocks/block_groups.h"
#include "blocks/call_stacks.h"
#include "memory/heap.h"
#include "memory/ranges.h"
#include "process/system.h"
#include "profile/first_touches.h"
#include "protection/arming.h"
#include "protection/protection.h"

#define ALL_WATCHED 32u    /* the first ones of a group, and half as many of each doubling */
#define MOST_WAITING 4096u /* pages */
#define PAGE_SHIFT 12u

struct first {
    _Atomic bool is_there;
    int32_t slot;
    uint32_t page, pages, stack, region, access;
};

struct firsts {
    _Atomic uint32_t number;
    struct first *first;
};

struct waiting {
    uintptr_t page;
    uint32_t group, group_page;
    bool fresh; /* it was not there yet */
};

static struct lock *lock;
static bool looks_early;
static struct firsts *groups; /* by call stack */
static struct waiting *waiting;
static _Atomic uint32_t waiting_count;
static atomic_bool opened; /* some that wait may not be protected */

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

static void watch(const struct block *block, uint32_t number) {
    uintptr_t page;
    if (!is_watched(number) || !page_to_watch(block, &page) || !first_touches_take())
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

static uint32_t began(const struct site *site, uint32_t stack) {
    struct firsts *g = &groups[stack - 1];
    if (!g->first)
        g->first = system_memory(MOST_BLOCK_FIRSTS * sizeof *g->first);
    return g->first ? known_add_blocks(site, stack) : 0;
}

void block_firsts_prepare(struct lock *profile, bool early) {
    static const struct block_listener listener = {
        .wanted = protection_wanted, .began = began, .made = watch};
    lock = profile;
    looks_early = early;
    groups = call_stacks_count() ? system_memory(call_stacks_count() * sizeof *groups) : NULL;
    waiting = system_memory(MOST_WAITING * sizeof *waiting);
    if (groups && waiting)
        block_groups_prepare(lock, &listener);
}

void block_group_touched(const struct touch *touch, uint32_t region) {
    struct block owner;
    if (!block_table_owner(touch->range->start + touch->first * PAGE_BYTES, false, &owner) ||
        !block_table_touch(owner.start))
        return;
    struct firsts *g = &groups[owner.group - 1];
    const uint32_t at = atomic_fetch_add(&g->number, 1);
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

void block_firsts_opened(void) { atomic_store(&opened, true); }

void block_firsts_resume(void) {
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
    struct block_group_size size;
    for (uint32_t stack = 1; groups && stack <= call_stacks_count(); stack++) {
        if (!block_group_size(stack, &size))
            continue;
        struct profile_range *file = &known_range(size.number)->file;
        file->bytes = size.bytes;
        file->pages = size.pages ? size.pages : 1;
        file->blocks = size.blocks;
        file->block_bytes = size.block_bytes;
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
    const struct firsts *g = &groups[k->stack - 1];
    size_t number = 0, kept_number = 0;
    for (uint32_t n = 0; n < MOST_BLOCK_FIRSTS && n < atomic_load(&g->number); n++) {
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
    for (uintptr_t at = arena->start; at < arena->end; at += PAGE_BYTES) {
        uint32_t group = 0, page = 0;
        const bool owned = block_group_of(at, true, &group, &page);
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
