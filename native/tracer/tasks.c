/* tasks.c: the entry points of libgomp and libomp that create tasks. Which thread runs a task is decided at
 * run time, like the chunks of a dynamic loop, and the tracer must record it. Placement does not need these.
 */
#include "../regions/export.h"
#include "../regions/regions.h"
#include "../regions/runtime.h"
#include "marks.h"

#include <stddef.h>

#define SYMBOLS "task_symbols"

typedef unsigned long ulong_t;
typedef unsigned long long ull;

/* Callers of older versions pass fewer arguments; the rest is not read then. */
#define TASK(name, parameters, ...)                                                                          \
    EXPORT void name parameters;                                                                             \
    EXPORT void name parameters {                                                                            \
        task_mark((void (*)(void))function);                                                                 \
        REAL(name)(__VA_ARGS__);                                                                             \
    }

TASK(GOMP_task,
     (void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment,
      bool condition, unsigned flags, void **depend, int priority, void *detach),
     function, data, copy, bytes, alignment, condition, flags, depend, priority, detach)

#define GOMP_TASKLOOP(name, integer)                                                                         \
    TASK(name,                                                                                               \
         (void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment,    \
          unsigned flags, ulong_t tasks, int priority, integer first, integer last, integer step),           \
         function, data, copy, bytes, alignment, flags, tasks, priority, first, last, step)
GOMP_TASKLOOP(GOMP_taskloop, long)
GOMP_TASKLOOP(GOMP_taskloop_ull, ull)

/* All of libomp's ways to create a task begin with its memory. */
EXPORT void *__kmpc_omp_task_alloc(void *, int32_t, int32_t, size_t, size_t, void (*)(void));
void *__kmpc_omp_task_alloc(void *location, int32_t thread, int32_t flags, size_t bytes, size_t shared_bytes,
                            void (*function)(void)) {
    task_mark(function);
    return REAL(__kmpc_omp_task_alloc)(location, thread, flags, bytes, shared_bytes, function);
}
