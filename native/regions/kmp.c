/* kmp.c: the entry points of libomp that start regions, end phases and hand out chunks.
 *
 * __kmpc_fork_teams is left alone: each of its teams starts its regions with __kmpc_fork_call, and on a host
 * there is one team unless the program asks for more.
 */
#include "many_arguments.h"
#include "regions.h"
#include "runtime.h"

#define SYMBOLS "kmp_symbols"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef void (*microtask)(int32_t *, int32_t *, ...);

/* clang passes every shared variable of a region as an argument of its own. The arguments stay on the stack
   of the encountering thread; the runtime passes on one pointer. */
#define FEW 4
#define GIVEN(n) given[n]
#define GIVEN_4(n) GIVEN(n), GIVEN((n) + 1), GIVEN((n) + 2), GIVEN((n) + 3)
#define GIVEN_16(n) GIVEN_4(n), GIVEN_4((n) + 4), GIVEN_4((n) + 8), GIVEN_4((n) + 12)
#define GIVEN_64(n) GIVEN_16(n), GIVEN_16((n) + 16), GIVEN_16((n) + 32), GIVEN_16((n) + 48)
#define GIVEN_256(n) GIVEN_64(n), GIVEN_64((n) + 64), GIVEN_64((n) + 128), GIVEN_64((n) + 192)

/* Passing more arguments than a function takes is harmless: the caller removes them. */
#define CALL_WITH(most)                                                                                      \
    static void call_with_##most(microtask function, int32_t *global, int32_t *bound, void **given) {        \
        function(global, bound, GIVEN_##most(0));                                                            \
    }
CALL_WITH(4)
CALL_WITH(16)
CALL_WITH(64)
CALL_WITH(256)

/* The first says how many follow. */
static void call_with_many(microtask function, int32_t *global, int32_t *bound, void **given) {
    call_with_arguments((void (*)(void))function, global, bound, given + 1, (size_t)(uintptr_t)given[0]);
}

typedef void (*caller)(microtask, int32_t *, int32_t *, void **);

/* On cache lines of its own; everything that the team reads is in the first one. */
struct kmp_share {
    _Alignas(CACHE_LINE) caller call_with;
    void **given; /* the function and arguments that `call_with` passes on */
    struct region_call call;
    _Alignas(CACHE_LINE) void *few[FEW]; /* `given`, where that is enough */
};
_Static_assert(offsetof(struct kmp_share, call.number) == CACHE_LINE,
               "what is new each time is in the next line");

static void run_share(int32_t *global, int32_t *bound, struct kmp_share *share) {
    passage_enter(&share->call, *bound);
    share->call_with((microtask)share->call.function, global, bound, share->given);
    passage_leave(&share->call);
}

EXPORT void __kmpc_fork_call(void *, int32_t, microtask, ...);

/* What the num_threads clause of the thread's next region says; 0 without one. Where the condition of that
 * region is false, it is not started here, and the number stays for the one that comes next, which then keeps
 * its own team. */
static THREAD_LOCAL unsigned own_threads;

EXPORT void __kmpc_push_num_threads(void *, int32_t, int32_t);
void __kmpc_push_num_threads(void *location, int32_t thread, int32_t threads) {
    own_threads = threads > 0 ? (unsigned)threads : 1;
    REAL(__kmpc_push_num_threads)(location, thread, threads);
}

extern struct symbol __start_kmp_symbols[] __attribute__((visibility("hidden")));
extern struct symbol __stop_kmp_symbols[] __attribute__((visibility("hidden")));
static atomic_bool looked_ahead;

/* The share of the outermost region that a thread has begun: at most one. It is kept, so that it is still in
 * the other threads' caches when the same region starts again. */
static THREAD_LOCAL struct kmp_share outermost;

static struct kmp_share *choose_share(struct kmp_share *inner, caller call_with, void **given) {
    struct kmp_share *share = inner;
    if (region_depth() == 0)
        share = &outermost;
    else
        *inner = (struct kmp_share){0};
    if (share->call_with != call_with)
        share->call_with = call_with;
    if (call_with == call_with_4) {
        for (int n = 0; n < FEW; n++)
            if (share->few[n] != given[n])
                share->few[n] = given[n];
        given = share->few;
    }
    if (share->given != given)
        share->given = given;
    return share;
}

/* An instance that can be started once more. */
struct instance {
    __typeof__(&__kmpc_fork_call) entry;
    void *location;
    struct kmp_share *share;
};

static void start_again(const void *given) {
    const struct instance *i = given;
    struct region_call *call = &i->share->call;
    const struct passage before =
        passage_begin(call, call->function, call->runtime, (struct restart){call->again, call->given});
    i->entry(i->location, 1, (microtask)run_share, i->share);
    passage_end(call, before);
}

