/* pages.c: sets memory policies and moves pages: for the process, and range by range. */
#define _GNU_SOURCE
#include "policy/pages.h"

#include "memory/heap.h"
#include "memory/huge.h"
#include "memory/mapping_budget.h"
#include "policy/block_cuts.h"
#include "policy/early.h"
#include "policy/file_turns.h"
#include "policy/next_touch.h"
#include "policy/page_chunks.h"
#include "policy/plan.h"
#include "process/settings.h"
#include "process/system.h"

/* Each run of pages with its own policy costs a mapping. Beyond this many runs, or if the budget has too few
 * mappings left (mapping_budget.h), pages are moved one by one after they were touched. */
#define MOST_POLICY_RUNS 4096
/* Pages that were absent before the first region were mostly touched before the second. */
#define MOST_MOVES 2

#define BY_ACCESSES(name, word, by_accesses) by_accesses,
static const bool by_accesses[] = {PAGE_POLICIES(BY_ACCESSES)};

static bool have_plan;
static bool kernel_weighs;         /* weighted: the kernel puts new pages by the weights */
static _Atomic uintptr_t heap_end; /* the last page of the heap that has a policy of ours, or 0 */
static _Atomic uint32_t waiting;   /* ranges whose pages are to be moved before the next region */

bool pages_follow_touch(void) {
    return settings()->nodes > 1 && !have_plan && by_accesses[settings()->pages];
}

/* Set the calling thread's policy; return how many nodes the pages that are there already are to go to, and
 * those. */
static size_t process_policy(const struct settings *s, const uint16_t **nodes) {
    /* Pages may stay where they are first touched only if that is a page node. */
    bool at_home = true;
    for (uint32_t slot = 0; slot < s->slots && at_home; slot++)
        at_home = settings_page_node(s, s->home[slot]);
    bool interleaved = !at_home;
    switch (s->pages) {
    case PAGES_INTERLEAVE:
    case PAGES_BALANCE:
        interleaved = true;
        break;
    case PAGES_FIRST_TOUCH:
    case PAGES_BIND:
    case PAGES_REMOTE:
    case PAGES_LOCALITY:
    case PAGES_MIX:
    case PAGES_DATASET:
        break;
    case PAGES_WEIGHTED:
        kernel_weighs = s->nodes > 1 && page_chunks_by_kernel();
        break;
    }
    *nodes = s->node;
    if (kernel_weighs)
        return s->nodes;
    if (s->nodes == 1 || interleaved) {
        system_thread_policy(s->nodes == 1 ? POLICY_PREFERRED : POLICY_INTERLEAVE, s->node, s->nodes);
        return s->nodes;
    }
    system_thread_policy(POLICY_LOCAL, NULL, 0);
    *nodes = s->home; /* the main thread has touched them */
    return 1;
}

void pages_leave(void) { system_thread_policy(POLICY_LOCAL, NULL, 0); }

void pages_come_back(void) {
    const uint16_t *nodes;
    process_policy(settings(), &nodes);
}

void pages_prepare(void) {
    const struct settings *s = settings();
    const uint16_t *nodes;
    const size_t count = process_policy(s, &nodes);
    early_move(nodes, count);
    /* A rank's own node is all that it has: a plan for all ranks would take its pages away. */
    have_plan = plan_has_moves() || (plan_has_ranges() && (s->nodes > 1 || !s->rank.count));
}

bool pages_cut_datasets(void) {
    return !have_plan && settings()->pages == PAGES_DATASET && settings()->nodes > 1;
}

/* Whether every range is cut into chunks. */
static bool cut_into_chunks(const struct settings *s) {
    return !have_plan && s->nodes > 1 &&
           (s->pages == PAGES_DATASET || (s->pages == PAGES_WEIGHTED && !kernel_weighs));
}

static bool cut_by_policies(const struct settings *s) { return have_plan || cut_into_chunks(s); }

