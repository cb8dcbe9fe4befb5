/* block_groups.c: notes each block with its group. */
#include "blocks/block_groups.h"

#include "../regions/export.h"
#include "blocks/call_stacks.h"
#include "blocks/placed_stacks.h"
#include "memory/block_watch.h"
#include "memory/range.h"
#include "process/system.h"

#define START_NS 10000000u
#define SHARE 33u          /* of the time since the first block */
#define NOTED_NS 20u       /* as measured, to note a block, or that it is freed */
#define TURN_BLOCKS 512u   /* between two looks at the clock */
#define FREES_A_LOOK 1024u /* while nothing is noted */
#define WALKS_NS 5000000u  /* to name groups, each by one walk of the stack, besides 1% of the time */
#define FREE_WALKS 64u     /* the first ones, however long they take */
#define WALKS_SHARE 100u

struct group {
    _Atomic uint32_t known; /* its number + 1 */
    _Atomic uint32_t made, live, most_live;
    _Atomic uint32_t next_page, most_pages, turns;
    _Atomic uint32_t least_bytes, most_bytes; /* of a block */
    _Atomic uint64_t live_bytes, most_live_bytes;
};

static struct lock *lock;
static const struct block_listener *listener;
static struct group *groups; /* by call stack */
static _Atomic uint64_t began_ns, spent_ns, walked_ns;
static _Atomic uint32_t walks;
static atomic_bool rests; /* no blocks are noted, for want of time */
static atomic_bool changed;
static _Atomic uint32_t live_groups;    /* that have a live block */
static _Atomic uintptr_t watched_bytes; /* block_watch.bytes, while that is 0 */

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

/* Where no block is known, none has to be looked at when it is freed, either. */
static void rest(void) {
    atomic_store(&rests, true);
    atomic_store_explicit(&block_watch.least, RANGE_BYTES, memory_order_relaxed);
    if (!atomic_load(&live_groups) && atomic_load(&block_watch.bytes)) {
        atomic_store(&watched_bytes, atomic_load(&block_watch.bytes));
        atomic_store(&block_watch.bytes, 0);
    }
}

static bool afford(void) {
    if (left == 0) {
        if (!listener->whole && !is_cheap()) {
            rest();
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
    if (atomic_load(&watched_bytes))
        atomic_store(&block_watch.bytes, atomic_load(&watched_bytes));
    atomic_store_explicit(&block_watch.least, BLOCK_BYTES, memory_order_relaxed);
}

static uint32_t stack_of(const void *caller, const void *frame) {
    const uint32_t known = placed_stack_known(caller, frame);
    if (known)
        return known;
    const struct site *site = site_of(caller);
    if (!site || site->outside ||
        (!listener->whole && atomic_load(&walks) >= FREE_WALKS &&
         atomic_load(&walked_ns) >= WALKS_NS + elapsed_ns() / WALKS_SHARE))
        return 0;
    atomic_fetch_add(&walks, 1);
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
    if (!atomic_load(&g->known) && site)
        atomic_store_explicit(&g->known, listener->began(site, stack), memory_order_release);
    lock_give(lock, mask);
    return atomic_load(&g->known) ? g : NULL;
}

static void raise(_Atomic uint32_t *most, uint32_t value) {
    if (atomic_load_explicit(most, memory_order_relaxed) < value)
        atomic_store_explicit(most, value, memory_order_relaxed);
}

/* Return how many live now. */
static uint32_t begin_to_live(struct group *g) {
    const uint32_t live = atomic_fetch_add(&g->live, 1) + 1;
    if (live == 1)
        atomic_fetch_add(&live_groups, 1);
    return live;
}

static void note_change(void) {
    if (!atomic_load_explicit(&changed, memory_order_relaxed))
        atomic_store_explicit(&changed, true, memory_order_relaxed);
}

static void made(uintptr_t start, size_t bytes, const void *caller, const void *frame) {
    if (!listener->wanted() || !afford())
        return;
    const uint32_t stack = stack_of(caller, frame);
    struct group *g = stack ? group_of(stack, caller) : NULL;
    if (!g)
        return;
    const uint32_t pages = block_pages(bytes), page = atomic_fetch_add(&g->next_page, pages);
    const struct block block = {.start = start, .bytes = bytes, .group = stack, .page = page};
    if (page > UINT32_MAX / 2 || !block_table_add(start, bytes, stack, page))
        return;
    atomic_fetch_add_explicit(&g->turns, page == 0, memory_order_relaxed);
    if (page == 0 || page + pages > atomic_load_explicit(&g->most_pages, memory_order_relaxed))
        note_change();
    raise(&g->most_pages, page + pages);
    raise(&g->most_bytes, (uint32_t)bytes);
    raise(&g->least_bytes, RANGE_BYTES - (uint32_t)bytes); /* what it is less than RANGE_BYTES */
    const uint32_t live = begin_to_live(g);
    const uint64_t live_bytes = atomic_fetch_add(&g->live_bytes, bytes) + bytes;
    if (live_bytes > atomic_load_explicit(&g->most_live_bytes, memory_order_relaxed)) {
        atomic_store_explicit(&g->most_live_bytes, live_bytes, memory_order_relaxed);
        atomic_store_explicit(&g->most_live, live, memory_order_relaxed);
    }
    const uint32_t number = atomic_fetch_add(&g->made, 1);
    if (listener->made)
        listener->made(&block, number);
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
    if (left > 0)
        left--;
    else
        atomic_fetch_add(&spent_ns, NOTED_NS);
    block_table_live(start, false);
    atomic_fetch_sub(&g->live_bytes, block.bytes);
    if (atomic_fetch_sub(&g->live, 1) == 1) {
        atomic_fetch_sub(&live_groups, 1);
        atomic_store(&g->next_page, 0);
    }
    return true;
}

static void kept(uintptr_t start) {
    block_table_live(start, true);
    struct block block;
    if (!block_table_find(start, &block))
        return;
    struct group *g = &groups[block.group - 1];
    atomic_fetch_add(&g->live_bytes, block.bytes);
    begin_to_live(g);
}

void block_groups_prepare(struct lock *groups_lock, const struct block_listener *groups_listener) {
    lock = groups_lock;
    listener = groups_listener;
    groups = call_stacks_count() ? system_memory(call_stacks_count() * sizeof *groups) : NULL;
    if (!groups)
        return;
    block_watch.made = made;
    block_watch.freed = freed;
    block_watch.kept = kept;
}

bool block_group_of(uintptr_t page, bool freed, uint32_t *number, uint32_t *group_page) {
    struct block owner;
    if (!groups || !block_table_owner(page, freed, &owner))
        return false;
    *number = atomic_load(&groups[owner.group - 1].known) - 1;
    *group_page = block_page_at(&owner, page);
    return true;
}

bool block_group_size(uint32_t stack, struct block_group_size *size) {
    const struct group *g = groups ? &groups[stack - 1] : NULL;
    if (!g || !atomic_load(&g->known))
        return false;
    const uint32_t most = atomic_load(&g->most_bytes), least = RANGE_BYTES - atomic_load(&g->least_bytes);
    *size = (struct block_group_size){.number = atomic_load(&g->known) - 1,
                                      .bytes = atomic_load(&g->most_live_bytes),
                                      .pages = atomic_load(&g->most_pages),
                                      .turns = atomic_load(&g->turns),
                                      .blocks = atomic_load(&g->most_live),
                                      .block_bytes = most == least ? most : 0};
    return true;
}

bool block_groups_changed(void) {
    return atomic_load_explicit(&changed, memory_order_relaxed) && atomic_exchange(&changed, false);
}
