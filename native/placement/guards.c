/* guards.c: the rarer calls that hand the program's memory to the kernel: all is open while they run.
 *
 * A path, a `struct stat` or a time to sleep may lie in any block of the heap. Such a call inside a parallel
 * region is rare, and what is open because of one is only not looked at in this pass; so nobody asks here
 * which argument points where. All have at most six arguments, integers and pointers, in registers: a wrapper
 * that passes six on passes them on whatever their types are (System V x86-64 and AArch64 procedure calls),
 * and so is the answer.
 */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "next_call.h"
#include "protection.h"

typedef long (*six)(long, long, long, long, long, long);

#define GUARD(name)                                                                                          \
    EXPORT long guarded_##name(long a, long b, long c, long d, long e, long f) __asm__(#name);               \
    long guarded_##name(long a, long b, long c, long d, long e, long f) {                                    \
        static struct next_call call = {#name, NULL};                                                        \
        const six next = (six)next_call(&call, NULL);                                                        \
        if (!protection_wanted() || !protection_active())                                                    \
            return next(a, b, c, d, e, f);                                                                   \
        const uint32_t hold = protection_hold_all();                                                         \
        const long answer = next(a, b, c, d, e, f);                                                          \
        protection_release(hold);                                                                            \
        return answer;                                                                                       \
    }
#define GUARD_2(one, two) GUARD(one) GUARD(two)
#define GUARD_4(one, two, three, four) GUARD_2(one, two) GUARD_2(three, four)

/* clang-format off */
/* Files by name, and what is told of them. */
GUARD_4(stat, lstat, fstat, fstatat)
GUARD_4(stat64, lstat64, fstat64, fstatat64)
GUARD_4(__xstat, __lxstat, __fxstat, __fxstatat)
GUARD_4(__xstat64, __lxstat64, __fxstat64, __fxstatat64)
GUARD_4(statx, statfs, fstatfs, statvfs)
GUARD_4(open, open64, openat, openat64)
GUARD_4(__open_2, __open64_2, __openat_2, __openat64_2)
GUARD_4(creat, creat64, fopen, fopen64)
GUARD_4(freopen, freopen64, opendir, realpath)
GUARD_4(access, faccessat, readlink, readlinkat)
GUARD_4(__readlink_chk, __readlinkat_chk, getcwd, __getcwd_chk)
GUARD_4(chdir, mkdir, mkdirat, rmdir)
GUARD_4(unlink, unlinkat, remove, rename)
GUARD_4(renameat, renameat2, link, linkat)
GUARD_4(symlink, symlinkat, chmod, fchmodat)
GUARD_4(chown, lchown, fchownat, truncate)
GUARD_4(truncate64, utime, utimes, lutimes)
GUARD_4(utimensat, futimens, mkfifo, mkstemp)
GUARD_4(mkdtemp, mkostemp, mkstemps, mkstemp64)
GUARD_4(getxattr, setxattr, listxattr, fgetxattr)
/* Waiting for events, and time. */
GUARD_4(select, pselect, poll, ppoll)
GUARD_4(__poll_chk, epoll_ctl, epoll_wait, epoll_pwait)
GUARD_4(nanosleep, clock_nanosleep, clock_getres, clock_settime)
GUARD_4(getitimer, setitimer, timer_create, timer_settime)
GUARD_4(timer_gettime, timerfd_settime, timerfd_gettime, times)
/* Processes and the system. */
GUARD_4(wait, waitpid, wait3, wait4)
GUARD_4(waitid, uname, sysinfo, gethostname)
GUARD_4(getrusage, getrlimit, setrlimit, prlimit)
GUARD_4(getrlimit64, setrlimit64, prlimit64, getgroups)
GUARD_4(sched_getaffinity, sched_setaffinity, pthread_getaffinity_np, pthread_setaffinity_np)
GUARD_4(sched_getparam, sched_setscheduler, sigpending, sigwaitinfo)
GUARD_4(sigtimedwait, mincore, process_vm_readv, process_vm_writev)
/* Sockets, pipes and devices. */
GUARD_4(pipe, pipe2, socketpair, ioctl)
GUARD_4(accept, accept4, connect, bind)
GUARD_4(getsockname, getpeername, getsockopt, setsockopt)
GUARD_4(recvmmsg, sendmmsg, fcntl, fcntl64)
GUARD_4(sendfile, sendfile64, splice, copy_file_range)
GUARD_4(preadv2, pwritev2, preadv64v2, pwritev64v2)
GUARD_4(semop, semtimedop, msgsnd, msgrcv)
/* clang-format on */
