/* own_pus.c: claims of PUs for threads and for whole teams. */
#include "threads/own_pus.h"

#include "../regions/runtime.h"
#include "../regions/spin.h"
#include "process/settings.h"
#include "process/thread_slot.h"
#include "threads/claims.h"

#include <stdatomic.h>

static atomic_flag counting = ATOMIC_FLAG_INIT; /* held while the next five are read or written */
static uint32_t threads_on[MOST_SLOTS];
static bool held[MOST_SLOTS];      /* the slot's PU is this process's */
static bool pus_repeat;            /* several slots have the same one */
static bool of_a_team[MOST_SLOTS]; /* and was claimed for a region's team */
static uint32_t refused;           /* threads in a row that found no PU free */

/* For each slot that a team asks for the one that it takes, plus 1: itself, or one whose PU is free while its
 * own is not. 0: not claimed. Written under the lock; and which slot asked for each that is taken. */
static _Atomic uint16_t taken_for[MOST_SLOTS];
static uint16_t asked_by[MOST_SLOTS];
static _Atomic uint64_t placed_team; /* the last one that has all its PUs, by its wish; 0: none */
static _Atomic bool crowded;         /* a team had not: none is bound until it is tried again */
static _Atomic bool ever_placed;

/* Written at each region; on a cache line of its own, since all threads read the others at each region. */
static struct {
    _Alignas(CACHE_LINE) _Atomic uint32_t running; /* outermost regions */
    _Atomic uint32_t waits;                        /* those that found a team without its PUs */
} instances;

/* Under the lock. */
static bool hold(uint32_t slot) {
    if (!held[slot])
        held[slot] = claims_hold(settings()->cpu[slot]);
    const bool lost = claims_lost();
    for (uint32_t other = 0; lost && other < settings()->slots; other++)
        held[other] = held[other] && claims_hold(settings()->cpu[other]);
    return held[slot];
}

static void no_longer_for(uint32_t asked, uint32_t slot) {
    if (atomic_load(&taken_for[asked]) == slot + 1)
        atomic_store(&taken_for[asked], 0);
}

static void drop(uint32_t slot) {
    if (!held[slot])
        return;
    no_longer_for(asked_by[slot], slot);
    if (of_a_team[slot])
        atomic_store(&placed_team, 0);
    held[slot] = of_a_team[slot] = false;
    for (uint32_t other = 0; other < settings()->slots && pus_repeat; other++)
        if (held[other] && settings()->cpu[other] == settings()->cpu[slot])
            return;
    claims_drop(settings()->cpu[slot]);
}

/* How often what failed n times is tried again: seldom, because it costs a call for each PU. */
static bool is_time(uint32_t n) { return (n & (n - 1)) == 0; }

void own_pus_prepare(void) {
    uint64_t seen[(UINT16_MAX + 1) / 64] = {0};
    for (uint32_t slot = 0; slot < settings()->slots; slot++) {
        const uint16_t cpu = settings()->cpu[slot];
        pus_repeat |= seen[cpu / 64] >> cpu % 64 & 1;
        seen[cpu / 64] |= 1ull << cpu % 64;
    }
}

void own_pus_after_fork(void) {
    atomic_flag_clear(&counting);
    claims_after_fork();
    for (uint32_t slot = 0; slot < settings()->slots; slot++) {
        threads_on[slot] = 0;
        held[slot] = of_a_team[slot] = false;
        atomic_store(&taken_for[slot], 0);
    }
    atomic_store(&placed_team, 0);
    atomic_store(&crowded, false);
    atomic_store(&ever_placed, false);
    atomic_store(&instances.waits, 0);
    atomic_store(&instances.running, 0);
    refused = 0;
}

/* ---- threads ---- */

