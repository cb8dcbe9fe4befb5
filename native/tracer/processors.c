/* processors.c: the number of processors reported to a program that is counted or traced.
 *
 * A program that sizes its team by it would use this computer's number under every mapping. A placed program
 * sees the PUs of its mapping; therefore here it sees the requested number of threads: NUMAPREDICT_TRACE's,
 * or with NUMAPREDICT_CENSUS that of OMP_NUM_THREADS. With neither, and for all else that sysconf knows, the
 * next definition is called. The same holds for calls by an OpenMP runtime: its threads share the real
 * processors.
 *
 * Not seen: a program that counts them in the mask of sched_getaffinity, or below /sys.
 */
#define _GNU_SOURCE
#include "../regions/export.h"

#define SYMBOLS "processor_symbols"
#include "../regions/runtime.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define NOT_READ (-1)

static _Atomic int asked = NOT_READ;

/* At the start, because the program may change its variables; or earlier, if a constructor calls sysconf. */
__attribute__((constructor)) static void read_asked(void) {
    const char *slots = getenv("NUMAPREDICT_TRACE");
    const char *text = slots || !getenv("NUMAPREDICT_CENSUS") ? slots : getenv("OMP_NUM_THREADS");
    const unsigned long number = text ? strtoul(text, NULL, 10) : 0;
    int unread = NOT_READ;
    atomic_compare_exchange_strong(&asked, &unread, number <= INT_MAX ? (int)number : 0);
}

static bool is_runtime(const void *caller) {
    Dl_info where;
    if (!dladdr(caller, &where) || !where.dli_fname)
        return false;
    const char *slash = strrchr(where.dli_fname, '/');
    const char *name = slash ? slash + 1 : where.dli_fname;
    return strncmp(name, "libgomp", 7) == 0 || strncmp(name, "libomp", 6) == 0 ||
           strncmp(name, "libiomp", 7) == 0;
}

/* Return the number for the caller, or 0 to call the next definition. */
static int number_for(const void *caller) {
    if (atomic_load(&asked) == NOT_READ)
        read_asked();
    const int number = atomic_load(&asked);
    return number > 0 && !is_runtime(caller) ? number : 0;
}

#define REPORTED number_for(__builtin_return_address(0))

/* Return the C library's function; every program has it. */
static void *behind(_Atomic(void *) *function, const char *name) {
    void *found = atomic_load_explicit(function, memory_order_acquire);
    if (!found) {
        found = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(function, found, memory_order_release);
    }
    return found;
}

#define BEHIND(name)                                                                                         \
    ({                                                                                                       \
        static _Atomic(void *) next;                                                                         \
        (__typeof__(&name))behind(&next, #name);                                                             \
    })

int omp_get_num_procs(void);
EXPORT int omp_get_num_procs(void) {
    const int number = REPORTED;
    return number ? number : REAL(omp_get_num_procs)();
}

int omp_get_num_procs_(void);
EXPORT int omp_get_num_procs_(void) {
    const int number = REPORTED;
    return number ? number : REAL(omp_get_num_procs_)();
}

EXPORT int get_nprocs(void) {
    const int number = REPORTED;
    return number ? number : BEHIND(get_nprocs)();
}

EXPORT int get_nprocs_conf(void) {
    const int number = REPORTED;
    return number ? number : BEHIND(get_nprocs_conf)();
}

EXPORT long sysconf(int name) {
    const int number = name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF ? REPORTED : 0;
    return number ? number : BEHIND(sysconf)(name);
}
