/* profile.c: the thread that protects a few blocks at a time, and the counting of their touches. */
#define _GNU_SOURCE
#include "profile/profile.h"

#include "blocks/block_groups.h"
#include "blocks/call_stacks.h"
#include "memory/heap.h"
#include "policy/pages.h"
#include "process/lock.h"
#include "process/next_symbol.h"
#include "process/other_threads.h"
#include "process/settings.h"
#include "process/side_thread.h"
#include "process/system.h"
#include "process/thread_slot.h"
#include "profile/block_firsts.h"
#include "profile/counts.h"
#include "profile/first_touches.h"
#include "profile/known_ranges.h"
#include "profile/known_regions.h"
#include "profile/pace.h"
#include "profile/profile_writer.h"
#include "profile/short_lived.h"
#include "protection/arming.h"
#include "protection/protection.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#define PLACES ((size_t)128) /* blocks that are protected at the same time */
#define LEAST_NS 1000u       /* a wait: it began before the protection was known to hold */
#define FIRST_WRITE_NS 2000000000u
#define MOST_UNTOUCHED 5 /* pages of a turn, of which all but the last may be so */
#define GOLDEN_RATIO 0x9e3779b97f4a7c15u
#define WRITES_EVERY 5  /* one block of so many is protected for writes alone */
#define TURNS_A_LOOK 16 /* and the most periods that a pause outside regions has */
enum flight_state { LANDED, PROTECTED, TOUCHING, TOUCHED };

/* A block that is protected, or was touched and is not counted yet. */
struct flight {
    struct range *range;
    _Atomic uint32_t state;
    uint32_t number, page; /* of the range that it is counted for, and the page in it */
    uint32_t who;          /* of the touch (count_who), or COUNT_OF_PAGE: outside regions */
    enum purpose purpose;
    int thread_node; /* of the touch; -1: not known */
    bool written;    /* for writes: it was seen to be written */
    size_t block, first, pages;
    uint64_t since_ns, touched_ns;
};

static bool prepared, several_nodes; /* with memory */
static atomic_bool watches_firsts, started, ended;
static pthread_t helper;
static bool helped;
static struct lock lock;
static struct flight flights[PLACES];
static uint64_t picks; /* of the sequence */
static uint64_t armed, touched;
static _Atomic uint32_t faults; /* since the last turn */

static _Atomic uint32_t running; /* outermost regions */
static _Atomic uint32_t region;  /* the latest of them (known_regions.h) */
static _Atomic uint64_t began_ns, earlier_ns;

/* Time inside regions. */
static uint64_t clock_ns(void) {
    const uint64_t now = system_now_ns(), began = atomic_load(&began_ns), earlier = atomic_load(&earlier_ns);
    return atomic_load(&running) && now > began ? earlier + (now - began) : earlier;
}

/* ---- touches ---- */

static void on_touch(const struct touch *touch) {
    atomic_fetch_add(&faults, 1);
    for (size_t n = 0; n < PLACES; n++) {
        struct flight *f = &flights[n];
        uint32_t was = PROTECTED;
        if (atomic_load(&f->state) != PROTECTED || f->range != touch->range || f->first != touch->first ||
            !atomic_compare_exchange_strong(&f->state, &was, TOUCHING))
            continue;
        f->who = atomic_load(&running) ? count_who(touch->slot, atomic_load(&region), touch->access)
                                       : COUNT_OF_PAGE;
        f->written = touch->access == ACCESS_WRITE;
        f->thread_node = several_nodes ? system_node() : -1;
        f->touched_ns = clock_ns();
        atomic_store(&f->state, TOUCHED);
        return;
    }
}

static void on_first_touch(const struct touch *touch) {
    const uint32_t in = atomic_load(&running) ? atomic_load(&region) : 0;
    if (touch->range->kind == RANGE_ARENA)
        block_group_touched(touch, in);
    else
        first_touch_note(touch, in);
}

/* Some calls of the program need all memory open: what was not touched yet is protected again behind them. */
static void on_release(void) {
    if (!prepared || atomic_load(&ended) || !first_touches_wait() || !first_touches_afford(false))
        return;
    const uint64_t mask = lock_take(&lock);
    block_firsts_opened();
    first_touches_resume();
    block_firsts_resume();
    lock_give(&lock, mask);
}

void profile_prepare(void) {
    const struct settings *s = settings();
    call_stacks_prepare();
    block_firsts_prepare(&lock, !pages_follow_touch() && s->pages != PAGES_DATASET &&
                                    s->pages != PAGES_WEIGHTED && !s->plan && !s->map);
    protection_prepare(FOR_PROFILE, on_touch);
    protection_prepare(FOR_WRITES, on_touch);
    protection_prepare(FOR_FIRST_TOUCH, on_first_touch);
    protection_on_release(on_release);
    prepared = true;
}

void profile_watch_firsts(void) { atomic_store(&watches_firsts, true); }

bool profile_goes_on(void) {
    lock = (struct lock){0};
    return prepared && !atomic_load(&started);
}