uint32_t own_pus_reserve(bool first_is_last) {
    const struct settings *s = settings();
    const bool sharing = claims_wanted();
    uint32_t best = NO_SLOT, free = NO_SLOT, taken = 0;
    spin_lock(&counting);
    const bool trying = is_time(refused);
    for (uint32_t n = 0; n < s->slots && free == NO_SLOT; n++) {
        const uint32_t slot = (n + first_is_last) % s->slots;
        if (sharing && !(threads_on[slot] == 0 && trying ? hold(slot) : held[slot])) {
            taken++;
            continue;
        }
        if (threads_on[slot] == 0)
            free = slot;
        else if (best == NO_SLOT || threads_on[slot] < threads_on[best])
            best = slot;
    }
    if (free != NO_SLOT)
        best = free;
    else if (taken)
        best = NO_SLOT;
    refused = best == NO_SLOT ? refused + 1 : 0;
    if (best != NO_SLOT)
        threads_on[best]++;
    spin_unlock(&counting);
    return best;
}

void own_pus_give_back(uint32_t slot) {
    spin_lock(&counting);
    if (threads_on[slot] && --threads_on[slot] == 0)
        drop(slot);
    spin_unlock(&counting);
}

/* Under the lock. A team's PU stays its own: another thread may be about to take it. */
static void leave_slot(void) {
    const uint32_t left = slot_bound();
    if (left != NO_SLOT && threads_on[left] && --threads_on[left] == 0 && !of_a_team[left])
        drop(left);
}

void own_pus_leave(void) {
    spin_lock(&counting);
    leave_slot();
    spin_unlock(&counting);
}

bool own_pus_move_to(uint32_t slot) {
    spin_lock(&counting);
    leave_slot();
    const bool ours = !claims_wanted() || hold(slot); /* given up while the thread was unbound for a moment */
    if (ours)
        threads_on[slot]++;
    spin_unlock(&counting);
    return ours;
}

bool own_pus_change(uint32_t left, uint32_t taken) {
    spin_lock(&counting);
    const bool ours = taken == NO_SLOT || !claims_wanted() || hold(taken);
    if (ours && taken != NO_SLOT)
        threads_on[taken]++;
    if (ours && left != NO_SLOT && threads_on[left] && --threads_on[left] == 0 && !of_a_team[left])
        drop(left);
    spin_unlock(&counting);
    return ours;
}

void own_pus_keep(uint32_t slot) {
    spin_lock(&counting);
    of_a_team[slot] = false;
    atomic_store(&placed_team, 0);
    spin_unlock(&counting);
}

bool own_pus_reclaim(uint32_t slot) {
    spin_lock(&counting);
    const bool free = hold(slot);
    spin_unlock(&counting);
    return free;
}

bool own_pus_leave_to_child(void) {
    if (atomic_flag_test_and_set(&counting))
        return false;
    const uint32_t own = slot_bound();
    if (own != NO_SLOT && threads_on[own] && --threads_on[own] == 0)
        drop(own);
    for (uint32_t slot = 0; slot < settings()->slots && atomic_load(&instances.running) == 0; slot++)
        if (of_a_team[slot])
            drop(slot);
    spin_unlock(&counting);
    return true;
}

void own_pus_give_up(void) {
    spin_lock(&counting);
    for (uint32_t slot = 0; slot < settings()->slots; slot++)
        drop(slot);
    spin_unlock(&counting);
}

bool own_pus_hold_run(const char *path) {
    spin_lock(&counting);
    const bool ours = !claims_wanted() || claims_hold_run(path);
    spin_unlock(&counting);
    return ours;
}

/* ---- teams ---- */

uint32_t asked_slot(const struct wish *wish, uint32_t thread, uint32_t team) {
    if (wish->slots && wish->listed)
        return thread < wish->listed ? wish->slots[thread]
                                     : slot_in_row(wish->row, thread, team, wish->policy);
    const uint32_t place = slot_in_row(wish->row, thread, team, wish->policy);
    return wish->slots ? wish->slots[place] : place;
}

/* Never 0, and different for wishes that are, but for rare chance: then a team may share a PU. */
static uint64_t key_of(const struct wish *wish, uint32_t team) {
    const uint64_t row = (uint64_t)wish->row.first << 48 | (uint64_t)wish->row.count << 32 |
                         (uint64_t)wish->row.step << 16 | (wish->policy == SCATTER);
    return ((row ^ (uintptr_t)wish->slots) * 0x9e3779b97f4a7c15u + team) << 1 | 1;
}

