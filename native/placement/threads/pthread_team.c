/* pthread_team.c: counts the program's own threads. */
#define _GNU_SOURCE
#include "threads/pthread_team.h"

#include "../regions/regions.h"
#include "policy/next_touch.h"
#include "process/lock.h"
#include "profile/profile.h"

#include <stdatomic.h>
#include <stdint.h>

static atomic_bool wanted;
static struct lock lock; /* of the variables below, and of the first thread's start and the last one's end */
static _Atomic uint32_t size;
static struct region_call call; /* its function is NULL between two teams */

void pthread_team_prepare(void) { atomic_store(&wanted, true); }

static void begin(void *routine) {
    call = (struct region_call){.function = routine};
    next_touch_region_begin(&call);
    profile_region_begin(&call);
}

static void end(void) {
    if (!call.function)
        return;
    next_touch_region_end(&call);
    profile_region_end(&call);
    call.function = NULL;
}

void pthread_team_give_way(void) {
    if (!atomic_load_explicit(&wanted, memory_order_relaxed))
        return;
    const uint64_t mask = lock_take(&lock);
    atomic_store(&wanted, false);
    end();
    lock_give(&lock, mask);
}

/* Count a thread that is neither the first nor the last. */
static bool changed(uint32_t least, uint32_t by) {
    uint32_t had = atomic_load(&size);
    while (had >= least)
        if (atomic_compare_exchange_weak(&size, &had, had + by))
            return true;
    return false;
}

bool pthread_team_grows(void *routine) {
    if (!atomic_load_explicit(&wanted, memory_order_relaxed))
        return false;
    if (changed(1, 1))
        return true;
    const uint64_t mask = lock_take(&lock);
    if (atomic_load(&size) == 0)
        begin(routine);
    atomic_fetch_add(&size, 1);
    lock_give(&lock, mask);
    return true;
}

void pthread_team_shrinks(void) {
    if (changed(2, UINT32_MAX))
        return;
    const uint64_t mask = lock_take(&lock);
    if (atomic_fetch_sub(&size, 1) == 1)
        end();
    lock_give(&lock, mask);
}

void pthread_team_after_fork(void) {
    lock = (struct lock){0};
    atomic_store(&wanted, false);
    atomic_store(&size, 0);
    call.function = NULL;
}
