/* marks.c: a preload library that sees the regions of an unmodified OpenMP program.
 *
 * It steps between the program and libgomp or libomp. With NUMAPREDICT_CENSUS=file in the environment it
 * counts the instances and the time of every region into that file; with NUMAPREDICT_TRACE set it marks
 * regions, barriers and dynamic chunks for the tracer (marks.h). With neither it passes every call through.
 * It prints nothing, allocates nothing on the heap and changes no result.
 */
#define _GNU_SOURCE
#include "marks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef void (*outlined)(void *);
typedef void (*microtask)(int32_t *, int32_t *, ...);

/* One region as this process knows it: the outlined function's address and its lasting name. */
struct region {
    _Atomic(void *) function;
    _Atomic uint64_t key; /* 0 until it is known */
    _Atomic uint64_t instances;
    struct census_entry *entry;
};

#define REGION_SLOTS 8192

static struct region regions[REGION_SLOTS];
static struct census_header *census;
static const char *census_path;
static bool tracing;
static uint64_t start_ns;
static __thread int depth; /* regions that this thread is inside of */

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void mark(enum mark what, uint64_t a, uint64_t b, uint64_t c) {
    if (tracing)
        syscall(MARK_SYSCALL, (long)what, a, b, c);
}

static void forget_in_child(void) {
    census = NULL;
    census_path = NULL;
}

__attribute__((constructor)) static void load(void) {
    tracing = getenv("NUMAPREDICT_TRACE") != NULL;
    census_path = getenv("NUMAPREDICT_CENSUS");
    start_ns = now_ns();
    pthread_atfork(NULL, NULL, forget_in_child);
    mark(MARK_HELLO, 0, 0, 0);
}

__attribute__((destructor)) static void unload(void) {
    if (census && census->pid == (uint64_t)getpid()) {
        census->last_ns = now_ns();
        census->exited = 1;
    }
}

/* Opened at the first region, so that a launcher which only starts the program leaves the file to it. */
static void open_census(void) {
    const size_t bytes = sizeof(struct census_header) + CENSUS_CAPACITY * sizeof(struct census_entry);
    int file = open(census_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0) {
        if (file >= 0)
            close(file);
        census_path = NULL;
        return;
    }
    struct census_header *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED || (mapped->pid != 0 && mapped->pid != (uint64_t)getpid())) {
        census_path = NULL;
        return;
    }
    mapped->pid = (uint64_t)getpid();
    mapped->start_ns = start_ns;
    mapped->first_region_ns = now_ns();
    mapped->magic = CENSUS_MAGIC;
    census = mapped;
}

static uint64_t hash_text(uint64_t h, const char *text) {
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3ull; /* FNV-1a */
    return h;
}

static void describe(struct region *r, void *function) {
    Dl_info where;
    const char *module = "?";
    uint64_t offset = (uint64_t)function;
    if (dladdr(function, &where) && where.dli_fname) {
        const char *slash = strrchr(where.dli_fname, '/');
        module = slash ? slash + 1 : where.dli_fname;
        offset = (uint64_t)((char *)function - (char *)where.dli_fbase);
    }
    uint64_t key = (hash_text(0xcbf29ce484222325ull, module) ^ offset) * 0x9e3779b97f4a7c15ull;
    if (census) {
        uint64_t at = census->regions;
        if (at < CENSUS_CAPACITY) {
            r->entry = (struct census_entry *)(census + 1) + at;
            r->entry->key = key | 1;
            r->entry->offset = offset;
            strncpy(r->entry->module, module, CENSUS_MODULE_BYTES - 1);
            census->regions = at + 1;
        }
    }
    atomic_store(&r->key, key | 1);
}

static pthread_mutex_t describing = PTHREAD_MUTEX_INITIALIZER;

static struct region *find_region(void *function) {
    size_t at = ((uintptr_t)function >> 4) * 0x9e3779b97f4a7c15ull >> 51;
    for (size_t tried = 0; tried < REGION_SLOTS; tried++, at = (at + 1) % REGION_SLOTS) {
        void *seen = atomic_load_explicit(&regions[at].function, memory_order_acquire);
        if (seen == function)
            return &regions[at];
        if (seen)
            continue;
        pthread_mutex_lock(&describing);
        seen = atomic_load(&regions[at].function);
        if (!seen) {
            if (census_path && !census)
                open_census();
            describe(&regions[at], function);
            atomic_store_explicit(&regions[at].function, function, memory_order_release);
            seen = function;
        }
        pthread_mutex_unlock(&describing);
        if (seen == function)
            return &regions[at];
    }
    return NULL;
}

