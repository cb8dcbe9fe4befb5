/* next_call.h: the function that the program would have called had this library not been there.
 *
 * Contract. It is the next definition in the order of the loader's search: after this library in the global
 * scope (an allocator that the program brings, or the C library); and for a library that was loaded with
 * RTLD_LOCAL and brings its own, in the scope of the calling library. errno and the program's dlerror are
 * kept unless nothing is found.
 */
#ifndef NUMAPLACE_NEXT_CALL_H
#define NUMAPLACE_NEXT_CALL_H

#include <stdatomic.h>
#include <stddef.h>

struct next_call {
    const char *name;
    _Atomic(void *) function; /* in the global scope; NULL before the first call, and if there is none */
};

/* In the child of a fork: the lock that another thread held is free again. */
void next_calls_after_fork(void);

void *next_call_resolve(struct next_call *call, const void *caller);

/* Return the function for the call that returns to `caller`, or NULL. */
static inline void *next_call(struct next_call *call, const void *caller) {
    void *function = atomic_load_explicit(&call->function, memory_order_acquire);
    return __builtin_expect(function != NULL, 1) ? function : next_call_resolve(call, caller);
}

/* One of those that next_calls_find looks for, by the name of the function. */
#define NEXT_CALL(symbol)                                                                                    \
    { #symbol, NULL }
#define AMONG_NEXT_CALLS __attribute__((section("next_calls"), used))

/* Find all that are there, before the program's first instruction: later a thread that waits for the calling
 * one may hold the loader's lock (dlopen of a library whose constructor starts a team). */
void next_calls_find(void);

#endif
