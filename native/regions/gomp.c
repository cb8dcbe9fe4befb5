/* gomp.c: the entry points of libgomp that start regions, end phases and hand out chunks. */
#include "regions.h"
#include "runtime.h"

#define SYMBOLS "gomp_symbols"

#include <stddef.h>

typedef void (*outlined)(void *);
typedef unsigned long long ull;

static atomic_bool looked_ahead;

/* On cache lines of its own; everything that the team reads is in the first one. */
struct gomp_share {
    _Alignas(CACHE_LINE) outlined function;
    void *data;
    struct region_call call;
};
_Static_assert(offsetof(struct gomp_share, call.number) == CACHE_LINE,
               "what is new each time is in the next line");

extern struct symbol __start_gomp_symbols[] __attribute__((visibility("hidden")));
extern struct symbol __stop_gomp_symbols[] __attribute__((visibility("hidden")));

static struct callee find_starter(struct symbol *symbol, outlined function) {
    const struct callee callee = runtime_find(symbol, (void *)function);
    if (__builtin_expect(!atomic_load_explicit(&looked_ahead, memory_order_relaxed), 0)) {
        atomic_store(&looked_ahead, true);
        runtime_look_ahead(__start_gomp_symbols, __stop_gomp_symbols);
    }
    return callee;
}

static void run_share(void *argument) {
    struct gomp_share *share = argument;
    passage_enter(&share->call, share->call.runtime->thread_num());
    share->function(share->data);
    passage_leave(&share->call);
}

/* The share of the outermost region that a thread has begun: at most one. It is kept, so that it is still in
 * the other threads' caches when the same region starts again. */
static THREAD_LOCAL struct gomp_share outermost;

/* An instance that can be started once more: the entry point and what comes after its first two arguments.
 * All are integers; passing more than a function takes is harmless (System V x86-64 and AArch64 procedure
 * calls). */
struct instance {
    void *entry;
    struct gomp_share *share;
    long rest[6];
};

static void start_again(const void *given) {
    const struct instance *i = given;
    struct region_call *call = &i->share->call;
    const struct passage before =
        passage_begin(call, call->function, call->runtime, (struct restart){call->again, call->given});
    ((void (*)(void (*)(void *), void *, long, long, long, long, long, long))i->entry)(
        run_share, i->share, i->rest[0], i->rest[1], i->rest[2], i->rest[3], i->rest[4], i->rest[5]);
    passage_end(call, before);
}

#define REGION(result, name, parameters, ...)                                                                \
    EXPORT result name parameters;                                                                           \
    EXPORT result name parameters {                                                                          \
        SYMBOL(#name, true);                                                                                 \
        const struct callee callee = find_starter(&symbol, function);                                        \
        struct gomp_share inner;                                                                             \
        struct gomp_share *share = &outermost;                                                               \
        if (region_depth() > 0) {                                                                            \
            inner = (struct gomp_share){0};                                                                  \
            share = &inner;                                                                                  \
        }                                                                                                    \
        if (share->function != function)                                                                     \
            share->function = function;                                                                      \
        if (share->data != data)                                                                             \
            share->data = data;                                                                              \
        const struct instance instance = {callee.function, share, {__VA_ARGS__}};                            \
        const struct passage before = passage_begin(&share->call, (void *)function, callee.runtime,          \
                                                    (struct restart){start_again, &instance});               \
        threads = region_threads(&share->call, threads);                                                     \
        CALL_##result(((__typeof__(&name))callee.function)(run_share, share, __VA_ARGS__));                  \
    }
#define CALL_void(call_)                                                                                     \
    call_;                                                                                                   \
    passage_end(&share->call, before)
#define CALL_unsigned(call_)                                                                                 \
    const unsigned result = call_;                                                                           \
    passage_end(&share->call, before);                                                                       \
    return result

#define SHARE outlined function, void *data, unsigned threads
REGION(void, GOMP_parallel, (SHARE, unsigned flags), threads, flags)
REGION(unsigned, GOMP_parallel_reductions, (SHARE, unsigned flags), threads, flags)
REGION(void, GOMP_parallel_sections, (SHARE, unsigned count, unsigned flags), threads, count, flags)
#define LOOP_REGION(name)                                                                                    \
    REGION(void, name, (SHARE, long first, long last, long step, long chunk, unsigned flags), threads,       \
           first, last, step, chunk, flags)
#define RUNTIME_LOOP_REGION(name)                                                                            \
    REGION(void, name, (SHARE, long first, long last, long step, unsigned flags), threads, first, last,      \
           step, flags)
LOOP_REGION(GOMP_parallel_loop_static)
LOOP_REGION(GOMP_parallel_loop_dynamic)
LOOP_REGION(GOMP_parallel_loop_guided)
LOOP_REGION(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP_REGION(GOMP_parallel_loop_nonmonotonic_guided)
RUNTIME_LOOP_REGION(GOMP_parallel_loop_runtime)
RUNTIME_LOOP_REGION(GOMP_parallel_loop_nonmonotonic_runtime)
RUNTIME_LOOP_REGION(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

#define BARRIER(name)                                                                                        \
    EXPORT void name(void);                                                                                  \
    EXPORT void name(void) {                                                                                 \
        passage_wait();                                                                                      \
        REAL(name)();                                                                                        \
        passage_barrier();                                                                                   \
    }
BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)

#define LOOP_NEXT(name, integer, dynamic)                                                                    \
    EXPORT bool name(integer *, integer *);                                                                  \
    EXPORT bool name(integer *first, integer *last) {                                                        \
        if (!(dynamic) || !passage_next_chunk())                                                             \
            return REAL(name)(first, last);                                                                  \
        const bool handed = REAL(name)(first, last);                                                         \
        if (handed)                                                                                          \
            passage_chunk();                                                                                 \
        return handed;                                                                                       \
    }
LOOP_NEXT(GOMP_loop_dynamic_next, long, true)
LOOP_NEXT(GOMP_loop_guided_next, long, true)
LOOP_NEXT(GOMP_loop_runtime_next, long, passage_schedule_is_dynamic())
LOOP_NEXT(GOMP_loop_nonmonotonic_dynamic_next, long, true)
LOOP_NEXT(GOMP_loop_nonmonotonic_guided_next, long, true)
LOOP_NEXT(GOMP_loop_nonmonotonic_runtime_next, long, passage_schedule_is_dynamic())
LOOP_NEXT(GOMP_loop_maybe_nonmonotonic_runtime_next, long, passage_schedule_is_dynamic())
LOOP_NEXT(GOMP_loop_ull_dynamic_next, ull, true)
LOOP_NEXT(GOMP_loop_ull_guided_next, ull, true)
LOOP_NEXT(GOMP_loop_ull_runtime_next, ull, passage_schedule_is_dynamic())
LOOP_NEXT(GOMP_loop_ull_nonmonotonic_dynamic_next, ull, true)
LOOP_NEXT(GOMP_loop_ull_nonmonotonic_guided_next, ull, true)
LOOP_NEXT(GOMP_loop_ull_nonmonotonic_runtime_next, ull, passage_schedule_is_dynamic())
LOOP_NEXT(GOMP_loop_ull_maybe_nonmonotonic_runtime_next, ull, passage_schedule_is_dynamic())
