/* tasks.c: the entry points of libgomp and libomp that create tasks. Which thread runs a task is decided at
 * run time, like the chunks of a dynamic loop, and the tracer must record it. Placement does not need these.
 */
#include "../regions/export.h"
#include "../regions/regions.h"
#include "../regions/runtime.h"
#include "marks.h"

#define SYMBOLS "task_symbols"

typedef unsigned long ulong_t;
typedef unsigned long long ull;

/* Callers of older versions pass fewer arguments; the rest is not read then. */
#define TASK(result, name, parameters, ...)                                                                  \
    EXPORT result name parameters;                                                                           \
    EXPORT result name parameters {                                                                          \
        task_mark();                                                                                         \
        return REAL(name)(__VA_ARGS__);                                                                      \
    }

TASK(void, GOMP_task,
     (void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment,
      bool condition, unsigned flags, void **depend, int priority, void *detach),
     function, data, copy, bytes, alignment, condition, flags, depend, priority, detach)

#define GOMP_TASKLOOP(name, integer)                                                                         \
    TASK(void, name,                                                                                         \
         (void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes, long alignment,    \
          unsigned flags, ulong_t tasks, int priority, integer first, integer last, integer step),           \
         function, data, copy, bytes, alignment, flags, tasks, priority, first, last, step)
GOMP_TASKLOOP(GOMP_taskloop, long)
GOMP_TASKLOOP(GOMP_taskloop_ull, ull)

TASK(int32_t, __kmpc_omp_task, (void *location, int32_t thread, void *task), location, thread, task)
TASK(int32_t, __kmpc_omp_task_with_deps,
     (void *location, int32_t thread, void *task, int32_t count, void *depend, int32_t more, void *others),
     location, thread, task, count, depend, more, others)
TASK(void, __kmpc_taskloop,
     (void *location, int32_t thread, void *task, int32_t condition, uint64_t *first, uint64_t *last,
      int64_t step, int32_t nogroup, int32_t schedule, uint64_t grain, void *copy),
     location, thread, task, condition, first, last, step, nogroup, schedule, grain, copy)
TASK(void, __kmpc_taskloop_5,
     (void *location, int32_t thread, void *task, int32_t condition, uint64_t *first, uint64_t *last,
      int64_t step, int32_t nogroup, int32_t schedule, uint64_t grain, int32_t modifier, void *copy),
     location, thread, task, condition, first, last, step, nogroup, schedule, grain, modifier, copy)
