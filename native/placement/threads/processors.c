/* processors.c: the number of PUs that an OpenMP program sees while its main thread is bound to one PU.
 *
 * libgomp counts the PUs that the calling thread may use, and libomp those of the thread that calls it first:
 * both would see one. They must see the mapping's PUs.
 */
#define _GNU_SOURCE
#include "threads/processors.h"

#define SYMBOLS "numa_processors"
#include "../regions/runtime.h"
#include "process/settings.h"
#include "process/thread_slot.h"
#include "process/withdrawn.h"
#include "threads/pool.h"
#include "threads/slots.h"
#include "threads/teams.h"

#include <stdatomic.h>
#include <stdint.h>

static _Atomic bool shown;

bool processors_show_all(void) {
    if (!settings() || withdrawn() || atomic_load_explicit(&shown, memory_order_relaxed) ||
        atomic_exchange(&shown, true))
        return false;
    pool_leave_to_regions();
    slots_release_binding();
    return true;
}

/* libomp initialises at the first query. */
static int ask(int (*real)(void)) {
    const bool bind_again = slot_bound() != NO_SLOT && processors_show_all();
    const uint32_t slot = slot_of_this_thread();
    const int answer = real();
    if (bind_again)
        slot_bind(slot);
    return answer;
}

#define PROCESSORS(question)                                                                                 \
    int question(void);                                                                                      \
    EXPORT int question(void) {                                                                              \
        const int answer = ask(REAL(question));                                                              \
        return settings() ? (int)settings()->slots : answer;                                                 \
    }
#define MOST_THREADS(question)                                                                               \
    int question(void);                                                                                      \
    EXPORT int question(void) {                                                                              \
        teams_asked();                                                                                       \
        return ask(REAL(question));                                                                          \
    }
PROCESSORS(omp_get_num_procs)
PROCESSORS(omp_get_num_procs_)
MOST_THREADS(omp_get_max_threads)
MOST_THREADS(omp_get_max_threads_)
