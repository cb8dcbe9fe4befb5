/* slots.c: which thread runs on which PU: rows of slots for teams, free slots for other threads. */
#define _GNU_SOURCE
#include "threads/slots.h"

#include "../regions/export.h"
#include "../regions/spin.h"
#include "process/settings.h"
#include "process/thread_slot.h"
#include "threads/affinity.h"
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

static atomic_flag counting = ATOMIC_FLAG_INIT;
static uint32_t threads_on[MOST_SLOTS];

uint32_t slot_reserve(void) {
    const struct settings *s = settings();
    uint32_t best = 0;
    spin_lock(&counting);
    for (uint32_t slot = 1; slot < s->slots && threads_on[best]; slot++)
        if (threads_on[slot] < threads_on[best])
            best = slot;
    threads_on[best]++;
    spin_unlock(&counting);
    return best;
}

void slot_give_back(uint32_t slot) {
    spin_lock(&counting);
    if (threads_on[slot])
        threads_on[slot]--;
    spin_unlock(&counting);
}

static void bind_to(uint32_t slot) {
    slot_set(slot);
    affinity_bind(slot);
}

void slot_start(uint32_t slot) {
    slot_set(slot);
    affinity_begin();
}

/* A runtime may have reset a thread's affinity since its creation: libomp does, to all PUs. */
static bool stands_on(uint32_t slot) {
    return slot_bound() == slot && entered && sched_getcpu() == settings()->cpu[slot];
}

void slot_take(uint32_t slot) {
    if (stands_on(slot))
        return;
    entered = true;
    if (slot_bound() == slot) {
        bind_to(slot);
        return;
    }
    spin_lock(&counting);
    if (slot_bound() != NO_SLOT && threads_on[slot_bound()])
        threads_on[slot_bound()]--;
    threads_on[slot]++;
    spin_unlock(&counting);
    bind_to(slot);
}

void slots_release_binding(void) {
    affinity_release();
    if (slot_bound() != NO_SLOT)
        slot_give_back(slot_bound());
    slot_unbind();
}

void slots_after_fork(void) {
    atomic_flag_clear(&counting);
    for (uint32_t slot = 0; slot < settings()->slots; slot++)
        threads_on[slot] = 0;
    deep = 0;
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
    if (deep == 0 || deep > DEEPEST) {
        set_row(call, (struct slot_row){0, (uint16_t)settings()->slots, 1});
        return;
    }
    const struct place *outer = &places[deep - 1];
    set_row(call, row_of_inner_team(outer->row, outer->thread, outer->team, policy()));
}

void slot_enter(const struct region_call *call, uint32_t thread, uint32_t team) {
    const struct slot_row row = call->rows[policy()];
    if (deep < DEEPEST)
        places[deep] = (struct place){row, thread, team};
    deep++;
    const struct region_team *chosen = teams_exist() ? call->chosen : NULL;
    slot_take(chosen && thread < chosen->threads ? chosen->slots[thread]
                                                 : slot_in_row(row, thread, team, policy()));
}

void slot_enter_within(const struct region_team *within, uint32_t thread, uint32_t team) {
    const struct slot_row all = {0, (uint16_t)within->threads, 1};
    slot_take(within->slots[slot_in_row(all, thread, team, CONTIGUOUS)]);
}

void slot_leave(void) {
    if (deep)
        deep--;
}
