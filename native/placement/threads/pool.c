/* pool.c: see pool.h. */
#define _GNU_SOURCE
#include "threads/pool.h"

#include "../regions/regions.h"
#include "process/lock.h"
#include "process/settings.h"
#include "process/side_thread.h"
#include "process/system.h"
#include "protection/protection.h"
#include "threads/affinity.h"
#include "threads/own_pus.h"
#include "threads/pool_choice.h"
#include "threads/pool_members.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000u
#define FIRST_LOOK_NS (10u * MS)
#define LONGEST_NS (160u * MS)  /* between looks while threads work; */
#define IDLE_NS (1000u * MS)    /* and while none does */
#define COST_SHARE 2000u        /* a look costs a part of the time between looks: 1 of so many */
#define LINGERS_NS (1000u * MS) /* for which an idle thread keeps its PU, where no other needs it */
#define FRESH_NS (150u * MS)    /* on a busy computer a thread may wait so long for a processor */
#define LAST_LOOKS 5            /* after the last thread of the pool has ended */
#define LOST_LOOKS 16           /* a PU that another process has is asked for again after so many */

THREAD_LOCAL bool pool_moves_this_thread;
static THREAD_LOCAL struct pool_member *own; /* NULL: not looked after */

static struct lock lock; /* of the members and what is not atomic below */
static bool prepared;
static bool over; /* the main thread has left, or the program ends: nothing is moved any more */
static atomic_bool main_had_no_slot; /* in a program that was taken for one without threads */
static _Atomic uint32_t others;      /* threads of the pool, but for the main thread */
static bool lost[MOST_SLOTS];
static uint32_t looks_until_asked;

static pthread_t looker;
static bool was_started; /* and is to be joined; for who has `starting` */
static atomic_flag starting = ATOMIC_FLAG_INIT;
static atomic_bool runs, stops, given_up, sleeps_long;
static _Atomic uint32_t bell;

static void enter_main(void) {
    own = pool_member_enter(true, false);
    pool_moves_this_thread = own != NULL;
}

void pool_prepare(void) {
    prepared = true;
    atomic_store(&main_had_no_slot, slot_bound() == NO_SLOT);
    enter_main();
    verify_pool_by(pool_tell);
}

void pool_after_fork(void) {
    if (!prepared)
        return;
    lock = (struct lock){0};
    atomic_flag_clear(&starting);
    atomic_store(&runs, false);
    atomic_store(&stops, false);
    was_started = over = false;
    others = 0;
    atomic_store(&main_had_no_slot, false);
    memset(lost, 0, sizeof lost);
    pool_members_forget();
    enter_main();
}

/* A thread's own memory may be protected, if the program has given it its stack. */
uint64_t pool_hold(void) {
    const uint64_t mask = lock_take(&lock);
    if (protection_wanted())
        signals_block_but_faults();
    return mask;
}

void pool_let(uint64_t mask) { lock_give(&lock, mask); }

bool pool_main_is_free(void) { return atomic_load_explicit(&main_had_no_slot, memory_order_relaxed); }

/* ---- a look ---- */

/* Where the program has bound a thread itself: the first slot with the PU. */
static uint32_t programs_slot(const struct pool_member *member) {
    const struct settings *s = settings();
    const int pu = system_only_pu(member->number);
    for (uint32_t slot = 0; pu >= 0 && slot < s->slots; slot++)
        if (s->cpu[slot] == pu)
            return slot;
    return NO_SLOT;
}

/* Whether its mask is the one that this library has set last. */
static bool is_as_left(const struct pool_member *member) {
    const struct settings *s = settings();
    const uint32_t slot = pool_slot(member);
    return system_is_bound_to(member->number, slot == NO_SLOT ? s->cpu : &s->cpu[slot],
                              slot == NO_SLOT ? s->slots : 1);
}

static struct pool_thread described(const struct pool_member *member, uint64_t now) {
    struct pool_thread thread = {.load = member->load,
                                 .works = member->works,
                                 .fixed = member->fixed,
                                 .now = pool_slot(member),
                                 .last = member->last};
    thread.lingers = now - member->worked_ns < LINGERS_NS;
    thread.fresh = now - member->worked_ns < FRESH_NS;
    if (!thread.fixed && affinity_is_programs_of(member->thread, member->number)) {
        thread.fixed = true;
        thread.now = thread.works ? programs_slot(member) : NO_SLOT;
    } else if (!thread.fixed && !is_as_left(member)) {
        thread.fixed = true;
        const uint32_t set = programs_slot(member);
        thread.now = set == NO_SLOT ? thread.now : set;
    }
    return thread;
}

/* Noted first and bound then, and unbound in the other order: see `answer` in affinity.c. */
static bool move(struct pool_member *member, uint32_t from, uint32_t to) {
    if (!own_pus_change(from, to)) {
        lost[to] = true;
        return false;
    }
    if (member->is_main)
        atomic_store(&main_had_no_slot, false);
    if (to != NO_SLOT) {
        atomic_store_explicit(&member->slot.mine, to, memory_order_relaxed);
        atomic_store_explicit(&member->slot.bound, to, memory_order_relaxed);
    }
    const bool moved = affinity_bind_other(member->thread, member->number, to);
    if (to != NO_SLOT && !moved)
        own_pus_change(to, NO_SLOT);
    if (to == NO_SLOT || !moved)
        atomic_store_explicit(&member->slot.bound, NO_SLOT, memory_order_relaxed);
    if (from != NO_SLOT)
        member->last = from;
    return moved;
}