bool pages_place_files(void) {
    const struct settings *s = settings();
    return s->nodes == 1 || s->pages == PAGES_INTERLEAVE || s->pages == PAGES_WEIGHTED || cut_by_policies(s);
}

bool pages_need_ranges(void) {
    const struct settings *s = settings();
    return s->profile || s->map || pages_follow_touch() || cut_by_policies(s);
}

static size_t pages_of(const struct range *range) { return (range->end - range->start) / PAGE_BYTES; }

static void place_run(const struct range *range, size_t first, size_t count, uint16_t node) {
    if (count)
        system_range_policy(range->start + first * PAGE_BYTES, count * PAGE_BYTES, POLICY_PREFERRED, &node, 1,
                            true);
}

static void place_runs(const struct range *range, const struct plan_run *run, size_t runs) {
    for (size_t r = 0; r < runs; r++) {
        const size_t from = huge_next(range, run[r].first);
        place_run(range, from, huge_next(range, run[r].first + (size_t)run[r].count) - from, run[r].node);
    }
}

static void place_chunks(const struct range *range) {
    const size_t pages = pages_of(range), chunks = page_chunks(range);
    size_t from = 0;
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        const uint16_t node = page_chunk_node(chunk);
        if (chunk + 1 < chunks && page_chunk_node(chunk + 1) == node)
            continue;
        const size_t to = huge_next(range, page_chunk_start(chunk + 1, pages, chunks));
        place_run(range, from, to - from, node);
        from = to;
    }
}

static uint16_t chunk_node(const struct range *range, size_t page) {
    return page_chunk_node(page_chunk_of(huge_head(range, page), pages_of(range), page_chunks(range)));
}

/* Return how many pieces a plan cuts a range into: runs, and the gaps between them. */
static size_t pieces_of(const struct range *range, const struct plan_run *run, size_t runs) {
    size_t pieces = 0, at = 0;
    for (size_t r = 0; r < runs; r++) {
        pieces += run[r].first > at ? 2 : 1;
        at = run[r].first + (size_t)run[r].count;
    }
    return pieces + (at < pages_of(range));
}

/* mremap takes one mapping. When the policies of its pieces are equal again, the kernel joins them only where
 * their pages have one origin (linux/mm/vma.c: is_mergeable_anon_vma): that of a page from before the cut.
 * The C library's blocks have one, for it has written the block's size. The origin stays when the page is
 * dropped again. It must be dropped: the program may rely on the page's absence (userfaultfd, mincore). A
 * page that is not in the middle of a huge one is the cheapest. */
static void keep_in_one(const struct range *range, const struct settings *s) {
    if (!range->fresh || !(cut_by_policies(s) || pages_follow_touch() || s->profile))
        return;
    const uintptr_t page = range->start % HUGE_BYTES ? range->start : range->end - PAGE_BYTES;
    if (system_is_empty(page) /* not after MAP_POPULATE or mlockall */ &&
        system_populate(page, PAGE_BYTES, true) == 0)
        system_discard(range->start, range->end - range->start);
}

/* Return the runs of a range that is waiting, and their number; NULL if it is not. */
static const struct plan_run *waiting_runs(const struct range *range, size_t *runs) {
    size_t places;
    if (range->kind == RANGE_FILE || range->mappings || range->hinted || range->moves >= MOST_MOVES)
        return NULL;
    if (!have_plan)
        return block_cut_of(range, runs);
    const struct plan_place *place = plan_places(range, &places);
    if (!places || place->number != NO_PLACE)
        return NULL;
    const struct plan_run *run = plan_runs(place, runs);
    return *runs ? run : NULL;
}

void pages_move(const struct range *range, const struct plan_run *run, size_t runs,
                struct page_moves *moves) {
    page_moves_begin(moves);
    for (size_t r = 0; r < runs; r++) {
        const size_t end = huge_next(range, run[r].first + (size_t)run[r].count);
        /* Each page of a block: the kernel need not have made it a huge one. */
        for (size_t p = huge_next(range, run[r].first); p < end; p++)
            page_moves_add(moves, range->start + p * PAGE_BYTES, run[r].node);
    }
    page_moves_flush(moves);
}