/* What one instance needs to know while it runs; it lives on the encountering thread's stack. */
struct instance {
    struct region *region;
    uint64_t number;
    uint64_t began_ns;
    uint64_t team;
};

static struct instance begin(void *function) {
    struct instance i = {0};
    if (depth == 0) {
        i.region = find_region(function);
        if (i.region) {
            i.number = atomic_fetch_add(&i.region->instances, 1);
            mark(MARK_BEGIN, i.region->key, i.number, 0);
        }
        i.began_ns = census ? now_ns() : 0;
    }
    return i;
}

static void end(const struct instance *i) {
    if (!i->region)
        return;
    mark(MARK_END, i->region->key, i->number, 0);
    if (!census)
        return;
    uint64_t now = now_ns();
    if (i->region->entry) {
        i->region->entry->count++;
        i->region->entry->time_ns += now - i->began_ns;
        i->region->entry->team = i->team;
    } else {
        census->dropped++;
    }
    census->last_ns = now;
}

#define NEXT(symbol)                                                                                         \
    ({                                                                                                       \
        static __typeof__(&symbol) next;                                                                     \
        if (__builtin_expect(!next, 0))                                                                      \
            next = (__typeof__(&symbol))dlsym(RTLD_NEXT, #symbol);                                           \
        next;                                                                                                \
    })

/* Looked up by name, once: a program without libgomp and libomp never calls them. */
#define ASK(name)                                                                                            \
    ({                                                                                                       \
        static int (*function)(void);                                                                        \
        if (__builtin_expect(!function, 0))                                                                  \
            function = (int (*)(void))dlsym(RTLD_DEFAULT, name);                                             \
        function ? function() : 0;                                                                           \
    })

static void enter(struct instance *i) {
    depth++;
    if (!i->region)
        return;
    int thread = ASK("omp_get_thread_num");
    if (thread == 0)
        i->team = (uint64_t)ASK("omp_get_num_threads");
    mark(MARK_ENTER, i->region->key, i->number, (uint64_t)thread);
}

static void leave(const struct instance *i) {
    depth--;
    if (i->region)
        mark(MARK_LEAVE, 0, 0, 0);
}

/* ---- libgomp ---- */

struct gomp_share {
    outlined function;
    void *data;
    struct instance instance;
};

static void run_gomp_share(void *argument) {
    struct gomp_share *share = argument;
    enter(&share->instance);
    share->function(share->data);
    leave(&share->instance);
}

#define GOMP_REGION(result, name, parameters, ...)                                                           \
    result name parameters;                                                                                  \
    result name parameters {                                                                                 \
        struct gomp_share share = {function, data, begin((void *)function)};                                 \
        GOMP_CALL_##result(NEXT(name)(run_gomp_share, &share, __VA_ARGS__));                                 \
    }
#define GOMP_CALL_void(call)                                                                                 \
    call;                                                                                                    \
    end(&share.instance)
#define GOMP_CALL_unsigned(call)                                                                             \
    unsigned result = call;                                                                                  \
    end(&share.instance);                                                                                    \
    return result

#define SHARE outlined function, void *data, unsigned threads
GOMP_REGION(void, GOMP_parallel, (SHARE, unsigned flags), threads, flags)
GOMP_REGION(unsigned, GOMP_parallel_reductions, (SHARE, unsigned flags), threads, flags)
GOMP_REGION(void, GOMP_parallel_sections, (SHARE, unsigned count, unsigned flags), threads, count, flags)
#define GOMP_LOOP_REGION(name)                                                                               \
    GOMP_REGION(void, name, (SHARE, long first, long last, long step, long chunk, unsigned flags), threads,  \
                first, last, step, chunk, flags)
#define GOMP_RUNTIME_LOOP_REGION(name)                                                                       \
    GOMP_REGION(void, name, (SHARE, long first, long last, long step, unsigned flags), threads, first, last, \
                step, flags)
GOMP_LOOP_REGION(GOMP_parallel_loop_static)
GOMP_LOOP_REGION(GOMP_parallel_loop_dynamic)
GOMP_LOOP_REGION(GOMP_parallel_loop_guided)
GOMP_LOOP_REGION(GOMP_parallel_loop_nonmonotonic_dynamic)
GOMP_LOOP_REGION(GOMP_parallel_loop_nonmonotonic_guided)
GOMP_RUNTIME_LOOP_REGION(GOMP_parallel_loop_runtime)
GOMP_RUNTIME_LOOP_REGION(GOMP_parallel_loop_nonmonotonic_runtime)
GOMP_RUNTIME_LOOP_REGION(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

#define GOMP_BARRIER(name)                                                                                   \
    void name(void);                                                                                         \
    void name(void) {                                                                                        \
        NEXT(name)();                                                                                        \
        if (depth == 1)                                                                                      \
            mark(MARK_BARRIER, 0, 0, 0);                                                                     \
    }
GOMP_BARRIER(GOMP_barrier)
GOMP_BARRIER(GOMP_loop_end)
GOMP_BARRIER(GOMP_sections_end)

/* schedule(runtime) may turn out static: OMP_SCHEDULE decides, and omp_sched_static is 1, whatever modifier
 * is set. */
static bool runtime_schedule_is_dynamic(void) {
    static void (*get_schedule)(int *, int *);
    int kind = 1, chunk = 0;
    if (!get_schedule)
        get_schedule = (void (*)(int *, int *))dlsym(RTLD_DEFAULT, "omp_get_schedule");
    if (get_schedule)
        get_schedule(&kind, &chunk);
    return (kind & 0xff) != 1;
}

/* Many threads on few cores would let the first thread that runs take all chunks of a dynamic loop. Giving
   the core away after every chunk deals them out about evenly, as a machine with a core a thread does. */
static void next_chunk(bool dynamic) {
    if (tracing && dynamic) {
        mark(MARK_DYNAMIC, 0, 0, 0);
        sched_yield();
    }
}

#define GOMP_NEXT(name, integer, dynamic)                                                                    \
    bool name(integer *, integer *);                                                                         \
    bool name(integer *first, integer *last) {                                                               \
        next_chunk(dynamic);                                                                                 \
        return NEXT(name)(first, last);                                                                      \
    }
typedef unsigned long long ull;
GOMP_NEXT(GOMP_loop_dynamic_next, long, true)
GOMP_NEXT(GOMP_loop_guided_next, long, true)
GOMP_NEXT(GOMP_loop_runtime_next, long, tracing &&runtime_schedule_is_dynamic())
GOMP_NEXT(GOMP_loop_nonmonotonic_dynamic_next, long, true)
GOMP_NEXT(GOMP_loop_nonmonotonic_guided_next, long, true)
GOMP_NEXT(GOMP_loop_nonmonotonic_runtime_next, long, tracing &&runtime_schedule_is_dynamic())
GOMP_NEXT(GOMP_loop_maybe_nonmonotonic_runtime_next, long, tracing &&runtime_schedule_is_dynamic())
GOMP_NEXT(GOMP_loop_ull_dynamic_next, ull, true)
GOMP_NEXT(GOMP_loop_ull_guided_next, ull, true)
GOMP_NEXT(GOMP_loop_ull_runtime_next, ull, tracing &&runtime_schedule_is_dynamic())
GOMP_NEXT(GOMP_loop_ull_nonmonotonic_dynamic_next, ull, true)
GOMP_NEXT(GOMP_loop_ull_nonmonotonic_guided_next, ull, true)
GOMP_NEXT(GOMP_loop_ull_nonmonotonic_runtime_next, ull, tracing &&runtime_schedule_is_dynamic())
GOMP_NEXT(GOMP_loop_ull_maybe_nonmonotonic_runtime_next, ull, tracing &&runtime_schedule_is_dynamic())

/* ---- libomp ---- */

void __kmpc_fork_call(void *, int32_t, microtask, ...);

/* clang passes every shared variable of a region as an argument of its own. The most that is passed on;
   libomp keeps its own arrays for far fewer. */
#define KMP_ARGUMENTS 256
#define GIVEN(n) arguments[n]
#define GIVEN_4(n) GIVEN(n), GIVEN((n) + 1), GIVEN((n) + 2), GIVEN((n) + 3)
#define GIVEN_16(n) GIVEN_4(n), GIVEN_4((n) + 4), GIVEN_4((n) + 8), GIVEN_4((n) + 12)
#define GIVEN_64(n) GIVEN_16(n), GIVEN_16((n) + 16), GIVEN_16((n) + 32), GIVEN_16((n) + 48)
#define ALL_GIVEN GIVEN_64(0), GIVEN_64(64), GIVEN_64(128), GIVEN_64(192)

struct kmp_share {
    microtask function;
    int32_t count;
    struct instance instance;
};

static void run_kmp_share(int32_t *global, int32_t *bound, struct kmp_share *share, ...) {
    void *arguments[KMP_ARGUMENTS] = {0};
    va_list list;
    va_start(list, share);
    for (int32_t n = 0; n < share->count; n++)
        arguments[n] = va_arg(list, void *);
    va_end(list);
    enter(&share->instance);
    share->function(global, bound, ALL_GIVEN);
    leave(&share->instance);
}

void __kmpc_fork_call(void *location, int32_t count, microtask function, ...) {
    void *arguments[KMP_ARGUMENTS] = {0};
    va_list list;
    va_start(list, function);
    for (int32_t n = 0; n < count && n < KMP_ARGUMENTS; n++)
        arguments[n] = va_arg(list, void *);
    va_end(list);
    if (count > KMP_ARGUMENTS) /* the list could not be rebuilt whole */
        abort();
    struct kmp_share share = {function, count, begin((void *)function)};
    NEXT(__kmpc_fork_call)(location, count + 1, (microtask)run_kmp_share, &share, ALL_GIVEN);
    end(&share.instance);
}

int32_t __kmpc_cancel_barrier(void *, int32_t);
void __kmpc_barrier(void *, int32_t);
void __kmpc_barrier(void *location, int32_t thread) {
    NEXT(__kmpc_barrier)(location, thread);
    if (depth == 1)
        mark(MARK_BARRIER, 0, 0, 0);
}

int32_t __kmpc_cancel_barrier(void *location, int32_t thread) {
    int32_t cancelled = NEXT(__kmpc_cancel_barrier)(location, thread);
    if (depth == 1)
        mark(MARK_BARRIER, 0, 0, 0);
    return cancelled;
}

/* Schedules of kmp.h that hand out chunks on demand: dynamic, guided, runtime, auto, and the same when
   ordered. The two top bits are the monotonic modifiers. */
static __thread bool dispatch_is_dynamic;

static void start_dispatch(int32_t schedule) {
    int32_t kind = schedule & ~(3 << 29);
    bool ordered = kind >= 64;
    kind -= ordered ? 32 : 0;
    dispatch_is_dynamic =
        tracing && (kind == 35 || kind == 36 || (kind == 37 && runtime_schedule_is_dynamic()));
}

#define KMP_DISPATCH(suffix, integer, stride)                                                                \
    void __kmpc_dispatch_init_##suffix(void *, int32_t, int32_t, integer, integer, stride, stride);          \
    void __kmpc_dispatch_init_##suffix(void *location, int32_t thread, int32_t schedule, integer from,       \
                                       integer to, stride step, stride chunk) {                              \
        start_dispatch(schedule);                                                                            \
        NEXT(__kmpc_dispatch_init_##suffix)(location, thread, schedule, from, to, step, chunk);              \
    }                                                                                                        \
    int32_t __kmpc_dispatch_next_##suffix(void *, int32_t, int32_t *, integer *, integer *, stride *);       \
    int32_t __kmpc_dispatch_next_##suffix(void *location, int32_t thread, int32_t *last, integer *from,      \
                                          integer *to, stride *step) {                                       \
        next_chunk(dispatch_is_dynamic);                                                                     \
        return NEXT(__kmpc_dispatch_next_##suffix)(location, thread, last, from, to, step);                  \
    }
KMP_DISPATCH(4, int32_t, int32_t)
KMP_DISPATCH(4u, uint32_t, int32_t)
KMP_DISPATCH(8, int64_t, int64_t)
KMP_DISPATCH(8u, uint64_t, int64_t)
