/* hint_touches.c: marks of memory, and the touches of it. */
#define _GNU_SOURCE
#include "hints/hint_touches.h"

#include "../regions/export.h"
#include "hints/hinted_teams.h"
#include "memory/mapping_budget.h"
#include "policy/moves.h"
#include "process/lock.h"
#include "process/other_threads.h"
#include "process/settings.h"
#include "process/system.h"
#include "process/thread_slot.h"
#include "protection/arming.h"
#include "protection/blocks.h"
#include "protection/protection.h"
#include "protection/stacks.h"

#define MOST_MARKS 256
#define MOST_BLOCKS 1024 /* of a range */

static struct mark {
    _Atomic uintptr_t start, end; /* empty where they are the same */
    _Atomic enum touch_hint hint;
    atomic_bool attached;
} marks[MOST_MARKS];
static _Atomic uint32_t used;
static struct lock lock;
static THREAD_LOCAL bool touched;
static THREAD_LOCAL uint32_t slot_then;

static struct mark *mark_at(uintptr_t address) {
    for (uint32_t n = 0; n < used; n++)
        if (address >= marks[n].start && address < marks[n].end)
            return &marks[n];
    return NULL;
}

/* Pages that were never touched are on the thread's node by first touch. */
static void leave(uintptr_t start, size_t pages) {
    (void)start;
    (void)pages;
}

/* All blocks of a mark: it is attached now. */
static void open(struct range *range, const struct mark *mark) {
    struct record *r = record_of(range);
    const size_t first = block_of(r, mark->start), last = block_of(r, mark->end - 1);
    blocks_open(r, first, last - first + 1, 1u << FOR_HINT, NULL);
}

static void on_touch(const struct touch *touch) {
    const uintptr_t start = touch->range->start + touch->first * PAGE_BYTES;
    struct mark *mark = mark_at(start);
    if (!mark)
        return;
    if (mark->hint == HINT_ATTACH) {
        if (atomic_exchange(&mark->attached, true))
            return;
        attachment_add((struct pages){mark->start, mark->end}, hinted_thread());
        open(touch->range, mark);
        return;
    }
    const uint32_t bound = slot_bound();
    const int node = bound == NO_SLOT ? system_node() : settings()->home[bound];
    if (node < 0)
        return;
    touched = true;
    slot_then = bound == NO_SLOT ? 0 : bound;
    moves_add(slot_then, start, touch->pages, (uint16_t)node, leave);
}

void hint_touches_flush(void) {
    if (!touched)
        return;
    touched = false;
    moves_flush_slot(slot_then, leave);
}

/* A thread that blocks SIGSEGV since before would be killed by its first touch. */
static bool prepared(void) {
    static _Atomic enum { NOT_YET, YES, NO } state;
    if (state == NOT_YET) {
        const bool can = protection_wanted() || system_is_single() || !other_threads_block_faults();
        if (can)
            protection_prepare(FOR_HINT, on_touch);
        state = can ? YES : NO;
    }
    stack_prepare();
    return state == YES && protection_wanted();
}

/* Protect the whole blocks inside; return how many. */
static size_t arm(struct range *range, struct pages pages) {
    const uintptr_t start = pages.start > range->start ? pages.start : range->start;
    const uintptr_t end = pages.end < range->end ? pages.end : range->end;
    const size_t all = (range->end - range->start) / PAGE_BYTES;
    protection_coarsen(range, all / MOST_BLOCKS);
    const size_t blocks = protection_blocks(range);
    if (blocks == 0 || (!range->mappings && !mapping_budget_take(range, blocks)))
        return 0;
    size_t first = protection_block_of(range, (start - range->start) / PAGE_BYTES);
    size_t last = protection_block_of(range, (end - range->start) / PAGE_BYTES - 1), count;
    if (protection_block_first(range, first, &count) < (start - range->start) / PAGE_BYTES)
        first++;
    if (protection_block_first(range, last, &count) + count > (end - range->start) / PAGE_BYTES) {
        if (last == first)
            return 0;
        last--;
    }
    if (last < first)
        return 0;
    protection_disarm(range, first, last - first + 1, FOR_HINT); /* marked before */
    return protection_arm(range, first, last - first + 1, FOR_HINT);
}

/* Under the lock. */
static struct mark *free_mark(void) {
    uint32_t n = 0;
    while (n < used && marks[n].start != marks[n].end)
        n++;
    if (n == MOST_MARKS)
        return NULL;
    used += n == used;
    return &marks[n];
}

bool hint_touches_mark(enum touch_hint hint, struct pages pages) {
    if (!prepared())
        return false;
    hint_touches_flush();
    hint_touches_forget(pages.start, pages.end);
    const uint64_t mask = lock_take(&lock);
    struct mark *mark = free_mark();
    if (mark) {
        mark->hint = hint;
        mark->attached = false;
        mark->end = pages.end;
        mark->start = pages.start;
    }
    lock_give(&lock, mask);
    size_t armed = 0;
    for (uintptr_t at = pages.start; mark && at < pages.end;) {
        struct range *range = ranges_find(at);
        armed += range && range->kind != RANGE_FILE ? arm(range, pages) : 0;
        at = range && range->end > at ? range->end : at + RANGE_BYTES / 2;
    }
    if (mark && !armed)
        mark->end = (uintptr_t)mark->start;
    return armed > 0;
}

void hint_touches_forget(uintptr_t start, uintptr_t end) {
    for (uint32_t n = 0; n < used; n++)
        if (marks[n].start < end && marks[n].end > start)
            marks[n].end = (uintptr_t)marks[n].start;
}

void hint_touches_after_fork(void) { lock = (struct lock){0}; }
