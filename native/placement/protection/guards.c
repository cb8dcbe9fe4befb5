/* guards.c: the rarer calls that hand the program's memory to the kernel: all is open while they run.
 *
 * A path, a `struct stat` or a message may lie in any block of the heap. Such a call inside a parallel region
 * is rare, and the pages that it opens are merely not observed in this pass; therefore this file does not
 * distinguish which argument points where. All have at most six arguments, integers and pointers, in
 * registers: a wrapper that passes six on passes them on whatever their types are (System V x86-64 and
 * AArch64 procedure calls), and the result likewise. Calls that may wait for long are in delays.c, because
 * nothing is protected while a guard holds everything.
 *
 * A name that this C library lacks answers ENOSYS, as the kernel would: a program that looks the name up by
 * dlsym finds it here.
 */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "process/next_call.h"
#include "protection/protection.h"

#include <errno.h>

typedef long (*six)(long, long, long, long, long, long);

static long missing(long a, long b, long c, long d, long e, long f) {
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
    errno = ENOSYS;
    return -1;
}

static long missing_starter(long a, long b, long c, long d, long e, long f) {
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
    return ENOSYS;
}

static long held(six next, long a, long b, long c, long d, long e, long f) {
    const uint32_t hold = protection_hold_all();
    const long answer = next(a, b, c, d, e, f);
    protection_release(hold);
    return answer;
}

#define GUARD_OR(name, otherwise)                                                                            \
    EXPORT long guarded_##name(long a, long b, long c, long d, long e, long f) __asm__(#name);               \
    long guarded_##name(long a, long b, long c, long d, long e, long f) {                                    \
        static AMONG_NEXT_CALLS struct next_call call = NEXT_CALL(name);                                     \
        const six found = (six)next_call(&call, __builtin_return_address(0));                                \
        const six next = found ? found : (otherwise);                                                        \
        return protection_wanted() ? held(next, a, b, c, d, e, f) : next(a, b, c, d, e, f);                  \
    }
#define GUARD(name) GUARD_OR(name, missing)
#define GUARD_2(one, two) GUARD(one) GUARD(two)
#define GUARD_4(one, two, three, four) GUARD_2(one, two) GUARD_2(three, four)

