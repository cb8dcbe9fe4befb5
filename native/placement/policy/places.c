/* places.c: keeps in mind in which place each array is, so that a region whose arrays stay pays a few loads.
 */
#include "policy/places.h"

#include "policy/pages.h"
#include "policy/plan.h"
#include "process/system.h"

#include <stdatomic.h>
#include <stddef.h>

#define MOST_TRIES                                                                                           \
    2 /* pages that were absent at a first move have mostly been touched before the next instance */

/* A region that wants ranges in some of their places. */
struct wish {
    uint64_t key;
    const uint32_t *want;
    size_t wants;
    _Atomic uint64_t times, pages;
};

bool places_any; /* written before the first region */
static struct wish *wishes;
static size_t wish_count;
/* Of the array that begins in the place of this number: the number + 1 of the place in which all its ranges
 * are, 0 where they may be in several. */
static _Atomic uint32_t now[MOST_PLACES];

void places_prepare(void) {
    size_t count;
    const struct plan_region *given = plan_regions(&count);
    if (!plan_has_moves() || !(wishes = system_memory(count * sizeof *wishes + 1)))
        return;
    for (size_t n = 0; n < count; n++) {
        if (given[n].wants == 0)
            continue;
        wishes[wish_count].key = given[n].key;
        wishes[wish_count].want = given[n].want;
        wishes[wish_count++].wants = given[n].wants;
    }
    places_any = wish_count > 0;
}

void places_after_fork(void) {
    for (size_t n = 0; n < wish_count; n++)
        wishes[n].times = wishes[n].pages = 0;
}

static _Atomic uint32_t *now_of(uint32_t number) { return &now[plan_first_place(number)]; }

void places_range_added(const struct range *range) {
    size_t places;
    const struct plan_place *first = plan_places(range, &places);
    if (places && first->number != NO_PLACE)
        atomic_store(now_of(first->number), 0);
}

/* The plan has few regions. */
static struct wish *wish_of(const struct region *region) {
    for (size_t n = 0; n < wish_count; n++)
        if (wishes[n].key == region->key)
            return &wishes[n];
    return NULL;
}

static bool is_granted(const struct wish *wish) {
    for (size_t n = 0; n < wish->wants; n++)
        if (atomic_load_explicit(now_of(wish->want[n]), memory_order_relaxed) != wish->want[n] + 1)
            return false;
    return true;
}

/* What is done for one instance. */
struct errand {
    const struct wish *wish;
    uint64_t pages;
    bool moved, again;
};

/* Return the place of a range that a region wants, NULL where there is none. */
static const struct plan_place *wanted_place(const struct wish *wish, const struct range *range) {
    size_t places;
    const struct plan_place *place = plan_places(range, &places);
    for (size_t n = 0; n < places; n++)
        for (size_t w = 0; w < wish->wants; w++)
            if (place[n].number == wish->want[w])
                return &place[n];
    return NULL;
}

static void move_if_elsewhere(struct range *range, void *data) {
    struct errand *errand = data;
    struct page_moves moves;
    size_t runs;
    const struct plan_place *place = wanted_place(errand->wish, range);
    if (!place)
        return;
    if (range->place != place->number + 1) {
        range->place = place->number + 1;
        range->tries = MOST_TRIES;
        errand->moved = true;
    }
    if (range->tries == 0)
        return;
    const struct plan_run *run = plan_runs(place, &runs);
    pages_move(range, run, runs, &moves);
    errand->pages += moves.there;
    range->tries = moves.absent ? range->tries - 1 : 0;
    errand->again |= range->tries > 0;
}

void places_region_begin(const struct region *region) {
    struct wish *wish = wish_of(region);
    if (!wish || is_granted(wish))
        return;
    struct errand errand = {.wish = wish};
    for (size_t n = 0; n < wish->wants; n++)
        atomic_store(now_of(wish->want[n]), wish->want[n] + 1);
    ranges_for_each(move_if_elsewhere, &errand);
    /* Another thread that has changed it meanwhile may not have met the ranges that this one looked at. */
    for (size_t n = 0; n < wish->wants; n++)
        if (errand.again || atomic_load(now_of(wish->want[n])) != wish->want[n] + 1)
            atomic_store(now_of(wish->want[n]), 0);
    wish->times += errand.moved;
    wish->pages += errand.pages;
}

void places_for_each(void (*visit)(const struct verified_moves *seen, void *data), void *data) {
    for (size_t n = 0; n < wish_count; n++) {
        const struct verified_moves seen = {
            .key = wishes[n].key, .times = wishes[n].times, .pages = wishes[n].pages};
        visit(&seen, data);
    }
}
