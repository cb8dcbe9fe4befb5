/* page_changes.c: batches of move_pages over all ranges. */
#include "adapt/page_changes.h"

#include "memory/huge.h"
#include "policy/next_touch.h"
#include "process/system.h"

#include <stdatomic.h>

#define NOWHERE (-1)
#define FIRST_GUESS_NS 2500.0 /* a page: of what mechanisms cost on two computers, the larger */
#define LEAST_PAGES 1024      /* until which the guess counts */

_Static_assert(PARTS == NEXT_TOUCH_PARTS, "next touch and moves have the same parts");

static const struct column *to;
static uint32_t parts, change = 1;
static uintptr_t at; /* of the range under way, the first address that is not done */
static uint64_t until_ns, moved, timed_pages;
static double timed_ns;
static bool whole;

/* Where the pages of a range were before the first change. */
static int16_t *origin_of(struct range *range) {
    const size_t pages = (range->end - range->start) / PAGE_BYTES;
    int16_t *origin = atomic_load(&range->origin);
    if (origin || !(origin = system_memory(pages * sizeof *origin)))
        return origin;
    void *page[PAGE_MOVES];
    int status[PAGE_MOVES];
    for (size_t first = 0; first < pages; first += PAGE_MOVES) {
        const size_t count = pages - first < PAGE_MOVES ? pages - first : PAGE_MOVES;
        for (size_t n = 0; n < count; n++)
            page[n] = (void *)(range->start + (first + n) * PAGE_BYTES);
        const bool known = system_where(count, page, status) >= 0;
        for (size_t n = 0; n < count; n++)
            origin[first + n] = (int16_t)(known && status[n] >= 0 ? status[n] : NOWHERE);
    }
    atomic_store(&range->origin, origin);
    return origin;
}

static int node_of(struct range *range, size_t page) {
    const size_t head = huge_head(range, page);
    const uintptr_t address = range->start + head * PAGE_BYTES;
    const int16_t *origin = atomic_load(&range->origin);
    switch (to->pages) {
    case PAGES_INTERLEAVE:
        return to->node[address / (huge_range(range) ? HUGE_BYTES : PAGE_BYTES) % to->nodes];
    case PAGES_BIND:
        return to->node[0];
    case PAGES_DATASET:
        return to->chunk[head * to->chunks / ((range->end - range->start) / PAGE_BYTES)];
    case PAGES_FIRST_TOUCH:
        return origin ? origin[page] : NOWHERE;
    case PAGES_REMOTE:
    case PAGES_LOCALITY: /* by next touch */
    case PAGES_BALANCE:
    case PAGES_MIX:
        break;
    }
    return NOWHERE;
}

static void move(struct page_moves *batch) {
    const uint64_t began = system_now_ns();
    const size_t count = batch->count;
    page_moves_flush(batch);
    moved += count;
    timed_pages += count;
    timed_ns += (double)(system_now_ns() - began);
}

static void change_range(struct range *range, void *unused) {
    (void)unused;
    if (!whole || atomic_load(&range->change) == change)
        return;
    if (!origin_of(range)) {
        atomic_store(&range->change, change);
        return;
    }
    struct page_moves batch;
    batch.count = 0;
    if (at < range->start || at >= range->end)
        at = range->start;
    const int16_t *origin = atomic_load(&range->origin);
    for (; at < range->end && whole; at += PAGE_BYTES) {
        const size_t page = (at - range->start) / PAGE_BYTES;
        const uintptr_t block = huge_range(range) ? at & ~(HUGE_BYTES - 1) : at;
        const int node = next_touch_part(block) < parts ? node_of(range, page) : NOWHERE;
        if (node == NOWHERE || (origin[page] == NOWHERE && to->pages == PAGES_FIRST_TOUCH))
            continue;
        page_moves_add(&batch, at, node);
        if (batch.count == PAGE_MOVES) {
            move(&batch);
            whole = system_now_ns() < until_ns;
        }
    }
    move(&batch);
    if (at >= range->end) {
        atomic_store(&range->change, change);
        at = 0;
    }
}

void page_changes_begin(const struct column *column, uint32_t wanted) {
    to = column;
    parts = wanted;
    change++;
    at = 0;
}

bool page_changes_go_on(uint64_t most_ns) {
    whole = true;
    until_ns = system_now_ns() + most_ns;
    ranges_for_each(change_range, NULL);
    return whole;
}

static void count(struct range *range, void *pages) {
    *(uint64_t *)pages += (range->end - range->start) / PAGE_BYTES;
}

uint64_t page_changes_pages(void) {
    uint64_t pages = 0;
    ranges_for_each(count, &pages);
    return pages;
}

double page_changes_page_ns(void) {
    return timed_pages < LEAST_PAGES ? FIRST_GUESS_NS : timed_ns / (double)timed_pages;
}

uint64_t page_changes_moved(void) { return moved; }

void page_changes_forget(struct range *range) {
    int16_t *origin = atomic_exchange(&range->origin, NULL);
    if (origin)
        system_free(origin, (range->end - range->start) / PAGE_BYTES * sizeof *origin);
    atomic_store(&range->change, 0);
}
