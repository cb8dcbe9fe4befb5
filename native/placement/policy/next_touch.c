/* next_touch.c: passes in which each block of pages moves to a node chosen by the thread that touches it.
 *
 * A pass protects all blocks and opens each at its first touch: one fault for each block and pass. A block's
 * decision is kept in its note, so that a later pass protects only blocks whose node may still change. */
#include "policy/next_touch.h"

#include "memory/mapping_budget.h"
#include "policy/moves.h"
#include "process/lock.h"
#include "process/settings.h"
#include "process/system.h"
#include "process/thread_slot.h"
#include "protection/arming.h"
#include "protection/protection.h"

#include <stdatomic.h>
#include <string.h>

/* The decision for a block, in its note: node and home have 10 bits each (MOST_NODES). */
#define DECIDED 1u
#define SHARED 2u /* mix: slots of several homes touched it */
#define ABSENT 4u /* a page of it was not there yet when it was to be moved */
#define LEAD 16   /* blocks */
/* Most time for observing later allocations: this much, plus this part of the time since the first region. */
#define LATE_NS 500000000u
#define LATE_PART 20
#define TOUCH_NS 20000 /* assumed, for a thread: signal, system call, and its part of moving a page */
#define NODE_AT 10
#define HOME_AT 20
#define NODE_OF(note) ((note) >> NODE_AT & 1023u)
#define HOME_OF(note) ((note) >> HOME_AT & 1023u)

static bool prepared;
static _Atomic enum page_policy policy;                 /* the settings', or what was asked for */
static _Atomic(const struct region_call *) owner;       /* the region of the running pass */
static _Atomic uint64_t began_ns;                       /* when it began */
static _Atomic bool were_alone;                         /* an earlier one had a single thread */
static _Atomic uint32_t from, parts = NEXT_TOUCH_PARTS; /* blocks that are observed; `parts` 0: none */
static struct lock lock;                                /* protects the variables below */
static struct {
    _Atomic(void *) function;
    _Atomic uint32_t passes;
} done[PASSES];
static _Atomic uint32_t regions, passes;
static _Atomic uint32_t newcomers; /* ranges that were not yet touched in enough passes */
static _Atomic uint32_t pass;      /* number of the running or last pass */
static bool late;                  /* whether the pass is for new ranges only */
static _Atomic uint32_t touches;   /* in it */
static _Atomic uint64_t first_ns, spent_ns;
static _Atomic uint64_t balanced_pages[MOST_NODES]; /* by index of the page node */

/* ---- a touch ---- */

/* The page node with the fewest pages. While no node is far ahead, a range's blocks are distributed round
 * robin, so that each range is spread evenly, not only the sum of all ranges. */
static uint16_t fewest(const struct settings *s, const struct touch *touch) {
    const uint32_t turn = (uint32_t)(touch->first / touch->pages % s->nodes);
    /* The counts may change while they are compared: then the exchange fails and the loop repeats. */
    for (;;) {
        uint32_t best = turn;
        for (uint32_t n = 0; n < s->nodes; n++)
            if (atomic_load(&balanced_pages[n]) + LEAD * touch->pages < atomic_load(&balanced_pages[turn]) &&
                atomic_load(&balanced_pages[n]) < atomic_load(&balanced_pages[best]))
                best = n;
        uint64_t had = atomic_load(&balanced_pages[best]);
        if (atomic_compare_exchange_weak(&balanced_pages[best], &had, had + touch->pages))
            return s->node[best];
    }
}

static uint32_t noted(uint16_t node, uint16_t home, uint32_t flags) {
    return DECIDED | flags | (uint32_t)node << NODE_AT | (uint32_t)home << HOME_AT;
}

/* The flag of a note with which no touch changes the block's node any more; 0 if there is none. */
static uint32_t final_flag(void) {
    switch ((enum page_policy)policy) {
    case PAGES_LOCALITY:
        return 0;
    case PAGES_BALANCE: /* it counts pages, not users: a block that a second touch moves would count twice */
        return DECIDED;
    case PAGES_MIX: /* a shared block stays: moving it to one user takes it from another */
        return SHARED;
    case PAGES_FIRST_TOUCH:
    case PAGES_BIND:
    case PAGES_REMOTE:
    case PAGES_INTERLEAVE:
    case PAGES_DATASET:
    case PAGES_WEIGHTED: /* not by next touch */
        break;
    }
    return DECIDED;
}