/* The allocator gives the heap's end back to the kernel, and its policies with it: seen at the last page. */
static uintptr_t last_page(const struct range *range, const struct plan_run *run, size_t runs) {
    return range->start + (run[runs - 1].first + (size_t)run[runs - 1].count - 1) * PAGE_BYTES;
}

static bool follow_runs(struct range *range, const struct plan_run *run, size_t runs) {
    if (runs && runs <= MOST_POLICY_RUNS && mapping_budget_take(range, pieces_of(range, run, runs))) {
        place_runs(range, run, runs);
        if (range->kind == RANGE_ARENA && last_page(range, run, runs) > heap_end)
            heap_end = last_page(range, run, runs);
        return true;
    }
    waiting += waiting_runs(range, &runs) != NULL;
    return false;
}

static void follow_plan(struct range *range) {
    size_t places, runs;
    const struct plan_place *place = plan_places(range, &places);
    if (!places)
        return;
    const struct plan_run *run = plan_runs(place, &runs);
    if (follow_runs(range, run, runs))
        range->place = place->number == NO_PLACE ? 0 : place->number + 1;
}

static void cut_blocks(struct range *range) {
    size_t runs;
    const struct plan_run *run = block_cut_make(range, &runs);
    if (run)
        follow_runs(range, run, runs);
}

static void cut_again(struct range *range, void *unused) {
    (void)unused;
    size_t runs;
    if (!block_cut_is_old(range))
        return;
    waiting -= waiting_runs(range, &runs) != NULL;
    const bool had = mapping_budget_give_back(range);
    range->moves = 0;
    cut_blocks(range);
    if (had && !range->mappings)
        system_range_policy(range->start, range->end - range->start, POLICY_DEFAULT, NULL, 0, false);
}

void pages_range_added(struct range *range) {
    const struct settings *s = settings();
    if (range->kind == RANGE_FILE) {
        size_t places;
        const struct plan_place *place = have_plan ? plan_places(range, &places) : NULL;
        range->place = place && place->number != NO_PLACE ? place->number + 1 : 0;
        return;
    }
    keep_in_one(range, s);
    if (have_plan) {
        follow_plan(range);
    } else if (cut_into_chunks(s) && range->kind == RANGE_ARENA) {
        cut_blocks(range);
    } else if (cut_into_chunks(s) && mapping_budget_take(range, page_chunk_runs(range))) {
        place_chunks(range);
    }
}

void pages_range_removed(struct range *range) {
    size_t runs;
    if (range->kind == RANGE_FILE) { /* never cut by policies: the kernel's page cache has none */
        mapping_budget_give_back(range);
        return;
    }
    waiting -= waiting_runs(range, &runs) != NULL;
    block_cut_forget(range);
    /* The heap reuses the addresses for other data; and mremap takes only one mapping. */
    heap_changed(range->start);
    if (mapping_budget_give_back(range) && cut_by_policies(settings()))
        system_range_policy(range->start, range->end - range->start, POLICY_DEFAULT, NULL, 0, false);
}

/* The place that a range was put in last, the only one of a range that has no other; NULL where there is
 * none. */
static const struct plan_place *place_of(const struct range *range) {
    size_t places;
    const struct plan_place *place = plan_places(range, &places);
    if (places && place->number == NO_PLACE)
        return place;
    for (size_t n = 0; n < places; n++)
        if (place[n].number + 1 == range->place)
            return &place[n];
    return NULL;
}

/* Return the runs of a range that has policies by them, and their number. */
static const struct plan_run *policy_runs(const struct range *range, size_t *runs) {
    *runs = 0;
    if (!range->mappings)
        return NULL;
    const struct plan_place *place = have_plan ? place_of(range) : NULL;
    return place ? plan_runs(place, runs) : have_plan ? NULL : block_cut_of(range, runs);
}

