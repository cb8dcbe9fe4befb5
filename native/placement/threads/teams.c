/* teams.c: chooses teams for regions, and counts what became of the plan's. */
#define _GNU_SOURCE
#include "threads/teams.h"

#include "../regions/export.h"
#include "../regions/runtime.h"
#include "policy/plan.h"
#include "process/settings.h"
#include "process/system.h"
#include "process/thread_slot.h"
#include "threads/own_pus.h"

#include <stddef.h>

/* A region of the plan. */
struct planned {
    struct region_team team;
    uint64_t key;
    _Atomic uint32_t instances, applied, right, wrong;
};

static const struct region_team as_it_is; /* looked up, and not in the plan */
bool teams_any;                           /* written before the regions that it concerns */
static struct planned *planned;
static size_t planned_count;
static THREAD_LOCAL bool asked;

void teams_prepare(void) {
    size_t count;
    const struct plan_region *given = plan_regions(&count);
    if (count == 0 || !(planned = system_memory(count * sizeof *planned)))
        return;
    for (size_t n = 0; n < count; n++) {
        if (given[n].threads == 0)
            continue;
        planned[planned_count].team =
            (struct region_team){.threads = given[n].threads, .from = given[n].from, .slots = given[n].slot};
        planned[planned_count++].key = given[n].key;
    }
    teams_any = planned_count > 0;
}

void teams_set(struct region *region, const struct region_team *team) {
    atomic_store_explicit(&region->team, team ? team : &as_it_is, memory_order_release);
    if (!teams_any)
        teams_any = true;
}

void teams_after_fork(void) {
    for (size_t n = 0; n < planned_count; n++)
        planned[n].instances = planned[n].applied = planned[n].right = planned[n].wrong = 0;
}

void teams_asked(void) {
    if (region_depth() == 0)
        asked = true;
}

/* The plan has few regions, and each is looked up once. */
static const struct region_team *look_up(struct region *region) {
    const struct region_team *found = &as_it_is;
    for (size_t n = 0; n < planned_count && found == &as_it_is; n++)
        if (planned[n].key == region->key)
            found = &planned[n].team;
    atomic_store_explicit(&region->team, found, memory_order_release);
    return found;
}

/* Return the plan's entry of a team; NULL if the team was set. */
static struct planned *entry_of(const struct region_team *team) {
    const uintptr_t at = (uintptr_t)team;
    return at >= (uintptr_t)planned && at < (uintptr_t)(planned + planned_count) ? (struct planned *)at
                                                                                 : NULL;
}

/* The team of a region's next instance. */
static const struct region_team *next_team(struct region *region) {
    const struct region_team *team = atomic_load_explicit(&region->team, memory_order_acquire);
    if (!team)
        team = look_up(region);
    if (team->threads == 0 ||
        (team->from && atomic_load_explicit(&region->instances, memory_order_relaxed) < team->from &&
         atomic_fetch_add_explicit(&region->instances, 1, memory_order_relaxed) < team->from))
        return NULL;
    struct planned *entry = entry_of(team);
    if (entry && settings()->map)
        entry->instances++;
    return asked ? NULL : team;
}

/* The call is kept for the next instance of its region, whose team reads it: write only what changes. */
static void choose(struct region_call *call, const struct region_team *team) {
    if (call->chosen != team)
        call->chosen = team;
}

void teams_choose(struct region_call *call) {
    choose(call, call->region ? next_team(call->region) : NULL);
    asked = false;
}

void teams_leave(struct region_call *call) { choose(call, NULL); }

/* The calling thread's entry in the plan and its slot there; NULL where nothing is to be looked at. */
static struct planned *looked_at(const struct region_call *call, uint32_t thread, uint32_t *slot) {
    if (!call->chosen || !settings()->map)
        return NULL;
    struct planned *entry = entry_of(call->chosen);
    if (!entry || thread >= entry->team.threads)
        return NULL;
    *slot = own_slot_for(entry->team.slots[thread]);
    return entry;
}

void teams_begun(const struct region_call *call, uint32_t thread, uint32_t team) {
    uint32_t slot;
    struct planned *entry = looked_at(call, thread, &slot);
    if (!entry)
        return;
    if (thread == 0 && team == entry->team.threads)
        entry->applied++;
    if (system_is_bound(settings()->cpu[slot]))
        entry->right++;
    else
        entry->wrong++;
}

/* A region inside this one may have given the thread another slot. */
void teams_ended(const struct region_call *call) {
    uint32_t slot;
    struct planned *entry =
        call->chosen ? looked_at(call, (uint32_t)call->runtime->thread_num(), &slot) : NULL;
    if (entry && slot_bound() == slot && !system_is_bound(settings()->cpu[slot]))
        entry->wrong++;
}

void teams_for_each(void (*visit)(const struct verified_team *seen, void *data), void *data) {
    for (size_t n = 0; n < planned_count; n++) {
        const struct planned *p = &planned[n];
        const struct verified_team seen = {.key = p->key,
                                           .threads = p->team.threads,
                                           .instances = p->instances,
                                           .applied = p->applied,
                                           .right = p->right,
                                           .wrong = p->wrong};
        visit(&seen, data);
    }
}
