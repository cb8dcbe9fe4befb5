/* sandbox.c: the calls by which a program restricts its system calls: the library withdraws before they take
 * effect; and system calls by number that other parts of the library know by the C library's names.
 *
 * Calls that cannot succeed are only passed on: programs use them to test whether the kernel has these calls.
 */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "process/loaded_module.h"
#include "process/next_call.h"
#include "process/system.h"
#include "protection/protection.h"
#include "threads/pool.h"
#include "withdrawal.h"

#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

typedef long (*six)(long, long, long, long, long, long);
typedef long (*seven)(long, long, long, long, long, long, long);

static AMONG_NEXT_CALLS struct next_call next_syscall = NEXT_CALL(syscall);

/* Inside a signal handler or after a vfork the loader cannot be called. */
__attribute__((constructor)) static void find_syscall(void) {
    system_kernel = (__typeof__(system_kernel))next_call(&next_syscall, NULL);
}

static void before_prctl(long option, long mode, long filter) {
    if (option == PR_SET_SECCOMP &&
        (mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && filter != 0)))
        withdraw();
}

static void before_seccomp(long operation, long flags, long filter) {
    if ((operation == SECCOMP_SET_MODE_STRICT && flags == 0 && filter == 0) ||
        (operation == SECCOMP_SET_MODE_FILTER && filter != 0))
        withdraw();
}

/* Six arguments in registers, as in guards.c. */
EXPORT long sandboxed_prctl(long a, long b, long c, long d, long e, long f) __asm__("prctl");
long sandboxed_prctl(long a, long b, long c, long d, long e, long f) {
    static AMONG_NEXT_CALLS struct next_call call = NEXT_CALL(prctl);
    const six next = (six)next_call(&call, NULL);
    before_prctl(a, b, c);
    if (!protection_wanted())
        return next(a, b, c, d, e, f);
    const uint32_t hold = protection_hold_all();
    const long answer = next(a, b, c, d, e, f);
    protection_release(hold);
    return answer;
}

/* It binds its threads by this call, to what OMP_PLACES says: that is our own mask, not the program's. */
static bool is_of_llvms_runtime(const void *caller) {
    struct loaded_module module;
    if (!loaded_module_of(caller, &module) || !module.path)
        return false;
    const char *const slash = strrchr(module.path, '/'), *const name = slash ? slash + 1 : module.path;
    return strncmp(name, "libomp", 6) == 0 || strncmp(name, "libiomp", 7) == 0;
}

/* The seventh argument is on the stack, whether or not the caller has one; the C library reads it too. The
 * last call is a jump where the compiler optimises: its result is returned to the program. */
EXPORT long sandboxed_syscall(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");
long sandboxed_syscall(long number, long a, long b, long c, long d, long e, long f) {
    const seven next = (seven)next_call(&next_syscall, NULL);
    if (number == SYS_seccomp)
        before_seccomp(a, b, c);
    else if (number == SYS_prctl)
        before_prctl(a, b, c);
    else if (number == SYS_sched_setaffinity && pool_moves_this_thread &&
             !is_of_llvms_runtime(__builtin_return_address(0)))
        return sched_setaffinity((pid_t)a, (size_t)b, (const cpu_set_t *)c); /* affinity.c */
    else if (number == SYS_unshare || number == SYS_setns)
        pool_rest(); /* threads.c */
    else if (number == SYS_ioctl)
        return ioctl((int)a, (unsigned long)b, c); /* delays.c */
    return next(number, a, b, c, d, e, f);
}
