/* runtime.c: finds the OpenMP runtimes of a process and their functions. */
#define _GNU_SOURCE
#include "runtime.h"

#include "spin.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define MOST_RUNTIMES 16
#define MOST_MODULES 512
#define SITE_SLOTS 4096

/* A module whose runtime was found through it. */
struct module {
    void *base;
    const struct runtime *runtime;
};

/* The target of calls of one symbol from one place. */
struct site {
    _Atomic(const void *) at;
    const struct symbol *symbol;
    struct callee callee;
};

atomic_bool runtime_by_caller;
THREAD_LOCAL const struct runtime *runtime_inside;

static atomic_flag lock = ATOMIC_FLAG_INIT;
static struct runtime runtimes[MOST_RUNTIMES];
static size_t runtime_count;
static struct module modules[MOST_MODULES];
static size_t module_count;
static struct site sites[SITE_SLOTS];

/* Bounds of this library, set by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

bool runtime_is_ours(const void *address) {
    return (uintptr_t)address >= (uintptr_t)__ehdr_start && (uintptr_t)address < (uintptr_t)_end;
}

static void free_lock_in_child(void) { atomic_flag_clear(&lock); }

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, free_lock_in_child); }

/* Replacements for functions that a runtime lacks: a team of one with a static schedule. */
static int first_thread(void) { return 0; }
static int one_thread(void) { return 1; }
static void static_schedule(int *kind, int *chunk) {
    *kind = 1;
    *chunk = 0;
}

static void push_nothing(void *location, int32_t thread, int32_t threads) {
    (void)location, (void)thread, (void)threads;
}
static int32_t no_number(void *location) {
    (void)location;
    return 0;
}