static void place_again(struct range *range, void *unused) {
    (void)unused;
    size_t runs;
    const struct plan_run *run = range->kind == RANGE_ARENA ? policy_runs(range, &runs) : NULL;
    if (run && runs && system_policy_is_gone(last_page(range, run, runs)))
        place_runs(range, run, runs);
}

static void move_if_waiting(struct range *range, void *unused) {
    (void)unused;
    size_t runs;
    const struct plan_run *run = waiting_runs(range, &runs);
    if (run) {
        struct page_moves moves;
        range->moves++;
        pages_move(range, run, runs, &moves);
        if (range->moves == MOST_MOVES)
            waiting--;
    }
}

void pages_region_begin(void) {
    const bool due = ranges_wanted && pages_cut_datasets() && block_cuts_due();
    if (ranges_wanted && pages_need_ranges()) /* for hints alone, small allocations need none */
        heap_refresh();
    if (heap_end && system_policy_is_gone(heap_end))
        ranges_for_each(place_again, NULL);
    if (due) {
        ranges_for_each(cut_again, NULL);
        block_cuts_done();
    }
    if (waiting)
        ranges_for_each(move_if_waiting, NULL);
}

static int node_in_runs(const struct range *range, size_t page, const struct plan_run *run, size_t runs) {
    page = huge_head(range, page);
    size_t low = 0, high = runs;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (run[middle].first + (size_t)run[middle].count <= page)
            low = middle + 1;
        else
            high = middle;
    }
    return low < runs && run[low].first <= page ? run[low].node : -1;
}

static int planned_node(const struct range *range, size_t page) {
    size_t runs = 0;
    const struct plan_place *place = place_of(range);
    const struct plan_run *run = place ? plan_runs(place, &runs) : NULL;
    return node_in_runs(range, page, run, runs);
}

static int cut_node(const struct range *range, size_t page) {
    size_t runs;
    const struct plan_run *run = block_cut_of(range, &runs);
    return node_in_runs(range, page, run, runs);
}

bool pages_are_kernels(const struct range *range) {
    size_t places = 0;
    const struct plan_place *first = have_plan ? plan_places(range, &places) : NULL;
    if (places && first->number != NO_PLACE && first->number + 1 != range->place)
        return false;
    return !pages_follow_touch() && (!have_plan || atomic_load(&range->mappings));
}

/* The kernel counts anonymous memory by address, and file-backed memory by the place in the file. */
static int kernels_turn(const struct range *range, size_t page, const uint16_t *node, size_t nodes) {
    const bool known = range->kind != RANGE_STATIC && !huge_range(range);
    return known ? node[(range->start / PAGE_BYTES + page) % nodes] : -1;
}

int pages_node(const struct range *range, size_t page) {
    const struct settings *s = settings();
    if (range->hinted)
        return -1;
    const int planned = have_plan ? planned_node(range, page) : -1;
    if (planned < 0 && s->nodes == 1)
        return s->node[0];
    if (have_plan)
        return planned;
    switch (s->pages) {
    case PAGES_INTERLEAVE:
        if (range->kind == RANGE_FILE)
            return file_interleaved(range, page);
        return kernels_turn(range, page, s->node, s->nodes);
    case PAGES_WEIGHTED:
        if (kernel_weighs && range->kind != RANGE_FILE)
            return kernels_turn(range, page, s->chunk, s->chunks);
        /* fallthrough */
    case PAGES_DATASET:
        if (range->kind == RANGE_ARENA)
            return cut_node(range, page);
        if (range->mappings || range->kind == RANGE_FILE)
            return chunk_node(range, page);
        break;
    case PAGES_LOCALITY:
    case PAGES_BALANCE:
    case PAGES_MIX:
        return next_touch_node(range, page);
    case PAGES_FIRST_TOUCH:
    case PAGES_BIND:
    case PAGES_REMOTE:
        break;
    }
    return -1;
}
