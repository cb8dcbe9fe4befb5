/* chunks.c: the entry points of libgomp that hand a thread its first chunk of a loop, and those of ordered
 * loops. The tracer counts chunks; placement does not need these. libomp has none of its own: there every
 * chunk comes as the next one (native/regions/kmp.c).
 */
#include "../regions/export.h"
#include "../regions/regions.h"
#include "../regions/runtime.h"

#define SYMBOLS "chunk_symbols"

typedef unsigned long long ull;

#define HANDS(name, dynamic, parameters, ...)                                                                \
    EXPORT bool name parameters;                                                                             \
    EXPORT bool name parameters {                                                                            \
        const bool handed = REAL(name)(__VA_ARGS__);                                                         \
        if (handed && (dynamic))                                                                             \
            passage_chunk();                                                                                 \
        return handed;                                                                                       \
    }

#define START(kind)                                                                                          \
    HANDS(GOMP_loop_##kind##_start, true,                                                                    \
          (long from, long to, long step, long chunk, long *first, long *last), from, to, step, chunk,       \
          first, last)                                                                                       \
    HANDS(GOMP_loop_ull_##kind##_start, true,                                                                \
          (bool up, ull from, ull to, ull step, ull chunk, ull *first, ull *last), up, from, to, step,       \
          chunk, first, last)
#define RUNTIME_START(kind)                                                                                  \
    HANDS(GOMP_loop_##kind##_start, passage_schedule_is_dynamic(),                                           \
          (long from, long to, long step, long *first, long *last), from, to, step, first, last)             \
    HANDS(GOMP_loop_ull_##kind##_start, passage_schedule_is_dynamic(),                                       \
          (bool up, ull from, ull to, ull step, ull *first, ull *last), up, from, to, step, first, last)
#define ORDERED_NEXT(kind, dynamic)                                                                          \
    HANDS(GOMP_loop_ordered_##kind##_next, dynamic, (long *first, long *last), first, last)                  \
    HANDS(GOMP_loop_ull_ordered_##kind##_next, dynamic, (ull * first, ull * last), first, last)

START(dynamic)
START(guided)
START(nonmonotonic_dynamic)
START(nonmonotonic_guided)
START(ordered_dynamic)
START(ordered_guided)
RUNTIME_START(runtime)
RUNTIME_START(nonmonotonic_runtime)
RUNTIME_START(maybe_nonmonotonic_runtime)
RUNTIME_START(ordered_runtime)
ORDERED_NEXT(dynamic, true)
ORDERED_NEXT(guided, true)
ORDERED_NEXT(runtime, passage_schedule_is_dynamic())