/* A touch by a system call says neither that it wrote nor that nobody does. */
static void count_writes(struct flight *f, bool is_touched) {
    struct known_range *k = known_range(f->number);
    k->file.watched += !is_touched || f->written;
    k->file.written += is_touched && f->written;
    atomic_store(&f->state, LANDED);
}

/* Return the node that has a page; -1 where it is not known. */
static int node_of(const struct range *range, size_t page) {
    void *at = (void *)(range->start + page * PAGE_BYTES);
    int node = -1;
    return several_nodes && system_where(1, &at, &node) == 0 && node >= 0 ? node : -1;
}

static void count(struct flight *f, uint64_t until_ns, uint32_t who) {
    if (f->purpose == FOR_WRITES) {
        count_writes(f, who != COUNT_OF_PAGE);
        return;
    }
    const uint64_t ns = until_ns > f->since_ns + LEAST_NS ? until_ns - f->since_ns : LEAST_NS;
    counts_add(f->number, f->page, COUNT_OF_PAGE, ns, 0);
    if (who != COUNT_OF_PAGE) {
        known_waited(known_range(f->number), ns);
        counts_add(f->number, f->page, who, ns,
                   count_nodes(node_of(f->range, f->first + f->pages / 2), f->thread_node));
        touched++;
    }
    armed++;
    atomic_store(&f->state, LANDED);
}

/* Open the block if it is still protected, and count its touch or the lack of one. A block that was opened
 * without a touch is not counted. */
static void land(struct flight *f, uint64_t now) {
    if (atomic_load(&f->state) == LANDED)
        return;
    const bool waited = protection_disarm(f->range, f->block, 1, f->purpose) != 0;
    uint32_t was = PROTECTED;
    if (!atomic_compare_exchange_strong(&f->state, &was, LANDED)) {
        while (atomic_load(&f->state) == TOUCHING)
            sched_yield();
        count(f, f->touched_ns, f->who);
    } else if (waited) {
        count(f, now, COUNT_OF_PAGE);
    }
}

/* ---- the thread ---- */

/* A page that is not there yet, as of buffers in reserve, is known to be untouched without a fault. */
static bool is_untouched(uint32_t number, size_t page, uint64_t window_ns) {
    const struct known_range *k = known_range(number);
    const bool is = k->file.kind != RANGE_FILE && system_is_empty(k->start + page * PAGE_BYTES);
    if (is)
        counts_add(number, (uint32_t)page, COUNT_OF_PAGE, window_ns, 0);
    armed += is;
    return is;
}

static void take_off(struct flight *f, uint64_t window_ns) {
    size_t page;
    struct known_range *k;
    for (int tried = 1; (k = known_at(++picks * GOLDEN_RATIO, &f->number, &page)); tried++)
        if (tried == MOST_UNTOUCHED || !is_untouched(f->number, page, window_ns))
            break;
    if (!k || protection_blocks(k->live) == 0)
        return;
    f->range = k->live;
    f->block = protection_block_of(f->range, page);
    f->first = protection_block_first(f->range, f->block, &f->pages);
    f->page = (uint32_t)(f->first + f->pages / 2);
    if (f->range->kind == RANGE_ARENA)
        block_group_of(f->range->start + f->page * PAGE_BYTES, false, &f->number, &f->page);
    f->purpose = picks % WRITES_EVERY == 0 ? FOR_WRITES : FOR_PROFILE;
    f->since_ns = clock_ns();
    atomic_store(&f->state, PROTECTED); /* before the first touch can come */
    if (protection_arm(f->range, f->block, 1, f->purpose) == 0)
        atomic_store(&f->state, LANDED);
    f->since_ns = clock_ns(); /* with other threads running, the kernel may take long to protect it */
}

/* Count what was touched, open what nobody touched for long, and protect one block more. One at a time: the
 * faults of several would make their threads late for each other's blocks, whose waits were longer then. */
static void next_watch(uint64_t window_ns) {
    const uint64_t mask = lock_take(&lock), now = clock_ns();
    struct flight *free = NULL;
    for (struct flight *f = flights; f < flights + PLACES; f++) {
        const uint32_t state = atomic_load(&f->state);
        if (state == TOUCHED || (state == PROTECTED && now - f->since_ns >= window_ns))
            land(f, now);
        if (state == LANDED)
            free = f;
    }
    if (free && !atomic_load(&ended) && atomic_load(&running))
        take_off(free, window_ns);
    lock_give(&lock, mask);
}

static void land_everything(void) {
    const uint64_t mask = lock_take(&lock), now = clock_ns();
    for (size_t n = 0; n < PLACES; n++)
        land(&flights[n], now);
    lock_give(&lock, mask);
}

static void write_file(void) {
    const struct settings *s = settings();
    const uint64_t mask = lock_take(&lock);
    block_groups_count();
    const bool placed = s->plan || s->pages != PAGES_FIRST_TOUCH;
    if (s->profile) /* not of a forked child */
        profile_write_file(s->profile, s->slots, placed, armed, touched, clock_ns());
    lock_give(&lock, mask);
}

