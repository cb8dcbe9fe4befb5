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
#define LAST_LOOKS 2            /* after the last thread of the pool has ended */
#define NAP_NS 20000            /* while the one that looks ends */
#define HAS_ENDED (-1)
#define LOST_LOOKS 16 /* a PU that another process has is asked for again after so many */

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
static _Atomic uint32_t state; /* of the one that looks */
enum { NONE, STARTS, RUNS };
static _Atomic int looker_number = HAS_ENDED; /* 0 before it is known */
static atomic_bool stops, given_up, sleeps_long;
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
    atomic_store(&state, NONE);
    atomic_store(&looker_number, HAS_ENDED);
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
    for (struct pool_member *member = pool_first; member; member = member->next) {
        if (count + !member->is_main == MOST_POOL) /* the main thread is the last, and always there */
            continue;
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

static void wake_early(void) {
    if (atomic_load_explicit(&sleeps_long, memory_order_relaxed) && atomic_exchange(&sleeps_long, false))
        ring();
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

/* A thread that begins meanwhile either finds that none looks, or is counted here in time. */
static bool ends(uint32_t empty_looks) {
    uint32_t as_it_was = RUNS, none = NONE;
    if (empty_looks < LAST_LOOKS)
        return false;
    atomic_compare_exchange_strong(&state, &as_it_was, NONE);
    return over || !others || !atomic_compare_exchange_strong(&state, &none, RUNS);
}

static void *looks(void *unused) {
    (void)unused;
    uint64_t period = FIRST_LOOK_NS;
    uint32_t empty_looks = 0;
    atomic_store(&looker_number, gettid());
    system_bind(settings()->cpu, settings()->slots);
    while (!atomic_load(&stops) && !ends(empty_looks)) {
        if (wait_for(period)) /* a thread has begun, or the last has ended */
            period = FIRST_LOOK_NS;
        const uint64_t before_ns = system_thread_ns();
        bool moved = false, any_works = false;
        const uint64_t mask = pool_hold();
        empty_looks = over ? LAST_LOOKS : others ? 0 : empty_looks + 1;
        if (!empty_looks)
            moved = look(&any_works);
        pool_let(mask);
        period = empty_looks ? FIRST_LOOK_NS
                             : next_period(period, moved, any_works, system_thread_ns() - before_ns);
    }
    return NULL;
}

/* The kernel counts a thread for a moment after it can be joined. Where none can run it is not waited for
 * longer than a second. */
static void await_end(void) {
    const struct timespec nap = {0, NAP_NS};
    const uint64_t until = system_now_ns() + 1000u * MS;
    for (int number; (number = atomic_load(&looker_number)) != HAS_ENDED;)
        if ((number && system_has_ended(number)) || system_now_ns() > until)
            atomic_store(&looker_number, HAS_ENDED);
        else
            syscall(SYS_nanosleep, &nap, NULL);
}

static int cancelled_no_more(void) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

/* Without `join` nothing is freed: at a fork an allocator may hold its locks. */
static void end_looker(bool join) {
    const int before = errno, cancelled = cancelled_no_more();
    if (prepared && !atomic_flag_test_and_set(&starting)) {
        if (was_started) {
            atomic_store(&stops, true);
            ring();
            if (join)
                pthread_join(looker, NULL);
            was_started = !join;
            await_end();
            atomic_store(&state, NONE);
        }
        atomic_flag_clear(&starting);
    }
    pthread_setcancelstate(cancelled, NULL);
    errno = before;
}

static void stop(bool join) {
    end_looker(join);
    if (others) /* one that began meanwhile */
        pool_looks();
}

static void start(void) {
    uint32_t none = NONE;
    if (!atomic_compare_exchange_strong(&state, &none, STARTS))
        return;
    if (was_started)
        pthread_join(looker, NULL);
    const uint64_t mask = pool_hold();
    pool_members_begin();
    pool_let(mask);
    atomic_store(&stops, false);
    atomic_store(&looker_number, 0);
    atomic_store(&state, RUNS);
    was_started = side_thread_start(&looker, looks);
    if (!was_started)
        atomic_store(&state, NONE);
}

void pool_looks(void) {
    if (!prepared || over || atomic_load_explicit(&given_up, memory_order_relaxed))
        return;
    if (atomic_load(&state) == RUNS) {
        wake_early();
        return;
    }
    const int cancelled = cancelled_no_more();
    if (!atomic_flag_test_and_set(&starting)) {
        start();
        atomic_flag_clear(&starting);
        if (atomic_load(&given_up)) /* meanwhile */
            end_looker(true);
    }
    pthread_setcancelstate(cancelled, NULL);
}

void pool_rest(void) {
    if (others == 0)
        stop(false);
}

void pool_give_up(void) {
    atomic_store(&given_up, true);
    stop(true);
}

bool pool_makes_room(void) {
    if (!prepared || atomic_load(&state) == NONE)
        return false;
    pool_give_up();
    return true;
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
    if (is_over && atomic_load(&state) == RUNS)
        ring();
    else if (!others)
        wake_early();
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
