/* page_changes.c: batches of move_pages over all ranges, by all threads of a team. */
#include "adapt/page_changes.h"

#include "memory/huge.h"
#include "policy/next_touch.h"
#include "process/system.h"

#include <stdatomic.h>

#define NOWHERE (-1)
#define FIRST_GUESS_NS 2500.0 /* a page: of what mechanisms cost on two computers, the larger */
#define FAULT_PAGES 8         /* a fault costs as much as moving so many pages: 20 us, as in next_touch.c */
#define TRIED 4               /* pages that are moved to know better */
#define LOOKED_AT 256
#define CROWDED 0.9 /* of the pages on one node */
#define MOST_QUEUED 65536u
#define MOST_HELP                                                                                            \
    2 /* threads move so many times as many pages as one, before it is known: they share locks */

_Static_assert(PARTS == NEXT_TOUCH_PARTS, "next touch and moves have the same parts");

static const struct column *to;
static uint32_t first_part, end_part, change = 1;
static uintptr_t at; /* of the range under way, the first address that is not done */
static uint64_t moved, timed_pages, team_pages;
static double timed_ns, team_ns; /* of one thread that moves pages, and of teams */
static bool whole;
static struct {
    void **page;
    int *node;
    uint32_t count, most;
    _Atomic uint32_t taken;
    _Atomic uint64_t longest_ns; /* that a thread has helped */
} queue;

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
    case PAGES_LOCALITY:
    case PAGES_BALANCE:
    case PAGES_MIX:      /* by next touch */
    case PAGES_WEIGHTED: /* in no table */
        break;
    }
    return NOWHERE;
}

static void change_range(struct range *range, void *unused) {
    (void)unused;
    if (!whole || atomic_load(&range->change) == change)
        return;
    if (!origin_of(range)) {
        atomic_store(&range->change, change);
        return;
    }
    if (at < range->start || at >= range->end)
        at = range->start;
    const int16_t *origin = atomic_load(&range->origin);
    for (; at < range->end && whole; at += PAGE_BYTES) {
        const size_t page = (at - range->start) / PAGE_BYTES;
        const uintptr_t block = huge_range(range) ? at & ~(HUGE_BYTES - 1) : at;
        const uint32_t part = next_touch_part(range, block);
        const int node = part >= first_part && part < end_part ? node_of(range, page) : NOWHERE;
        if (node == NOWHERE || (origin[page] == NOWHERE && to->pages == PAGES_FIRST_TOUCH))
            continue;
        queue.page[queue.count] = (void *)at;
        queue.node[queue.count++] = node;
        whole = queue.count < queue.most;
    }
    if (at >= range->end) {
        atomic_store(&range->change, change);
        at = 0;
    }
}

void page_changes_begin(const struct column *column, uint32_t first, uint32_t end) {
    to = column;
    first_part = first;
    end_part = end;
    change++;
    at = 0;
}

static double page_ns(uint32_t team) {
    if (team_pages)
        return team_ns / (double)team_pages;
    return (timed_pages ? timed_ns / (double)timed_pages : FIRST_GUESS_NS) / (team < 1           ? 1
                                                                              : team < MOST_HELP ? team
                                                                                                 : MOST_HELP);
}

bool page_changes_go_on(uint64_t most_ns, uint32_t team) {
    if (!queue.page) {
        queue.page = system_memory(MOST_QUEUED * sizeof *queue.page);
        queue.node = system_memory(MOST_QUEUED * sizeof *queue.node);
    }
    if (!queue.page || !queue.node)
        return true;
    const double pages = (double)most_ns / page_ns(team);
    queue.most = pages < PAGE_MOVES ? PAGE_MOVES : pages > MOST_QUEUED ? MOST_QUEUED : (uint32_t)pages;
    atomic_store(&queue.taken, MOST_QUEUED); /* by nobody yet */
    queue.count = 0;
    whole = true;
    ranges_for_each(change_range, NULL);
    atomic_store(&queue.longest_ns, 0);
    atomic_store(&queue.taken, 0);
    return whole;
}