/* Return the block's new note, or the old one if the block stays. */
static uint32_t decide(const struct settings *s, uint32_t note, uint16_t home, const struct touch *touch) {
    if (note & (final_flag() | SHARED))
        return note;
    if (policy == PAGES_BALANCE)
        return noted(fewest(s, touch), home, 0);
    if (!(note & DECIDED)) /* with fewer page nodes than thread nodes, a home may not be a page node */
        return settings_page_node(s, home) ? noted(home, home, 0) : noted(fewest(s, touch), home, SHARED);
    if (HOME_OF(note) == home)
        return note;
    return policy == PAGES_MIX ? noted(fewest(s, touch), home, SHARED) : noted(home, home, 0);
}

/* Notes are kept for the finest blocks, so that they survive a coarsening: a touch may cover several. */
static void note_all(const struct range *range, size_t first, size_t pages, uint32_t note) {
    _Atomic uint32_t *word = protection_note(range, first);
    _Atomic uint32_t *last = protection_note(range, first + pages - 1);
    for (; word && word <= last; word++)
        atomic_store(word, note);
}

static void note_absent(uintptr_t start, size_t pages) {
    struct range *range = ranges_find(start);
    if (!range || start < range->start)
        return;
    const size_t first = (start - range->start) / PAGE_BYTES;
    _Atomic uint32_t *word = protection_note(range, first);
    if (word)
        note_all(range, first, pages, atomic_load(word) | ABSENT);
}

static void on_touch(const struct touch *touch) {
    const struct settings *s = settings();
    /* A fault that arrives after its pass has ended decides nothing. */
    if (!atomic_load(&owner) || touch->slot >= s->slots)
        return;
    _Atomic uint32_t *word = protection_note(touch->range, touch->first);
    if (!word)
        return;
    atomic_store(&touch->range->pass, atomic_load(&pass));
    atomic_fetch_add(&touches, 1);
    /* No two threads come here for one block at a time: its state is OPENING until this call returns. */
    const uint32_t old = atomic_load(word), note = decide(s, old, s->home[touch->slot], touch);
    if (note == old)
        return;
    note_all(touch->range, touch->first, touch->pages, note);
    moves_add(touch->slot, touch->range->start + touch->first * PAGE_BYTES, touch->pages,
              (uint16_t)NODE_OF(note), note_absent);
}

void next_touch_prepare(void) {
    protection_prepare(FOR_NEXT_TOUCH, on_touch);
    prepared = true;
    policy = settings()->pages;
    if (settings()->adapt)
        next_touch_ask(policy, 0, 0);
}

int next_touch_node(const struct range *range, size_t page) {
    const _Atomic uint32_t *word = prepared ? protection_note(range, page) : NULL;
    const uint32_t note = word ? atomic_load((_Atomic uint32_t *)word) : 0;
    return note & DECIDED ? (int)NODE_OF(note) : -1;
}

/* ---- ranges ---- */

static uint32_t looks_wanted(void) { return policy == PAGES_MIX ? 2 : 1; }

static bool is_newcomer(const struct range *range) { return atomic_load(&range->looks) < looks_wanted(); }

void next_touch_range_added(struct range *range) {
    atomic_store(&range->looks, prepared ? 0 : 2); /* the first pass is for all ranges, under each policy */
    atomic_store(&range->waits, 0);
    atomic_store(&range->pass, 0);
    if (prepared)
        atomic_fetch_add(&newcomers, 1);
}

static void settle(struct range *range, uint32_t looks) {
    const bool was = is_newcomer(range);
    atomic_store(&range->looks, looks);
    if (was && !is_newcomer(range))
        atomic_fetch_sub(&newcomers, 1);
}

void next_touch_range_removed(struct range *range) {
    if (prepared)
        settle(range, looks_wanted());
}

/* ---- a pass ---- */

