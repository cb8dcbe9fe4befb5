/* slots.c: which thread runs on which PU: rows of slots for teams, free slots for other threads. */
#define _GNU_SOURCE
#include "threads/slots.h"

#include "../regions/export.h"
#include "policy/file_pages.h"
#include "policy/pages.h"
#include "policy/verify.h"
#include "process/settings.h"
#include "process/thread_slot.h"
#include "threads/affinity.h"
#include "threads/claims.h"
#include "threads/own_pus.h"
#include "threads/pool.h"
#include "threads/teams.h"

#include <pthread.h>
#include <sched.h>

#define DEEPEST 16 /* most nested regions with rows of their own */

/* The calling thread's place in each team from the outermost region on. */
struct place {
    struct slot_row row;
    uint32_t thread, team;
};

static THREAD_LOCAL struct place places[DEEPEST];
static THREAD_LOCAL int deep;
static THREAD_LOCAL bool entered; /* in a region already: the runtime does not set its affinity again */

static THREAD_LOCAL bool pages_left;

void slots_prepare(void) { own_pus_prepare(); }

uint32_t slot_reserve(void) {
    const uint32_t slot = own_pus_reserve(pool_main_is_free());
    if (slot == NO_SLOT)
        verify_left_free();
    return slot;
}

void slot_give_back(uint32_t slot) { own_pus_give_back(slot); }

static void bind_to(uint32_t slot) {
    slot_set(slot);
    affinity_bind(slot);
}

void slot_start(uint32_t slot) {
    slot_set(slot == NO_SLOT ? 0 : slot);
    affinity_begin();
    if (slot == NO_SLOT)
        slot_unbind();
}

/* A runtime may have reset a thread's affinity since its creation: libomp does, to all PUs. */
static bool stands_on(uint32_t slot) {
    return slot_bound() == slot && entered && sched_getcpu() == settings()->cpu[slot];
}

void slot_bind(uint32_t slot) {
    if (stands_on(slot))
        return;
    entered = true;
    if (slot_bound() != slot && !own_pus_move_to(slot)) {
        affinity_release();
        slot_unbind();
        return;
    }
    bind_to(slot);
}

void slots_release_binding(void) {
    affinity_release();
    own_pus_leave();
    slot_unbind();
}

void slots_give_up(void) {
    slots_release_binding();
    own_pus_give_up();
}

bool slots_hold_run(const char *path) { return own_pus_hold_run(path); }

uint32_t slots_before_child(void) {
    if (!claims_wanted() || settings()->adapt || region_depth() > 0)
        return NO_SLOT;
    const uint64_t mask = pool_hold();
    const uint32_t own = own_pus_leave_to_child() ? slot_bound() : NO_SLOT;
    if (own != NO_SLOT) {
        affinity_release();
        slot_unbind();
    }
    pool_let(mask);
    return own;
}

void slots_after_child(uint32_t slot) {
    if (slot == NO_SLOT)
        return;
    const uint64_t mask = pool_hold();
    if (slot_bound() == NO_SLOT && own_pus_reclaim(slot))
        slot_bind(slot);
    pool_let(mask);
}

void slots_after_fork(void) {
    own_pus_after_fork();
    deep = 0;
    entered = false;
    slot_set(0);
    slot_unbind();
    affinity_after_fork();
    if (!settings()->adapt)
        slots_release_binding();
}

static enum thread_policy policy(void) { return settings()->scatter ? SCATTER : CONTIGUOUS; }

static bool same_row(struct slot_row a, struct slot_row b) {
    return a.first == b.first && a.count == b.count && a.step == b.step;
}

/* The call is kept for the next instance of its region, whose team reads it: write only changed fields. */
static void set_row(struct region_call *call, struct slot_row row) {
    struct slot_row *kept = &call->rows[policy()];
    if (!same_row(*kept, row))
        *kept = row;
}

void slot_choose_row(struct region_call *call) {
    if (call->level == 0 && claims_wanted())
        own_pus_team_begins();
    if (deep == 0 || deep > DEEPEST) {
        set_row(call, (struct slot_row){0, (uint16_t)settings()->slots, 1});
        return;
    }
    const struct place *outer = &places[deep - 1];
    set_row(call, row_of_inner_team(outer->row, outer->thread, outer->team, policy()));
}

/* On all PUs of the mapping; and where this process never had a PU of its own, with its pages where its
 * threads are. */
static void leave_free(uint32_t slot) {
    if (slot_bound() == NO_SLOT && entered)
        return;
    entered = true;
    affinity_release();
    if (slot_bound() != NO_SLOT)
        own_pus_give_back(slot_bound());
    slot_set(slot);
    slot_unbind();
    if (!own_pus_ever()) {
        pages_leave();
        file_pages_activate(false);
        pages_left = true;
    }
}

static void take(const struct wish *wish, uint32_t thread, uint32_t team) {
    pool_leave_to_regions();
    const uint32_t asked = asked_slot(wish, thread, team);
    if (!own_pus_for(wish, team)) {
        if (thread == 0)
            verify_left_free();
        leave_free(asked);
        return;
    }
    if (pages_left) {
        pages_come_back();
        file_pages_activate(true);
    }
    pages_left = false;
    slot_bind(own_slot_for(asked));
}

void slots_begin(void) {
    const struct wish first = {.row = {0, 1, 1}, .policy = policy()};
    take(&first, 0, 1);
    if (slot_bound() != NO_SLOT)
        own_pus_keep(slot_bound());
}

static struct wish wish_of(const struct region_call *call) {
    const struct region_team *chosen = teams_exist() ? call->chosen : NULL;
    return (struct wish){call->rows[policy()], chosen ? chosen->slots : NULL, chosen ? chosen->threads : 0,
                         policy()};
}

uint32_t slot_of_place(const struct region_call *call, uint32_t place, uint32_t team) {
    const struct wish wish = wish_of(call);
    return own_slot_for(asked_slot(&wish, place, team));
}

void slot_enter(const struct region_call *call, uint32_t place, uint32_t team) {
    const struct wish wish = wish_of(call);
    if (deep < DEEPEST)
        places[deep] = (struct place){wish.row, place, team};
    deep++;
    take(&wish, place, team);
}

void slot_enter_within(const struct region_team *within, uint32_t thread, uint32_t team) {
    const struct wish wish = {
        .row = {0, (uint16_t)within->threads, 1}, .slots = within->slots, .policy = CONTIGUOUS};
    take(&wish, thread, team);
}

void slots_region_end(void) {
    if (claims_wanted())
        own_pus_team_ends();
}

void slot_leave(void) {
    if (deep)
        deep--;
}
