/* holds.c: a small table of held memory, without locks. */
#include "protection/holds.h"

#include "process/system.h"

#include <stdatomic.h>

#define HOLDS 512
#define BEING_FILLED 1 /* no address of a program */

static struct { _Atomic uintptr_t start, end; /* start 0: free */ } holds[HOLDS];
#define ENDINGS 64
#define ENDING_NS 1000000000u /* for longer no thread is waited for: its number may be another's by then */

static struct {
    _Atomic int thread; /* 0: free */
    _Atomic uint64_t began_ns;
} endings[ENDINGS];
static _Atomic uint32_t ending_threads;
static _Atomic uint64_t until_ns;
static _Atomic uint32_t everything, highest; /* highest: entries ever used */

uint32_t hold_take_everything(void) {
    atomic_fetch_add(&everything, 1);
    return HOLD_EVERYTHING;
}

uint32_t hold_take(uintptr_t start, uintptr_t end) {
    for (uint32_t n = 0; n < HOLDS; n++) {
        uintptr_t free = 0;
        if (atomic_load_explicit(&holds[n].start, memory_order_relaxed) != 0 ||
            !atomic_compare_exchange_strong(&holds[n].start, &free, BEING_FILLED))
            continue;
        uint32_t top = atomic_load(&highest);
        while (top < n + 1 && !atomic_compare_exchange_weak(&highest, &top, n + 1))
            ;
        atomic_store(&holds[n].end, end);
        atomic_store(&holds[n].start, start);
        return n;
    }
    return hold_take_everything();
}

void hold_give(uint32_t hold) {
    if (hold == HOLD_EVERYTHING)
        atomic_fetch_sub(&everything, 1);
    else
        atomic_store(&holds[hold].start, 0);
}

void hold_everything_until(uint64_t time_ns) { atomic_store(&until_ns, time_ns); }

void hold_everything_while(int thread) {
    const uint64_t now = system_now_ns();
    for (uint32_t n = 0; n < ENDINGS; n++) {
        int free = 0;
        if (atomic_load(&endings[n].thread) ||
            !atomic_compare_exchange_strong(&endings[n].thread, &free, thread))
            continue;
        atomic_store(&endings[n].began_ns, now);
        atomic_fetch_add(&ending_threads, 1);
        return;
    }
    hold_everything_until(now + ENDING_NS);
}

static bool any_is_ending(void) {
    for (uint32_t n = 0; n < ENDINGS && atomic_load(&ending_threads); n++) {
        int thread = atomic_load(&endings[n].thread);
        const uint64_t began = atomic_load(&endings[n].began_ns);
        if (!thread || !began)
            continue;
        if (!system_has_ended(thread) && system_now_ns() < began + ENDING_NS)
            return true;
        atomic_store(&endings[n].began_ns, 0);
        if (atomic_compare_exchange_strong(&endings[n].thread, &thread, 0))
            atomic_fetch_sub(&ending_threads, 1);
    }
    return false;
}

bool hold_of_everything(void) {
    const uint64_t until = atomic_load(&until_ns);
    return atomic_load(&everything) != 0 || any_is_ending() || (until != 0 && system_now_ns() < until);
}

void holds_within(uintptr_t start, uintptr_t end, void (*visit)(uintptr_t from, uintptr_t to, void *data),
                  void *data) {
    const uint32_t top = atomic_load(&highest);
    for (uint32_t n = 0; n < top; n++) {
        const uintptr_t from = atomic_load(&holds[n].start), to = atomic_load(&holds[n].end);
        if (from > BEING_FILLED && from < end && to > start)
            visit(from > start ? from : start, to < end ? to : end, data);
    }
}