/* Return whether any thread was moved; set whether any works. */
static bool look(bool *any_works) {
    static struct pool_thread threads[MOST_POOL];
    static struct pool_member *members[MOST_POOL];
    size_t count = 0;
    bool moved = false;
    const uint64_t now = system_now_ns();
    if (looks_until_asked-- == 0) {
        memset(lost, 0, sizeof lost);
        looks_until_asked = LOST_LOOKS;
    }
    others -= pool_members_measure();
    for (struct pool_member *member = pool_first; member && count < MOST_POOL; member = member->next) {
        *any_works |= member->works;
        members[count] = member;
        threads[count++] = described(member, now);
    }
    pool_choose(threads, count, lost, settings()->slots);
    for (int binding = 0; binding < 2; binding++) /* who leaves a slot, before who takes it */
        for (size_t n = 0; n < count; n++)
            if (!threads[n].fixed && threads[n].to_be != threads[n].now &&
                (threads[n].to_be != NO_SLOT) == binding)
                moved |= move(members[n], threads[n].now, threads[n].to_be);
    pool_members_note();
    return moved;
}

/* ---- the thread that looks ---- */

static void ring(void) {
    const int before = errno;
    atomic_fetch_add(&bell, 1);
    syscall(SYS_futex, &bell, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = before;
}

/* Return whether it was rung for. */
static bool wait_for(uint64_t ns) {
    const struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    const uint32_t rung = atomic_load(&bell);
    atomic_store(&sleeps_long, ns > 4 * FIRST_LOOK_NS);
    if (!atomic_load(&stops))
        syscall(SYS_futex, &bell, FUTEX_WAIT_PRIVATE, rung, &time, NULL, 0);
    atomic_store(&sleeps_long, false);
    return rung != atomic_load(&bell);
}

static uint64_t next_period(uint64_t period, bool moved, bool any_works, uint64_t cost_ns) {
    const uint64_t longest = any_works ? LONGEST_NS : IDLE_NS, least = cost_ns * COST_SHARE;
    period = moved ? FIRST_LOOK_NS : 2 * period;
    period = period < longest ? period : longest;
    return period > least ? period : least;
}

static void *looks(void *unused) {
    (void)unused;
    uint64_t period = FIRST_LOOK_NS;
    uint32_t empty_looks = 0;
    system_bind(settings()->cpu, settings()->slots);
    while (!atomic_load(&stops) && empty_looks < LAST_LOOKS) {
        if (wait_for(period)) /* a thread has begun */
            period = FIRST_LOOK_NS;
        const uint64_t before_ns = system_thread_ns();
        bool moved = false, any_works = false;
        const uint64_t mask = pool_hold();
        empty_looks = others ? 0 : empty_looks + 1;
        if (over)
            empty_looks = LAST_LOOKS;
        else if (others)
            moved = look(&any_works);
        if (empty_looks == LAST_LOOKS)
            atomic_store(&runs, false);
        pool_let(mask);
        period = next_period(period, moved, any_works, system_thread_ns() - before_ns);
    }
    return NULL;
}

void pool_looks(void) {
    if (!prepared || over || atomic_load_explicit(&given_up, memory_order_relaxed))
        return;
    if (atomic_load(&runs)) {
        if (atomic_load_explicit(&sleeps_long, memory_order_relaxed) && atomic_exchange(&sleeps_long, false))
            ring();
        return;
    }
    if (atomic_flag_test_and_set(&starting))
        return;
    if (!atomic_load(&runs)) {
        if (was_started)
            pthread_join(looker, NULL);
        const uint64_t mask = pool_hold();
        pool_members_begin();
        pool_let(mask);
        atomic_store(&stops, false);
        atomic_store(&runs, true);
        was_started = side_thread_start(&looker, looks);
        if (!was_started)
            atomic_store(&runs, false);
    }
    atomic_flag_clear(&starting);
}

static void stop(void) {
    if (!prepared || atomic_flag_test_and_set(&starting))
        return;
    if (was_started) {
        atomic_store(&stops, true);
        ring();
        pthread_join(looker, NULL);
        was_started = false;
        atomic_store(&runs, false);
    }
    atomic_flag_clear(&starting);
}

void pool_rest(void) {
    if (others == 0)
        stop();
}

void pool_give_up(void) {
    atomic_store(&given_up, true);
    stop();
}

/* ---- threads ---- */

bool pool_grows(void) {
    if (!prepared || region_depth() > 0)
        return false;
    others++;
    return true;
}

void pool_shrinks(void) { others--; }

void pool_thread_begins(bool of_the_pool) {
    if (!prepared)
        return;
    const uint64_t mask = pool_hold();
    own = pool_member_enter(false, !of_the_pool);
    pool_moves_this_thread = own && of_the_pool;
    others -= !own && of_the_pool;
    pool_let(mask);
}

void pool_thread_ends(void) {
    if (!prepared || !own)
        return;
    const uint64_t mask = pool_hold();
    others -= !own->is_main && !own->fixed;
    over |= own->is_main;
    pool_member_leave(own);
    own = NULL;
    pool_moves_this_thread = false;
    const bool is_over = over;
    pool_let(mask);
    if (is_over && atomic_load(&runs))
        ring();
}

void pool_leave_to_regions_now(void) {
    const uint64_t mask = pool_hold();
    others -= !own->is_main && !own->fixed;
    own->fixed = true;
    pool_moves_this_thread = false;
    pool_let(mask);
}

bool pool_tell(struct verified_pool *found, void (*visit)(uint32_t slot, bool right)) {
    const uint64_t mask = pool_hold();
    const bool any = pool_members_tell(found, own, visit);
    over = true;
    pool_let(mask);
    return any;
}