/* One that is there in a second look has lived for long: it is profiled, and stands for itself alone. */
static void look_at(struct range *range, void *unused) {
    (void)unused;
    struct known_range *const known = known_of(range);
    if (known && known->file.stands_for > 1 && system_now_ns() - known->file.since_ns > SHORT_LIFE_NS)
        known->file.stands_for = 1;
    if (!known && range->profile_looks++ && known_count() < KNOWN_LIMIT)
        known_add(range);
}

static void *help(void *unused) {
    (void)unused;
    several_nodes = system_has_several_nodes();
    system_bind(settings()->cpu, settings()->slots);
    system_wake_soon(); /* a moment that the program's waits choose is none at random */
    uint64_t next_write = FIRST_WRITE_NS, next_look = 0;
    for (size_t outside = 0; !atomic_load(&ended);) {
        pace_wait((uint32_t)(outside < TURNS_A_LOOK ? outside + 1 : TURNS_A_LOOK));
        if (!atomic_load(&running)) {
            land_everything();
            if (++outside % TURNS_A_LOOK == 0 && other_threads_ended())
                break; /* the last thread ends the process, as it would have ended without this one */
            continue;
        }
        outside = 0;
        const uint64_t before = system_now_ns(), used = system_thread_ns();
        next_watch(pace_window_ns(clock_ns()));
        pace_turn(system_thread_ns() - used, atomic_exchange(&faults, 0));
        if (short_lived_any() && before >= next_look) {
            const uint64_t mask = lock_take(&lock);
            ranges_for_each(look_at, NULL);
            lock_give(&lock, mask);
            next_look = before + SHORT_LIFE_NS;
        }
        if (clock_ns() >= next_write) {
            write_file();
            next_write *= 2; /* so that all writing together costs little */
        }
    }
    return NULL;
}

/* ---- hooks of the program's events ---- */

void profile_range_added(struct range *range) {
    if (!prepared || !protection_wanted() || atomic_load(&ended))
        return;
    const bool is_crowded = known_count() > KNOWN_LIMIT / 4;
    const uint32_t stands_for = range->kind == RANGE_HEAP || range->kind == RANGE_MAPPED
                                    ? short_lived_stands_for(range->site, is_crowded)
                                    : 1;
    range->profile_looks = 0;
    if (stands_for == 0 || (range->kind == RANGE_ARENA && heap_is_early(range->start))) {
        range->profile = 0;
        return;
    }
    const bool is_called =
        range->kind == RANGE_HEAP || range->kind == RANGE_MAPPED || range->kind == RANGE_FILE;
    const bool is_looked_at = range->kind != RANGE_ARENA /* which is known only when it is in use */
                              && first_touches_afford(!atomic_load(&watches_firsts));
    const uint64_t since_ns = system_thread_ns();
    const uint32_t stack = is_called && is_looked_at ? call_stack_here() : 0;
    const uint64_t mask = lock_take(&lock);
    struct known_range *const known = known_add(range);
    if (known) {
        known->stack = stack;
        known->file.stands_for = stands_for;
        if (is_looked_at && atomic_load(&watches_firsts))
            first_touches_begin(known, call_stack_uses(stack));
    }
    lock_give(&lock, mask);
    if (is_looked_at)
        first_touches_spent(since_ns);
}

void profile_range_removed(struct range *range) {
    if (!prepared || !protection_wanted() || (!range->profile && range->kind != RANGE_ARENA))
        return;
    const uint64_t mask = lock_take(&lock);
    const uint64_t now = clock_ns();
    if (range->kind == RANGE_ARENA)
        block_firsts_opened();
    for (size_t n = 0; n < PLACES; n++)
        if (flights[n].range == range)
            land(&flights[n], now);
    struct known_range *const known = known_of(range);
    if (known) {
        short_lived_freed(range->site, system_now_ns() - known->file.since_ns);
        call_stack_resolve(known->stack);
        first_touches_end(known);
    }
    known_remove(range);
    lock_give(&lock, mask);
}

void profile_region_begin(struct region_call *call) {
    if (!prepared || !protection_wanted())
        return;
    atomic_store(&region, known_region(call->function));
    block_groups_look();
    if (first_touches_wait()) {
        const uint64_t mask = lock_take(&lock);
        first_touches_resume();
        block_firsts_resume();
        lock_give(&lock, mask);
    }
    if (atomic_fetch_add(&running, 1) == 0)
        atomic_store(&began_ns, system_now_ns());
    if (!atomic_load(&started) && !atomic_exchange(&started, true))
        helped = side_thread_start(&helper, help);
}

void profile_region_end(struct region_call *call) {
    (void)call;
    if (!prepared || !protection_wanted())
        return;
    const uint64_t now = system_now_ns(), began = atomic_load(&began_ns);
    if (atomic_fetch_sub(&running, 1) == 1 && now > began)
        atomic_fetch_add(&earlier_ns, now - began);
}

void profile_write(void) {
    if (!prepared || !protection_wanted() || !atomic_load(&started) || atomic_exchange(&ended, true))
        return;
    land_everything();
    write_file();
}

void profile_withdraw(void) {
    const bool here =
        prepared && protection_wanted() && atomic_load(&started); /* and not in a fork's child */
    profile_write();
    if (here && helped)
        pthread_join(helper, NULL);
}