/* Return a handle of the module that holds an address, and its base; NULL if it cannot be opened again. */
static void *open_module(const void *address, void **base) {
    Dl_info where;
    struct link_map *map = NULL;
    *base = NULL;
    if (!dladdr1(address, &where, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return NULL;
    *base = where.dli_fbase;
    return dlopen(map->l_name,
                  RTLD_LAZY | RTLD_NOLOAD); /* dlopen finds the program itself by its empty name */
}

static void *look_up(void *handle, const char *name) {
    void *found = handle ? dlsym(handle, name) : NULL;
    return found && !runtime_is_ours(found) ? found : NULL;
}

static const struct runtime *known_runtime(const void *base) {
    for (size_t n = 0; n < runtime_count; n++)
        if (runtimes[n].base == base)
            return &runtimes[n];
    return NULL;
}

/* Return the runtime that a function belongs to. */
static const struct runtime *runtime_of(void *function) {
    struct runtime made = {0};
    made.handle = open_module(function, &made.base);
    spin_lock(&lock);
    const struct runtime *known = known_runtime(made.base);
    spin_unlock(&lock);
    if (!known) {
        void *thread = look_up(made.handle, "omp_get_thread_num");
        void *threads = look_up(made.handle, "omp_get_num_threads");
        void *schedule = look_up(made.handle, "omp_get_schedule");
        if (!thread ||
            !threads) { /* another intercepting library: the function behind it is in the global scope */
            thread = dlsym(RTLD_DEFAULT, "omp_get_thread_num");
            threads = dlsym(RTLD_DEFAULT, "omp_get_num_threads");
            schedule = dlsym(RTLD_DEFAULT, "omp_get_schedule");
        }
        made.thread_num = thread && threads ? (int (*)(void))thread : first_thread;
        made.num_threads = thread && threads ? (int (*)(void))threads : one_thread;
        void *most = look_up(made.handle, "omp_get_max_threads"); /* otherwise every region keeps its team */
        void *push = look_up(made.handle, "__kmpc_push_num_threads");
        void *number = look_up(made.handle, "__kmpc_global_thread_num");
        made.max_threads = most ? (int (*)(void))most : one_thread;
        made.push_threads = push && number ? (void (*)(void *, int32_t, int32_t))push : push_nothing;
        made.global_thread = push && number ? (int32_t(*)(void *))number : no_number;
        made.get_schedule = schedule ? (void (*)(int *, int *))schedule : static_schedule;
        spin_lock(&lock);
        known = known_runtime(made.base);
        if (!known) {
            /* If there are more runtimes than entries, the last entry is shared: its numbers may be wrong. */
            struct runtime *place =
                &runtimes[runtime_count < MOST_RUNTIMES ? runtime_count++ : MOST_RUNTIMES - 1];
            if (!place->base) {
                *place = made;
                made.handle = NULL; /* the handle is kept, so that the functions stay loaded */
            }
            known = place;
        }
        spin_unlock(&lock);
    }
    if (made.handle)
        dlclose(made.handle);
    return known;
}

static const struct runtime *runtime_of_module(const void *base) {
    const struct runtime *found = NULL;
    spin_lock(&lock);
    for (size_t n = 0; n < module_count && !found; n++)
        if (modules[n].base == base)
            found = modules[n].runtime;
    spin_unlock(&lock);
    return found;
}

static void keep_module(void *base, const struct runtime *runtime) {
    atomic_store(&runtime_by_caller, true);
    spin_lock(&lock);
    if (base && module_count < MOST_MODULES)
        modules[module_count++] = (struct module){base, runtime};
    spin_unlock(&lock);
}

bool runtime_keep(uintptr_t module, void *function) {
    Dl_info where;
    if (!dladdr((void *)module, &where))
        return false;
    if (!runtime_of_module(where.dli_fbase))
        keep_module(where.dli_fbase, runtime_of(function));
    return runtime_of_module(where.dli_fbase) == runtime_of(function);
}

struct search {
    const char *name;
    void *found;
};

static int look_in_module(struct dl_phdr_info *info, size_t size, void *data) {
    struct search *search = data;
    (void)size;
    void *handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    search->found = look_up(handle, search->name);
    if (handle)
        dlclose(handle);
    return search->found != NULL;
}

/* Look in the calling module's scope, then in the runtime of the current region, then in all modules. */
static struct callee search_by_caller(const char *name, const void *site) {
    struct callee callee = {NULL, NULL};
    void *base = NULL;
    void *handle = runtime_is_ours(site) ? NULL : open_module(site, &base);
    const struct runtime *runtime = base ? runtime_of_module(base) : NULL;
    if (runtime)
        callee = (struct callee){look_up(runtime->handle, name), runtime};
    if (!callee.function && (callee.function = look_up(handle, name))) {
        callee.runtime = runtime_of(callee.function);
        keep_module(base, callee.runtime);
    }
    if (!callee.function && runtime_inside)
        callee = (struct callee){look_up(runtime_inside->handle, name), runtime_inside};
    if (!callee.function) {
        struct search search = {name, NULL};
        dl_iterate_phdr(look_in_module, &search);
        if (search.found) {
            callee = (struct callee){search.found, runtime_of(search.found)};
            atomic_store(&runtime_by_caller, true);
        }
    }
    if (handle)
        dlclose(handle);
    return callee;
}

static size_t slot_of(const void *site) { return ((uintptr_t)site * 0x9e3779b97f4a7c15ull) >> 52; }

static bool find_site(const struct symbol *symbol, const void *at, struct callee *callee) {
    for (size_t tried = 0, n = slot_of(at); tried < SITE_SLOTS; tried++, n = (n + 1) % SITE_SLOTS) {
        const void *seen = atomic_load_explicit(&sites[n].at, memory_order_acquire);
        if (!seen)
            return false;
        if (seen == at && sites[n].symbol == symbol) {
            *callee = sites[n].callee;
            return true;
        }
    }
    return false;
}

static void keep_site(const struct symbol *symbol, const void *at, struct callee callee) {
    spin_lock(&lock);
    for (size_t tried = 0, n = slot_of(at); tried < SITE_SLOTS / 2; tried++, n = (n + 1) % SITE_SLOTS) {
        if (atomic_load_explicit(&sites[n].at, memory_order_relaxed))
            continue;
        sites[n].symbol = symbol;
        sites[n].callee = callee;
        atomic_store_explicit(&sites[n].at, at, memory_order_release);
        break;
    }
    spin_unlock(&lock);
}

static bool has_own_runtime(const void *site) {
    Dl_info where;
    return dladdr(site, &where) && runtime_of_module(where.dli_fbase);
}

struct callee runtime_search(struct symbol *symbol, const void *site) {
    struct callee callee;
    /* A function whose last act is a barrier jumps to it. From an outlined function it then seems called by
       the entry of this library, and means the runtime of the region. */
    const void *at = runtime_is_ours(site) && runtime_inside ? runtime_inside : site;
    if (find_site(symbol, at, &callee))
        return callee;
    const int error = errno;
    callee = (struct callee){NULL, NULL};
    if (!atomic_load(&runtime_by_caller) || (at == site && !has_own_runtime(site))) {
        void *next = dlsym(RTLD_NEXT, symbol->name);
        if (next) {
            callee = (struct callee){next, symbol->starts_region ? runtime_of(next) : NULL};
            symbol->runtime = callee.runtime;
            atomic_store_explicit(&symbol->function, next, memory_order_release);
        }
    }
    if (!callee.function)
        callee = search_by_caller(symbol->name, site);
    if (!callee.function)
        _exit(127);
    if (atomic_load(&runtime_by_caller))
        keep_site(symbol, at, callee);
    errno = error;
    return callee;
}

void runtime_look_ahead(struct symbol *first, const struct symbol *last) {
    const int error = errno;
    for (struct symbol *s = first; s < last && !atomic_load(&runtime_by_caller); s++) {
        void *next = s->starts_region || atomic_load(&s->function) ? NULL : dlsym(RTLD_NEXT, s->name);
        if (next)
            atomic_store_explicit(&s->function, next, memory_order_release);
    }
    errno = error;
}