/* clang-format off */
/* Files by name, and their attributes. */
GUARD_4(stat, lstat, fstat, fstatat)
GUARD_4(stat64, lstat64, fstat64, fstatat64)
GUARD_4(__xstat, __lxstat, __fxstat, __fxstatat)
GUARD_4(__xstat64, __lxstat64, __fxstat64, __fxstatat64)
GUARD_4(statx, statfs, fstatfs, statvfs)
GUARD_4(statfs64, fstatfs64, statvfs64, fstatvfs)
GUARD_2(fstatvfs64, __statfs)
GUARD_4(open, open64, openat, openat64)
GUARD_4(__open_2, __open64_2, __openat_2, __openat64_2)
GUARD_4(__open, __open64, openat2, creat)
GUARD(creat64)
GUARD_4(fopen, fopen64, freopen, freopen64)
GUARD_4(opendir, realpath, __realpath_chk, canonicalize_file_name)
GUARD_4(access, faccessat, eaccess, euidaccess)
GUARD_4(readlink, readlinkat, __readlink_chk, __readlinkat_chk)
GUARD_4(getcwd, __getcwd_chk, getwd, __getwd_chk)
GUARD_4(get_current_dir_name, chdir, chroot, mkdir)
GUARD_4(mkdirat, rmdir, mkfifo, mkfifoat)
GUARD_4(mknod, mknodat, __xmknod, __xmknodat)
GUARD_4(unlink, unlinkat, remove, rename)
GUARD_4(renameat, renameat2, link, linkat)
GUARD_4(symlink, symlinkat, chmod, lchmod)
GUARD_4(fchmodat, chown, lchown, fchownat)
GUARD_4(truncate, truncate64, utime, utimes)
GUARD_4(lutimes, futimes, futimesat, utimensat)
GUARD_4(futimens, mkstemp, mkdtemp, mkostemp)
GUARD_4(mkstemps, mkostemps, mkstemp64, mkostemp64)
GUARD_4(mkstemps64, mkostemps64, mktemp, tempnam)
GUARD_4(tmpnam, tmpnam_r, pathconf, ftok)
GUARD_4(acct, getxattr, setxattr, listxattr)
GUARD_4(removexattr, lgetxattr, lsetxattr, llistxattr)
GUARD_4(lremovexattr, fgetxattr, fsetxattr, flistxattr)
GUARD_4(fremovexattr, getdents64, getdirentries, getdirentries64)
GUARD_4(scandir, scandir64, scandirat, scandirat64)
GUARD_4(glob, glob64, ftw, ftw64)
GUARD_4(nftw, nftw64, wordexp, catopen)
GUARD_4(setmntent, name_to_handle_at, open_by_handle_at, inotify_add_watch)
GUARD_4(fanotify_mark, mount, umount, umount2)
GUARD_4(pivot_root, swapon, swapoff, quotactl)
GUARD_4(fsopen, fsconfig, fspick, move_mount)
GUARD_2(open_tree, mount_setattr)
/* Time, and waiting for events: calls that return at once. */
GUARD_4(epoll_ctl, signalfd, clock_getres, clock_settime)
GUARD_4(clock_adjtime, settimeofday, adjtime, adjtimex)
GUARD_4(__adjtimex, ntp_adjtime, ntp_gettime, ntp_gettimex)
GUARD_4(timespec_getres, getitimer, setitimer, timer_create)
GUARD_4(timer_settime, timer_gettime, timerfd_settime, timerfd_gettime)
GUARD(times)
/* Processes and the system. */
GUARD_4(uname, sysinfo, gethostname, __gethostname_chk)
GUARD_4(getdomainname, __getdomainname_chk, sethostname, setdomainname)
GUARD_4(getrusage, getrlimit, setrlimit, prlimit)
GUARD_4(getrlimit64, setrlimit64, prlimit64, getgroups)
GUARD_4(__getgroups_chk, setgroups, getresuid, getresgid)
GUARD_4(capget, capset, sched_getparam, sched_setparam)
GUARD_4(sched_setscheduler, __sched_getparam, __sched_setscheduler, sched_rr_get_interval)
GUARD_4(sched_getattr, sched_setattr, pthread_setschedparam, pthread_getname_np)
GUARD_4(pthread_setname_np, arch_prctl, __arch_prctl, mincore)
GUARD_2(modify_ldt, ptrace)
GUARD_4(process_vm_readv, process_vm_writev, process_madvise, pidfd_send_signal)
GUARD_OR(pidfd_spawn, missing_starter) GUARD_OR(pidfd_spawnp, missing_starter)
GUARD_2(klogctl, init_module)
GUARD_4(delete_module, getlogin_r, __getlogin_r_chk, getpwnam_r)
GUARD_4(getpwuid_r, getgrnam_r, getgrgid_r, pututline)
GUARD_2(pututxline, updwtmp)
GUARD(updwtmpx)
/* Sockets, pipes and devices. */
GUARD_4(pipe, pipe2, __pipe, socketpair)
GUARD_4(bind, getsockname, getpeername, getsockopt)
GUARD_4(setsockopt, recvmmsg, sendmmsg, fcntl)
GUARD_4(fcntl64, __fcntl, sendfile, sendfile64)
GUARD_4(splice, vmsplice, copy_file_range, preadv2)
GUARD_4(pwritev2, preadv64v2, pwritev64v2, __read)
GUARD_4(__write, __send, __pread64, __pwrite64)
GUARD_4(ttyname, ttyname_r, __ttyname_r_chk, ptsname_r)
GUARD_4(__ptsname_r_chk, openpty, forkpty, getaddrinfo)
GUARD_4(gethostbyname_r, getservbyname_r, getservbyport_r, if_nametoindex)
GUARD_4(if_indextoname, res_query, res_search, res_querydomain)
GUARD_4(res_send, res_nquery, res_nsearch, res_nquerydomain)
GUARD(res_nsend)
/* Between processes, and memory. */
GUARD_4(shmctl, semctl, msgctl, shm_open)
GUARD_4(shm_unlink, sem_open, sem_unlink, memfd_create)
GUARD_4(mq_open, __mq_open_2, mq_unlink, mq_getattr)
GUARD_4(mq_setattr, mq_notify, get_mempolicy, set_mempolicy)
GUARD_4(mbind, migrate_pages, move_pages, numa_move_pages)
/* The standard streams' calls by their older names. */
GUARD_4(_IO_fread, _IO_fwrite, _IO_fputs, _IO_puts)
GUARD_2(_IO_sgetn, _IO_popen)
    /* clang-format on */
