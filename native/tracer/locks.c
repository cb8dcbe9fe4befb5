/* locks.c: the entry points of libgomp and libomp at which a thread enters a section that only one may be in.
 * The tracer counts them; placement does not need these.
 *
 * The locks of omp_set_lock are left alone: a program may have thousands that nobody waits for. So are
 * reductions, whose way libomp chooses.
 */
#include "../regions/export.h"
#include "../regions/runtime.h"
#include "marks.h"

#define SYMBOLS "lock_symbols"

/* libomp's functions with libgomp's names call those with its own. */
static THREAD_LOCAL bool inside;

static bool enter(void) {
    const bool outer = !inside;
    inside = true;
    return outer;
}

static void entered(bool outer) {
    if (!outer)
        return;
    inside = false;
    lock_mark();
}

#define LOCK(name, parameters, ...)                                                                          \
    EXPORT void name parameters;                                                                             \
    EXPORT void name parameters {                                                                            \
        const bool outer = enter();                                                                          \
        REAL(name)(__VA_ARGS__);                                                                             \
        entered(outer);                                                                                      \
    }

LOCK(GOMP_critical_start, (void))
LOCK(GOMP_critical_name_start, (void **section), section)
LOCK(GOMP_atomic_start, (void))
LOCK(GOMP_ordered_start, (void))
LOCK(__kmpc_critical, (void *location, int32_t thread, void *section), location, thread, section)
LOCK(__kmpc_critical_with_hint, (void *location, int32_t thread, void *section, uint32_t hint), location,
     thread, section, hint)
LOCK(__kmpc_ordered, (void *location, int32_t thread), location, thread)
