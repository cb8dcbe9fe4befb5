/* thread_places.c: binds threads for a while. */
#define _GNU_SOURCE
#include "threads/thread_places.h"

#include "../regions/export.h"
#include "process/settings.h"
#include "process/system.h"
#include "process/thread_slot.h"
#include "threads/affinity.h"
#include "threads/slots.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#define MASK_BYTES 1024

/* By number in its team, where each was, plus 1. libgomp ends the threads that a smaller team does not need,
 * and the kernel puts those which it starts in their place elsewhere. */
static _Atomic uint16_t seen_of[MOST_SLOTS];
static atomic_bool any_taken; /* before that each thread is where the kernel put it */

static THREAD_LOCAL struct {
    uint32_t number;
    int bytes; /* of the mask; 0: not bound by us */
    int seen;  /* on this CPU, plus 1; 0: not yet */
    bool back; /* it is there again, and bound still */
    unsigned char byte[MASK_BYTES];
} before;

static bool read_mask(void) {
    before.bytes = system_read_mask(before.byte, sizeof before.byte);
    if (before.bytes < 0)
        before.bytes = 0;
    return before.bytes > 0;
}

/* By us: not where the program has set the thread's mask, if to the same PU. */
static bool is_bound(void) {
    return slot_bound() != NO_SLOT && system_is_bound(settings()->cpu[slot_bound()]) &&
           !affinity_is_programs_of(pthread_self(), gettid());
}

/* Bind where the thread was, as under a mapping; return whether it is. */
static bool go_back(void) {
    const struct settings *s = settings();
    uint32_t slot = 0;
    while (slot < s->slots && s->cpu[slot] + 1 != before.seen)
        slot++;
    if (slot == s->slots)
        return false;
    slot_bind(slot);
    before.back = is_bound();
    if (!before.back &&
        slot_bound() == NO_SLOT) /* another process has that PU: all of the mapping's were set */
        system_set_mask(before.byte, (size_t)before.bytes);
    return before.back;
}

static void set_free(void) {
    const uint16_t cpu = (uint16_t)(before.seen - 1);
    if (is_bound()) { /* else the program has bound it */
        if (before.seen && !before.back)
            system_bind(&cpu, 1);
        system_set_mask(before.byte, (size_t)before.bytes);
    }
    if (slot_bound() != NO_SLOT)
        slot_give_back(slot_bound());
    slot_unbind();
    before.bytes = 0;
    before.back = false;
}

void thread_place_settle(void) {
    if (before.back)
        set_free();
}

void thread_place_leave(uint32_t number) {
    before.number = number;
    if (before.bytes) {
        if (before.back || !is_bound() || !go_back())
            set_free();
        return;
    }
    if (before.seen || number >= MOST_SLOTS || !atomic_load_explicit(&any_taken, memory_order_relaxed))
        return;
    before.seen = atomic_load_explicit(&seen_of[number], memory_order_relaxed);
    if (before.seen && read_mask() && !go_back())
        set_free();
}

void thread_place_leave_now(void) {
    if (before.bytes)
        set_free();
}

void thread_place_take(const struct region_team *within, uint32_t thread, uint32_t team) {
    before.number = thread;
    if (!before.bytes && !read_mask())
        return;
    if (!atomic_load_explicit(&any_taken, memory_order_relaxed))
        atomic_store(&any_taken, true);
    before.back = false;
    slot_enter_within(within, thread, team);
}

int thread_place_note(void) {
    if (before.bytes)
        return -1;
    const int cpu = sched_getcpu();
    if (cpu < 0)
        return cpu;
    before.seen = cpu + 1;
    if (before.number < MOST_SLOTS &&
        atomic_load_explicit(&seen_of[before.number], memory_order_relaxed) != before.seen)
        atomic_store_explicit(&seen_of[before.number], (uint16_t)before.seen, memory_order_relaxed);
    return cpu;
}
