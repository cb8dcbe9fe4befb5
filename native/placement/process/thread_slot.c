/* thread_slot.c: the slot of each thread, in memory of its own. */
#define _GNU_SOURCE
#include "process/thread_slot.h"

#include "../regions/export.h"

static THREAD_LOCAL struct thread_slot own = {.bound = NO_SLOT};

struct thread_slot *slot_place(void) {
    return &own;
}

uint32_t slot_of_this_thread(void) { return atomic_load_explicit(&own.mine, memory_order_relaxed); }

uint32_t slot_bound(void) { return atomic_load_explicit(&own.bound, memory_order_relaxed); }

void slot_set(uint32_t slot) {
    atomic_store_explicit(&own.mine, slot, memory_order_relaxed);
    atomic_store_explicit(&own.bound, slot, memory_order_relaxed);
}

void slot_unbind(void) { atomic_store_explicit(&own.bound, NO_SLOT, memory_order_relaxed); }
