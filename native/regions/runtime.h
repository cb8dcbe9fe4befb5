/* runtime.h: finding the real function behind an entry point, and the OpenMP runtime that it belongs to.
 *
 * Contract. Usually one libgomp or libomp is in the global scope, behind this library (RTLD_NEXT). But a
 * module that was loaded with dlopen and RTLD_LOCAL (a Python extension) brings a runtime that only it sees,
 * sometimes a copy under another name, and a process may then have several. Therefore, if RTLD_NEXT finds
 * nothing, the function is looked up through the module that calls it, and the result is cached for that
 * module.
 *
 * `site` is an address in the calling module: the outlined function for what starts a region, the return
 * address for the rest. errno is kept. If a function is not found anywhere, the process ends with exit code
 * 127, as the dynamic loader does for a missing symbol.
 */
#ifndef NUMAPREDICT_RUNTIME_H
#define NUMAPREDICT_RUNTIME_H

#include "export.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_LINE 64

/* One OpenMP runtime of the process. All functions are set. */
struct runtime {
    void *base;   /* base address of its module */
    void *handle; /* keeps it loaded; NULL if that is not needed */
    int (*thread_num)(void);
    int (*num_threads)(void);
    int (*max_threads)(void);
    /* libomp's, for the next region of the calling thread, whose number in the runtime is given. */
    void (*push_threads)(void *location, int32_t thread, int32_t threads);
    int32_t (*global_thread)(void *location);
    void (*get_schedule)(int *kind, int *chunk);
};

/* One entry point, and what RTLD_NEXT found for it. Those of one runtime lie together, as an array. */
struct symbol {
    _Alignas(32) const char *name;
    bool starts_region; /* whether its runtime is needed too, which takes longer to find */
    _Atomic(void *) function;
    const struct runtime *runtime;
};

struct callee {
    void *function;
    const struct runtime *runtime;
};

/* Whether any module has a runtime of its own: then a symbol may differ between modules. */
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

/* Whether an address is in this library. */
bool runtime_is_ours(const void *address);
/* A function of an OpenMP runtime is what the module that begins at `module` calls, though the global scope
 * has another one: false where that cannot be kept. */
bool runtime_keep(uintptr_t module, void *function);

/* Look up all the symbols that can be called inside a region, before the first one: a search takes its time.
 */
void runtime_look_ahead(struct symbol *first, const struct symbol *last);

/* A symbol of the file's array `SYMBOLS`. */
#define SYMBOL(text, starts)                                                                                 \
    static struct symbol symbol __attribute__((section(SYMBOLS), used)) = {text, starts, NULL, NULL}

/* The real function behind the entry point in which this macro is used. */
#define REAL(name)                                                                                           \
    ({                                                                                                       \
        SYMBOL(#name, false);                                                                                \
        (__typeof__(&name))runtime_find(&symbol, __builtin_return_address(0)).function;                      \
    })

#endif
