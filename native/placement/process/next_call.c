/* next_call.c: finds the next definitions of interposed functions. */
#define _GNU_SOURCE
#include "process/next_call.h"

#include "../regions/spin.h"
#include "process/loaded_module.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>

#define LOCAL_SLOTS 4096
#define MOST_PROBES 32

/* The target of calls of one name from one place, where it differs between places. */
struct local {
    _Atomic(void *) function;
    const struct next_call *call;
    const void *caller;
};

static struct local locals[LOCAL_SLOTS];
static atomic_flag lock = ATOMIC_FLAG_INIT;

/* Return the entry of a call in the table, or a free entry for it; NULL if the table is full. */
static struct local *local_for(const struct next_call *call, const void *caller) {
    const uint64_t hash = ((uintptr_t)call ^ (uintptr_t)caller) * 0x9e3779b97f4a7c15u >> 40;
    for (uint64_t probe = 0; probe < MOST_PROBES; probe++) {
        struct local *local = &locals[(hash + probe) % LOCAL_SLOTS];
        if (!atomic_load_explicit(&local->function, memory_order_acquire) ||
            (local->call == call && local->caller == caller))
            return local;
    }
    return NULL;
}

static void remember(const struct next_call *call, const void *caller, void *function) {
    spin_lock(&lock);
    struct local *local = local_for(call, caller);
    if (local && !local->function) {
        local->call = call;
        local->caller = caller;
        atomic_store_explicit(&local->function, function, memory_order_release);
    }
    spin_unlock(&lock);
}

static void *open_holder(const void *address, int more) {
    struct loaded_module found;
    if (!loaded_module_of(address, &found)) {
        loaded_modules_look(); /* it may have been loaded since */
        if (!loaded_module_of(address, &found))
            return NULL;
    }
    return dlopen(found.path, RTLD_LAZY | RTLD_NOLOAD | more);
}

static void *in_scope_of(const void *caller, const char *name) {
    void *module = open_holder((const char *)caller - 1, 0);
    void *function = module ? dlsym(module, name) : NULL;
    if (function && function == dlsym(RTLD_DEFAULT, name))
        function = NULL; /* this library's own */
    /* Keeps the function loaded for later calls from the same address. */
    if (function)
        open_holder(function, RTLD_NODELETE);
    if (module)
        dlclose(module);
    return function;
}

void *next_call_resolve(struct next_call *call, const void *caller) {
    struct local *local = caller ? local_for(call, caller) : NULL;
    void *function = local ? atomic_load_explicit(&local->function, memory_order_acquire) : NULL;
    if (function)
        return function;
    const int before = errno;
    function = dlsym(RTLD_NEXT, call->name);
    if (function)
        atomic_store_explicit(&call->function, function, memory_order_release);
    else if (caller && (function = in_scope_of(caller, call->name)))
        remember(call, caller, function);
    dlerror(); /* dlerror must not report this error to the program */
    errno = before;
    return function;
}

/* Made by the linker, where there are any. */
extern struct next_call __start_next_calls[] __attribute__((weak, visibility("hidden")));
extern struct next_call __stop_next_calls[] __attribute__((weak, visibility("hidden")));

void next_calls_find(void) {
    for (struct next_call *call = __start_next_calls; call < __stop_next_calls; call++)
        next_call(call, NULL);
}

void next_calls_after_fork(void) { atomic_flag_clear(&lock); }