static void start(void *location, microtask function, caller call_with, void **given) {
    SYMBOL("__kmpc_fork_call", true);
    const struct callee callee = runtime_find(&symbol, (void *)function);
    if (__builtin_expect(!atomic_load_explicit(&looked_ahead, memory_order_relaxed), 0)) {
        atomic_store(&looked_ahead, true);
        runtime_look_ahead(__start_kmp_symbols, __stop_kmp_symbols);
    }
    struct kmp_share inner;
    struct kmp_share *share = choose_share(&inner, call_with, given);
    const struct instance instance = {(__typeof__(&__kmpc_fork_call))callee.function, location, share};
    const struct passage before = passage_begin(&share->call, (void *)function, callee.runtime,
                                                (struct restart){start_again, &instance});
    const unsigned own = own_threads, threads = region_threads(&share->call, own);
    own_threads = 0;
    if (threads != own)
        callee.runtime->push_threads(location, callee.runtime->global_thread(location), (int32_t)threads);
    instance.entry(location, 1, (microtask)run_share, share);
    passage_end(&share->call, before);
}

void __kmpc_fork_call(void *location, int32_t count, microtask function, ...) {
    const int32_t many = count > 256, places = count <= FEW  ? FEW
                                               : count <= 16 ? 16
                                               : count <= 64 ? 64
                                               : many        ? count + 1
                                                             : 256;
    void *given[places];
    given[0] = (void *)(uintptr_t)count;
    va_list list;
    va_start(list, function);
    for (int32_t n = 0; n < places - many; n++)
        given[n + many] = n < count ? va_arg(list, void *) : NULL;
    va_end(list);
    start(location, function,
          places == FEW  ? call_with_4
          : places == 16 ? call_with_16
          : places == 64 ? call_with_64
          : many         ? call_with_many
                         : call_with_256,
          given);
}

/* libomp from version 15 on: with a false condition, the encountering thread is a team of one. A true one is
 * __kmpc_fork_call inside the runtime, which must not be intercepted a second time. */
EXPORT void __kmpc_fork_call_if(void *, int32_t, microtask, int32_t, void *);
void __kmpc_fork_call_if(void *location, int32_t count, microtask function, int32_t condition,
                         void *argument) {
    void *given[FEW] = {argument};
    (void)count;
    if (condition) {
        start(location, function, call_with_4, given);
        return;
    }
    SYMBOL("__kmpc_fork_call_if", true);
    const struct callee callee = runtime_find(&symbol, (void *)function);
    struct kmp_share inner;
    struct kmp_share *share = choose_share(&inner, call_with_4, given);
    const struct passage before = /* a team of one, which no mapping makes faster */
        passage_begin(&share->call, (void *)function, callee.runtime, (struct restart){NULL, NULL});
    (void)region_threads(&share->call, 1);
    own_threads = 0;
    ((__typeof__(&__kmpc_fork_call_if))callee.function)(location, 1, (microtask)run_share, 0, share);
    passage_end(&share->call, before);
}

EXPORT void __kmpc_barrier(void *, int32_t);
void __kmpc_barrier(void *location, int32_t thread) {
    passage_wait();
    REAL(__kmpc_barrier)(location, thread);
    passage_barrier();
}

EXPORT int32_t __kmpc_cancel_barrier(void *, int32_t);
int32_t __kmpc_cancel_barrier(void *location, int32_t thread) {
    passage_wait();
    const int32_t cancelled = REAL(__kmpc_cancel_barrier)(location, thread);
    passage_barrier();
    return cancelled;
}

/* Schedules of kmp.h that hand out chunks on demand: dynamic, guided, runtime, auto, and the same when
   ordered. The two top bits are the monotonic modifiers. */
static THREAD_LOCAL bool dispatch_is_dynamic;

static void start_dispatch(int32_t schedule) {
    int32_t kind = schedule & ~(3 << 29);
    kind -= kind >= 64 ? 32 : 0; /* ordered */
    dispatch_is_dynamic = kind == 35 || kind == 36 || (kind == 37 && passage_schedule_is_dynamic());
}

#define DISPATCH(suffix, integer, stride)                                                                    \
    EXPORT void __kmpc_dispatch_init_##suffix(void *, int32_t, int32_t, integer, integer, stride, stride);   \
    void __kmpc_dispatch_init_##suffix(void *location, int32_t thread, int32_t schedule, integer from,       \
                                       integer to, stride step, stride chunk) {                              \
        start_dispatch(schedule);                                                                            \
        REAL(__kmpc_dispatch_init_##suffix)(location, thread, schedule, from, to, step, chunk);              \
    }                                                                                                        \
    EXPORT int32_t __kmpc_dispatch_next_##suffix(void *, int32_t, int32_t *, integer *, integer *,           \
                                                 stride *);                                                  \
    int32_t __kmpc_dispatch_next_##suffix(void *location, int32_t thread, int32_t *last, integer *from,      \
                                          integer *to, stride *step) {                                       \
        if (!dispatch_is_dynamic || !passage_next_chunk())                                                   \
            return REAL(__kmpc_dispatch_next_##suffix)(location, thread, last, from, to, step);              \
        const int32_t handed = REAL(__kmpc_dispatch_next_##suffix)(location, thread, last, from, to, step);  \
        if (handed)                                                                                          \
            passage_chunk();                                                                                 \
        return handed;                                                                                       \
    }
DISPATCH(4, int32_t, int32_t)
DISPATCH(4u, uint32_t, int32_t)
DISPATCH(8, int64_t, int64_t)
DISPATCH(8u, uint64_t, int64_t)
