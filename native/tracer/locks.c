/* locks.c: the entry points of libgomp and libomp at which a thread enters a section that only one may be in.
 * The tracer counts them; placement does not need these.
 *
 * Nestable locks are left alone: libgomp has two versions of them, of different sizes. So are reductions,
 * whose way libomp chooses.
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
LOCK(omp_set_lock, (void *lock), lock)
LOCK(omp_set_lock_, (void *lock), lock)

#define TRY(name)                                                                                            \
    EXPORT int name(void *lock);                                                                             \
    EXPORT int name(void *lock) {                                                                            \
        const int got = REAL(name)(lock);                                                                    \
        if (got)                                                                                             \
            lock_mark();                                                                                     \
        return got;                                                                                          \
    }

TRY(omp_test_lock)
TRY(omp_test_lock_)