struct extent {
    size_t ranges, pages;
};

static void measure(struct range *range, void *data) {
    struct extent *all = data;
    all->ranges++;
    all->pages += (range->end - range->start) / PAGE_BYTES;
}

/* Return the smallest block, in pages, that fits the mapping budget in the worst case, when every other block
 * is open. A range has up to two blocks more than its pages fill, and one piece more than blocks. */
static size_t block_pages(const struct extent *all) {
    const size_t most = mapping_budget_total(), ends = 3 * all->ranges;
    return all->pages / (ends < most / 2 ? most - ends : most / 2 + 1) + 1;
}

/* Whether a touch of the block could change its node. */
static bool open_question(struct range *range, size_t block) {
    size_t pages;
    const _Atomic uint32_t *word = protection_note(range, protection_block_first(range, block, &pages));
    const uint32_t note = word ? atomic_load((_Atomic uint32_t *)word) : 0;
    const uintptr_t at = range->start + protection_block_first(range, block, &pages) * PAGE_BYTES;
    const uint32_t part = next_touch_part(range, at);
    return !(note & final_flag()) && part >= atomic_load(&from) && part < atomic_load(&parts);
}

/* `data`: the smallest block, in pages. */
static void arm(struct range *range, void *data) {
    if ((late && !is_newcomer(range)) || range->hinted)
        return;
    protection_coarsen(range, *(const size_t *)data);
    if (settings()->adapt)
        protection_coarsen_to(range, NEXT_TOUCH_BLOCKS, NEXT_TOUCH_PAGES); /* next_touch_part */
    const size_t blocks = protection_blocks(range);
    if (blocks == 0 || !mapping_budget_take(range, blocks))
        return;
    for (size_t b = 0; b < blocks; b++) {
        size_t n = 0;
        while (b + n < blocks && open_question(range, b + n))
            n++;
        if (n)
            protection_arm(range, b, n, FOR_NEXT_TOUCH);
        b += n;
    }
}

/* `data`: whether the region had a single thread, which shows nothing of who uses a range. */
static void disarm(struct range *range, void *data) {
    const bool *alone = data;
    if ((late && !is_newcomer(range)) || range->hinted)
        return;
    protection_disarm(range, 0, SIZE_MAX, FOR_NEXT_TOUCH);
    mapping_budget_give_back(range);
    if (!is_newcomer(range))
        return;
    if (atomic_load(&range->pass) == atomic_load(&pass))
        settle(range, atomic_load(&range->looks) + 1);
    else if (!*alone && atomic_fetch_add(&range->waits, 1) + 1 == MOST_WAITS)
        settle(range, looks_wanted());
}

/* Return the region's index in `done`, or PASSES if no instance of it was counted yet. */
static uint32_t place_of(const void *function) {
    const uint32_t known = atomic_load(&regions);
    for (uint32_t n = 0; n < known; n++)
        if (atomic_load(&done[n].function) == function)
            return n;
    return PASSES;
}

static bool is_due(const struct region_call *call) {
    if (atomic_load(&passes) >= PASSES)
        return false;
    const uint32_t place = place_of(call->function);
    return place == PASSES || atomic_load(&done[place].passes) < looks_wanted();
}

/* Whether what comes beside the passes was cheap so far. */
static bool is_cheap(void) {
    return atomic_load(&spent_ns) < LATE_NS + (system_now_ns() - atomic_load(&first_ns)) / LATE_PART;
}

/* Whether there are new ranges, and observing new ranges was cheap so far. */
static bool is_late_due(void) {
    return atomic_load_explicit(&newcomers, memory_order_relaxed) && atomic_load(&passes) && is_cheap();
}

/* Count the instance, under the lock. */
static void count_pass(const struct region_call *call) {
    uint32_t place = place_of(call->function);
    if (place == PASSES) {
        place = atomic_load(&regions);
        atomic_store(&done[place].function, call->function);
        atomic_store(&regions, place + 1);
    }
    atomic_fetch_add(&done[place].passes, 1);
    atomic_fetch_add(&passes, 1);
}

