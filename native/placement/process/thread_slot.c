/* thread_slot.c: the slot of each thread, in its own memory or where another thread finds it. */
#define _GNU_SOURCE
#include "process/thread_slot.h"

#include "../regions/export.h"

static THREAD_LOCAL struct thread_slot first = {.bound = NO_SLOT};
static THREAD_LOCAL struct thread_slot *kept; /* elsewhere */

static struct thread_slot *own(void) { return kept ? kept : &first; }

void slot_keep_at(struct thread_slot *place) {
    struct thread_slot *const to = place ? place : &first;
    atomic_store(&to->mine, slot_of_this_thread());
    atomic_store(&to->bound, slot_bound());
    kept = place;
}

uint32_t slot_of_this_thread(void) { return atomic_load_explicit(&own()->mine, memory_order_relaxed); }

uint32_t slot_bound(void) { return atomic_load_explicit(&own()->bound, memory_order_relaxed); }

void slot_set(uint32_t slot) {
    atomic_store_explicit(&own()->mine, slot, memory_order_relaxed);
    atomic_store_explicit(&own()->bound, slot, memory_order_relaxed);
}

void slot_unbind(void) { atomic_store_explicit(&own()->bound, NO_SLOT, memory_order_relaxed); }
