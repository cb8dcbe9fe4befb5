/* allowed.c: a filter of system calls, and what is done about those that it stops. */
#define _GNU_SOURCE
#include "allowed.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "which architecture the filter is for"
#endif

static const int harmless[] = {
    /* memory of this process, which is private by now */
    SYS_brk, SYS_munmap, SYS_mprotect, SYS_madvise, SYS_mremap, SYS_mincore, SYS_mbind, SYS_set_mempolicy,
    SYS_get_mempolicy, SYS_move_pages, SYS_membarrier,
    /* threads, and waiting for them */
    SYS_futex, SYS_set_robust_list, SYS_sched_yield, SYS_sched_setaffinity, SYS_sched_getaffinity, SYS_getcpu,
    SYS_gettid, SYS_getpid, SYS_exit, SYS_exit_group, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
    SYS_rt_sigaction, SYS_nanosleep, SYS_clock_nanosleep, SYS_restart_syscall,
#ifdef SYS_rseq
    SYS_rseq,
#endif
#ifdef SYS_futex_waitv
    SYS_futex_waitv,
#endif
#ifdef SYS_arch_prctl
    SYS_arch_prctl,
#endif
    /* what only tells something */
    SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_getrusage, SYS_times, SYS_sysinfo, SYS_uname,
    SYS_getrandom, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getppid, SYS_pread64, SYS_fstat,
    SYS_newfstatat};

#define COUNT (sizeof harmless / sizeof *harmless)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, field))
#define SKIP_UNLESS(value, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(value), 0, skipped)
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, what)

static struct outcome *told;

#if defined(__x86_64__)
#define ARGUMENT(n) ((long)registers[(const int[]){REG_RDI, REG_RSI, REG_RDX}[n]])
#define RESULT registers[REG_RAX]
#else
#define ARGUMENT(n) ((long)registers[n])
#define RESULT registers[0]
#endif

static long bytes_of(const struct iovec *parts, long count) {
    long sum = 0;
    for (long n = 0; n < count; n++)
        sum += (long)parts[n].iov_len;
    return sum;
}

/* What is written or sent is held back: the call returns as if all had been taken. */
static bool held_back(const siginfo_t *about, ucontext_t *at) {
#if defined(__x86_64__)
    greg_t *registers = at->uc_mcontext.gregs;
#else
    unsigned long long *registers = at->uc_mcontext.regs;
#endif
    switch (about->si_syscall) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_sendto:
        RESULT = ARGUMENT(2);
        return true;
    case SYS_writev:
    case SYS_pwritev:
        RESULT = bytes_of((const struct iovec *)ARGUMENT(1), ARGUMENT(2));
        return true;
    case SYS_fsync:
    case SYS_fdatasync:
        RESULT = 0;
        return true;
    case SYS_ioctl: /* whether it is a terminal: not in a replay */
        RESULT = -ENOTTY;
        return ARGUMENT(1) == TCGETS;
    default:
        return false;
    }
}

static void refused(int number, siginfo_t *about, void *context) {
    (void)number;
    if (about->si_code > 0 && /* by the kernel */ held_back(about, context))
        return;
    uint32_t none = OUTCOME_NONE;
    if (__atomic_compare_exchange_n(&told->state, &none, OUTCOME_CALL, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
        told->detail = about->si_syscall;
    syscall(SYS_exit_group, 0);
}

void allowed_unblock(void) {
    sigset_t its;
    sigemptyset(&its);
    sigaddset(&its, SIGSYS);
    pthread_sigmask(SIG_UNBLOCK, &its, NULL);
}

bool allowed_only(struct outcome *outcome) {
    static const struct sock_filter head[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        ANSWER(SECCOMP_RET_TRAP),
        LOAD(nr),
        /* a thread, but no process; the C library uses clone where there is no clone3, whose flags lie in
           memory */
        SKIP_UNLESS(SYS_clone3, 1),
        ANSWER(SECCOMP_RET_ERRNO | ENOSYS),
        SKIP_UNLESS(SYS_clone, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
        ANSWER(SECCOMP_RET_ALLOW),
        ANSWER(SECCOMP_RET_TRAP),
        /* memory, but no files */
        SKIP_UNLESS(SYS_mmap, 4),
        LOAD(args[3]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 0, 1),
        ANSWER(SECCOMP_RET_ALLOW),
        ANSWER(SECCOMP_RET_TRAP),
    };
    struct sock_filter filter[sizeof head / sizeof *head + 2 * COUNT + 1];
    size_t length = sizeof head / sizeof *head;
    memcpy(filter, head, sizeof head);
    for (size_t n = 0; n < COUNT; n++) {
        filter[length++] = (struct sock_filter)SKIP_UNLESS(harmless[n], 1);
        filter[length++] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
    }
    filter[length++] = (struct sock_filter)ANSWER(SECCOMP_RET_TRAP);
    const struct sock_fprog program = {(unsigned short)length, filter};
    struct sigaction action = {.sa_sigaction = refused, .sa_flags = SA_SIGINFO | SA_NODEFER};
    told = outcome;
    return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