/* The instance decided nothing: another one may be the pass. */
static void uncount_pass(const struct region_call *call) {
    atomic_fetch_sub(&done[place_of(call->function)].passes, 1);
    atomic_fetch_sub(&passes, 1);
}

void next_touch_region_begin(struct region_call *call) {
    if (!prepared || !atomic_load(&parts) || !protection_wanted() || atomic_load(&owner))
        return;
    const bool due = is_due(call) && (!atomic_load(&were_alone) || is_cheap());
    if (!due && (settings()->adapt || !is_late_due()))
        return;
    struct extent all = {0};
    ranges_for_each(measure, &all);
    if (all.pages == 0)
        return;
    /* Several threads may begin regions at once, but one pass runs at a time: check again under the lock. */
    const uint64_t began = system_now_ns(), mask = lock_take(&lock);
    const bool mine = !atomic_load(&owner) && (!due || is_due(call));
    if (mine) {
        if (due)
            count_pass(call);
        late = !due;
        atomic_fetch_add(&pass, 1);
        atomic_store(&touches, 0);
        uint64_t none = 0;
        atomic_compare_exchange_strong(&first_ns, &none, began);
        atomic_store(&began_ns, began);
        atomic_store(&owner, call);
    }
    lock_give(&lock, mask);
    if (!mine)
        return;
    size_t block = block_pages(&all);
    ranges_for_each(arm, &block);
    if (late)
        atomic_fetch_add(&spent_ns, system_now_ns() - began);
}

static void forget(struct range *range, void *unused) {
    (void)unused;
    note_all(range, 0, (range->end - range->start) / PAGE_BYTES, 0);
}

void next_touch_ask(enum page_policy by, uint32_t first, uint32_t end) {
    if (!prepared || !protection_wanted())
        return;
    if (first == 0) {
        ranges_for_each(forget, NULL);
        memset(balanced_pages, 0, sizeof balanced_pages);
    }
    policy = by;
    memset(done, 0, sizeof done); /* between regions nobody reads it */
    regions = passes = 0;
    atomic_store(&from, first);
    atomic_store(&parts, end);
}

static void move_late(struct range *range, void *unused) {
    (void)unused;
    const size_t blocks = protection_blocks(range);
    for (size_t b = 0; b < blocks; b++) {
        size_t pages;
        const size_t first = protection_block_first(range, b, &pages);
        _Atomic uint32_t *word = protection_note(range, first);
        const uint32_t note = word ? atomic_load(word) : 0;
        if (!(note & ABSENT))
            continue;
        note_all(range, first, pages, note & ~ABSENT);
        moves_add(0, range->start + first * PAGE_BYTES, pages, (uint16_t)NODE_OF(note), note_absent);
    }
}

/* A page that is still absent was not touched in this region: the kernel's policy will place it. */
static void ignore(uintptr_t start, size_t pages) {
    (void)start;
    (void)pages;
}

static void end_pass(bool alone) {
    /* Open all first, so that no more is decided; move what is queued, then what was absent till then. */
    const uint64_t began = system_now_ns();
    ranges_for_each(disarm, &alone);
    moves_flush(note_absent);
    ranges_for_each(move_late, NULL);
    moves_flush(ignore);
    if (late)
        atomic_fetch_add(&spent_ns, system_now_ns() - began + (uint64_t)TOUCH_NS * atomic_load(&touches));
    const uint64_t mask = lock_take(&lock);
    atomic_store(&owner, NULL);
    lock_give(&lock, mask);
}

void next_touch_region_end(struct region_call *call) {
    if (prepared && atomic_load(&owner) == call)
        end_pass(false);
}

void next_touch_region_team(struct region_call *call) {
    if (!prepared || call->team != 1 || settings()->slots == 1 || atomic_load(&owner) != call)
        return;
    atomic_store(&were_alone, true);
    if (!late) {
        uncount_pass(call);
        atomic_fetch_add(&spent_ns, system_now_ns() - atomic_load(&began_ns));
    }
    end_pass(true);
}

void next_touch_thread_end(void) {
    const uint32_t slot = slot_of_this_thread();
    if (prepared && atomic_load(&owner) && slot < settings()->slots)
        moves_flush_slot(slot, note_absent);
}
