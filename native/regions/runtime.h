/* runtime.h: finding the real function behind an entry point, and the OpenMP runtime that it belongs to.
 *
 * Contract. Usually one libgomp or libomp is in the global scope, behind this library (RTLD_NEXT). But a
 * module that was loaded with dlopen and RTLD_LOCAL (a Python extension) brings a runtime that only it sees,
 * sometimes a copy of its own under another name, and then several may be in one process. So where nothing
 * lies behind this library, the function is looked up through the module that calls it, and kept for that
 * module.
 *
 * `site` is an address in the calling module: the outlined function for what starts a region, the return
 * address for the rest. errno stays as it is. Where a function is nowhere to be found, the process ends as
 * the dynamic loader ends one that calls a function which is missing: with exit code 127.
 */
#ifndef NUMAPREDICT_RUNTIME_H
#define NUMAPREDICT_RUNTIME_H

#include "export.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define CACHE_LINE 64

/* One OpenMP runtime of the process. All functions are set. */
struct runtime {
    void *base;   /* where its module begins */
    void *handle; /* keeps it loaded; NULL where it needs no keeping */
    int (*thread_num)(void);
    int (*num_threads)(void);
    void (*get_schedule)(int *kind, int *chunk);
};

/* One entry point, and what RTLD_NEXT found for it. Those of one runtime lie together, as an array. */
struct symbol {
    _Alignas(32) const char *name;
    bool starts_region; /* then its runtime is wanted too, which takes long to find out */
    _Atomic(void *) function;
    const struct runtime *runtime;
};

struct callee {
    void *function;
    const struct runtime *runtime;
};

/* Whether any module has a runtime of its own: then no symbol means the same for all. */
extern atomic_bool runtime_by_caller;
/* The runtime of the innermost region that the calling thread is in, or NULL. */
extern THREAD_LOCAL const struct runtime *runtime_inside;

struct callee runtime_search(struct symbol *symbol, const void *site);

static inline struct callee runtime_find(struct symbol *symbol, const void *site) {
    if (__builtin_expect(!atomic_load_explicit(&runtime_by_caller, memory_order_relaxed), 1)) {
        void *function = atomic_load_explicit(&symbol->function, memory_order_acquire);
        if (__builtin_expect(function != NULL, 1))
            return (struct callee){function, symbol->runtime};
    }
    return runtime_search(symbol, site);
}

/* Look up all the symbols that can be called inside a region, before the first one: a search takes its time.
 */
void runtime_look_ahead(struct symbol *first, const struct symbol *last);

/* A symbol among its file's, which are `SYMBOLS`. */
#define SYMBOL(text, starts)                                                                                 \
    static struct symbol symbol __attribute__((section(SYMBOLS), used)) = {text, starts, NULL, NULL}

/* The real function behind the entry point that this is written in. */
#define REAL(name)                                                                                           \
    ({                                                                                                       \
        SYMBOL(#name, false);                                                                                \
        (__typeof__(&name))runtime_find(&symbol, __builtin_return_address(0)).function;                      \
    })

#endif