/* The set of slots that were given out already. */
struct given {
    bool slot[MOST_SLOTS];
};

/* A slot for one whose PU is another process's: the nearest after it in the mapping's order. */
static uint32_t replacement(uint32_t asked, const struct given *given) {
    const uint32_t slots = settings()->slots;
    for (uint32_t n = 1; n < slots; n++) {
        const uint32_t slot = (asked + n) % slots;
        if (!given->slot[slot] && hold(slot))
            return slot;
    }
    return NO_SLOT;
}

/* Under the lock: a PU for each slot that the team asks for, or none. */
static bool claim(const struct wish *wish, uint32_t team) {
    static struct given given, asked;
    const uint32_t slots = settings()->slots;
    bool all = true;
    for (uint32_t slot = 0; slot < slots; slot++)
        given.slot[slot] = asked.slot[slot] = false;
    for (uint32_t thread = 0; thread < team; thread++) {
        const uint32_t slot = asked_slot(wish, thread, team);
        asked.slot[slot] = true;
        given.slot[slot] = hold(slot);
    }
    for (uint32_t slot = 0; slot < slots && all; slot++) {
        if (!asked.slot[slot])
            continue;
        const uint32_t own = given.slot[slot] ? slot : replacement(slot, &given);
        if (own == NO_SLOT) {
            all = false;
            continue;
        }
        given.slot[own] = of_a_team[own] = true;
        no_longer_for(asked_by[own], own);
        asked_by[own] = (uint16_t)slot;
        atomic_store(&taken_for[slot], (uint16_t)(own + 1));
    }
    for (uint32_t slot = 0; slot < slots && !all; slot++)
        if (threads_on[slot] == 0) /* others' teams keep theirs */
            drop(slot);
    return all;
}

/* Whether every slot that a team asks for was claimed before, as for the teams of nested regions. */
static bool is_claimed(const struct wish *wish, uint32_t team) {
    for (uint32_t thread = 0; thread < team; thread++)
        if (!atomic_load_explicit(&taken_for[asked_slot(wish, thread, team)], memory_order_relaxed))
            return false;
    return true;
}

static bool claim_now(const struct wish *wish, uint32_t team, uint64_t key) {
    spin_lock(&counting);
    bool all = atomic_load(&placed_team) == key;
    if (!all && !atomic_load(&crowded)) {
        all = claim(wish, team);
        if (all)
            atomic_store(&ever_placed, true);
        atomic_store(&crowded, !all);
        atomic_store(&placed_team, all ? key : 0);
    }
    spin_unlock(&counting);
    return all;
}

bool own_pus_for(const struct wish *wish, uint32_t team) {
    if (!claims_wanted())
        return true;
    const uint64_t key = key_of(wish, team);
    uint64_t last = atomic_load_explicit(&placed_team, memory_order_acquire);
    if (last == key)
        return true;
    if (atomic_load_explicit(&crowded, memory_order_relaxed))
        return false;
    if (last && is_claimed(wish, team)) {
        atomic_compare_exchange_strong(&placed_team, &last, key); /* unless a PU was given back meanwhile */
        return true;
    }
    return claim_now(wish, team, key);
}

void own_pus_team_ends(void) {
    uint32_t others = atomic_load(&instances.running);
    while (others && !atomic_compare_exchange_weak(&instances.running, &others, others - 1))
        ;
}

void own_pus_team_begins(void) {
    atomic_fetch_add(&instances.running, 1);
    if (atomic_load_explicit(&crowded, memory_order_relaxed) &&
        is_time(atomic_fetch_add_explicit(&instances.waits, 1, memory_order_relaxed) + 1))
        atomic_store(&crowded, false);
}

bool own_pus_ever(void) { return atomic_load(&ever_placed); }

uint32_t own_slot_for(uint32_t asked) {
    const uint16_t taken =
        claims_wanted() ? atomic_load_explicit(&taken_for[asked], memory_order_relaxed) : 0;
    return taken ? taken - 1u : asked;
}
