/* lifetimes.c: see lifetimes.h. */
#include "threads/lifetimes.h"

#include "../regions/export.h"
#include "policy/verify.h"
#include "process/system.h"

#include <stdatomic.h>
#include <stdint.h>

#define MOMENT_NS 1000000u
#define IN_A_ROW 32

static _Atomic uint32_t ended_soon; /* in a row */
static _Atomic uint64_t last_end_ns;
static atomic_bool one_lives; /* that began where its creator ran */

static THREAD_LOCAL uint64_t began_ns;
static THREAD_LOCAL bool is_the_one;

bool lifetime_is_brief(void) {
    return atomic_load_explicit(&ended_soon, memory_order_relaxed) >= IN_A_ROW &&
           system_now_ns() - atomic_load_explicit(&last_end_ns, memory_order_relaxed) < MOMENT_NS &&
           !atomic_exchange(&one_lives, true);
}

void lifetime_forget(void) { atomic_store(&one_lives, false); }

void lifetime_begins(bool brief) {
    began_ns = system_now_ns();
    is_the_one = brief;
    if (brief)
        verify_brief();
}

void lifetime_ends(void) {
    if (!began_ns)
        return;
    const uint64_t now = system_now_ns();
    if (now - began_ns < MOMENT_NS)
        atomic_fetch_add_explicit(&ended_soon, 1, memory_order_relaxed);
    else
        atomic_store_explicit(&ended_soon, 0, memory_order_relaxed);
    atomic_store_explicit(&last_end_ns, now, memory_order_relaxed);
    if (is_the_one)
        atomic_store(&one_lives, false);
    began_ns = 0;
}

void lifetimes_after_fork(void) { atomic_store(&one_lives, false); }