void page_changes_help(void) {
    if (atomic_load_explicit(&queue.taken, memory_order_relaxed) >= queue.count)
        return;
    const uint64_t began = system_now_ns();
    int status[PAGE_MOVES];
    uint32_t first;
    while ((first = atomic_fetch_add(&queue.taken, PAGE_MOVES)) < queue.count) {
        const uint32_t left = queue.count - first;
        system_move_pages(left < PAGE_MOVES ? left : PAGE_MOVES, queue.page + first, queue.node + first,
                          status);
    }
    const uint64_t took = system_now_ns() - began;
    uint64_t had = atomic_load(&queue.longest_ns);
    while (took > had && !atomic_compare_exchange_weak(&queue.longest_ns, &had, took)) {
    }
}

double page_changes_end(void) {
    if (queue.count == 0)
        return 0;
    page_changes_help();
    const double took = (double)atomic_load(&queue.longest_ns);
    moved += queue.count;
    team_pages += queue.count;
    team_ns += took;
    queue.count = 0;
    return took;
}

/* ---- a look ---- */

struct look {
    size_t pages, seen, on[MOST_NODES];
    struct range *largest;
};

static void find_largest(struct range *range, void *data) {
    struct look *look = data;
    look->pages += (range->end - range->start) / PAGE_BYTES;
    if (!look->largest || range->end - range->start > look->largest->end - look->largest->start)
        look->largest = range;
}

/* Of each range as many pages as are its part of all. */
static void look_at(struct range *range, void *data) {
    struct look *look = data;
    const size_t pages = (range->end - range->start) / PAGE_BYTES;
    const size_t count = pages * LOOKED_AT / look->pages + 1;
    void *page[LOOKED_AT + 1];
    int status[LOOKED_AT + 1];
    for (size_t n = 0; n < count; n++)
        page[n] = (void *)(range->start + (pages - 1) * n / count * PAGE_BYTES);
    if (system_where(count, page, status) < 0)
        return;
    for (size_t n = 0; n < count; n++)
        if (status[n] >= 0 && status[n] < MOST_NODES) {
            look->seen++;
            look->on[status[n]]++;
        }
}

static void move_there_and_back(struct range *range) {
    const struct settings *s = settings();
    const size_t pages = (range->end - range->start) / PAGE_BYTES, count = pages < TRIED ? pages : TRIED;
    void *page[TRIED];
    int was[TRIED], there[TRIED], status[TRIED];
    for (size_t n = 0; n < count; n++)
        page[n] = (void *)(range->start + n * PAGE_BYTES);
    if (s->nodes < 2 || huge_range(range) || system_where(count, page, was) < 0)
        return;
    for (size_t n = 0; n < count; n++) {
        if (was[n] < 0)
            return;
        there[n] = s->node[s->node[0] == was[n]];
    }
    const uint64_t began = system_now_ns();
    system_move_pages(count, page, there, status);
    system_move_pages(count, page, was, status);
    timed_pages += 2 * count;
    timed_ns += (double)(system_now_ns() - began);
}

bool page_changes_look(void) {
    struct look look = {.pages = 0};
    ranges_for_each(find_largest, &look);
    if (!look.largest)
        return false;
    move_there_and_back(look.largest);
    ranges_for_each(look_at, &look);
    size_t most = 0;
    for (size_t n = 0; n < MOST_NODES; n++)
        most = look.on[n] > most ? look.on[n] : most;
    return look.seen && (double)most >= CROWDED * (double)look.seen;
}

struct amount {
    uint64_t pages, faults;
};

static void count(struct range *range, void *data) {
    struct amount *all = data;
    all->pages += (range->end - range->start) / PAGE_BYTES;
    all->faults += next_touch_faults(range);
}

double page_changes_all_ns(uint32_t team, bool by_touch) {
    struct amount all = {0};
    ranges_for_each(count, &all);
    return page_ns(team) * ((double)all.pages + (by_touch ? FAULT_PAGES * (double)all.faults : 0));
}

uint64_t page_changes_moved(void) { return moved; }

void page_changes_forget(struct range *range) {
    int16_t *origin = atomic_exchange(&range->origin, NULL);
    if (origin)
        system_free(origin, (range->end - range->start) / PAGE_BYTES * sizeof *origin);
    atomic_store(&range->change, 0);
}
