/* signals.c: our SIGSEGV handler, in front of the program's own, and the calls by which that is set. */
#define _GNU_SOURCE
#include "protection/signals.h"

#include "../regions/export.h"
#include "process/lock.h"
#include "process/next_symbol.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define LAST_SIGNAL 64

static atomic_bool watched, installed;
static bool (*handle_fault)(uintptr_t address, const void *context);
static struct lock lock;
static struct sigaction
    program; /* what the program set for SIGSEGV, under the lock, once ours is installed */

bool signals_watched(void) { return atomic_load_explicit(&watched, memory_order_relaxed); }

void mask_for_kernel(sigset_t *set) {
    if (sigismember(set, SIGSEGV) == 1)
        sigaddset(set, SEGV_BLOCKED);
    else
        sigdelset(set, SEGV_BLOCKED);
    sigdelset(set, SIGSEGV);
}

void mask_for_program(sigset_t *set) {
    if (sigismember(set, SEGV_BLOCKED) == 1)
        sigaddset(set, SIGSEGV);
}

/* The kernel's mask is the first word of the C library's. */
static uint64_t first_word(const sigset_t *set) {
    uint64_t word;
    memcpy(&word, set, sizeof word);
    return word;
}

static uint64_t bit(int signal) { return 1ull << (signal - 1); }

static int real_sigaction(int signal, const struct sigaction *action, struct sigaction *old) {
    return NEXT(sigaction)(signal, action, old);
}

/* Send a signal to the calling thread, with everything that was known about it. It is delivered when our
 * handler returns. */
static void send_again(int signal, siginfo_t *info) {
    syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), signal, info);
}

/* The signal kills the process when our handler returns, at the faulting instruction. */
static void die(siginfo_t *info, ucontext_t *context) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    real_sigaction(SIGSEGV, &standard, NULL);
    sigdelset(&context->uc_sigmask, SIGSEGV);
    send_again(SIGSEGV, info);
}

static bool is_function(const struct sigaction *action) {
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* Do what the kernel would have done with the program's handler and mask. */
static void deliver(siginfo_t *info, ucontext_t *context, int before) {
    const bool blocked = sigismember(&context->uc_sigmask, SEGV_BLOCKED) == 1;
    const bool by_fault = info->si_code > 0;
    const uint64_t mask = lock_take(&lock);
    const struct sigaction action = program;
    if (is_function(&action) && !blocked && (action.sa_flags & (int)SA_RESETHAND))
        program.sa_handler = SIG_DFL;
    lock_give(&lock, mask);
    if (by_fault ? blocked || !is_function(&action) : !blocked && action.sa_handler == SIG_DFL) {
        die(info, context);
        return;
    }
    if (blocked) {
        send_again(SEGV_BLOCKED, info);
        return;
    }
    if (action.sa_handler == SIG_IGN)
        return;
    sigset_t blocks = action.sa_mask;
    if (!(action.sa_flags & SA_NODEFER))
        sigaddset(&blocks, SIGSEGV);
    mask_for_kernel(&blocks);
    signals_restore(first_word(&context->uc_sigmask) | first_word(&blocks));
    errno = before;
    action.sa_sigaction(SIGSEGV, info, context); /* a handler of one argument does not look at the others */
    if (sigismember(&context->uc_sigmask, SIGSEGV) == 1)
        mask_for_kernel(&context->uc_sigmask);
}

uintptr_t signal_instruction(const void *context) {
    const ucontext_t *const at = context;
#if defined(__x86_64__)
    return (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return at->uc_mcontext.pc;
#else
    (void)at;
    return 0;
#endif
}

/* The page fault's error code: bit 1 is set for a write (Intel SDM vol. 3 sec. 4.7). */
enum access signal_access(const void *context) {
#if defined(__x86_64__)
    const ucontext_t *const at = context;
    return at->uc_mcontext.gregs[REG_ERR] & 2 ? ACCESS_WRITE : ACCESS_READ;
#else
    (void)context;
    return ACCESS_UNKNOWN;
#endif
}

/* Also called for SEGV_BLOCKED, when the program unblocks SIGSEGV after one was deferred. */
static void on_signal(int signal, siginfo_t *info, void *context) {
    const int before = errno;
    const bool put_off = signal == SEGV_BLOCKED;
    if (put_off || info->si_code <= 0 || !handle_fault((uintptr_t)info->si_addr, context))
        deliver(info, context, before);
    errno = before;
}

/* On the stack that the program's own handler would run on. Everything is blocked while ours runs. */
static void put_ours(void) {
    const int chosen = is_function(&program) ? program.sa_flags & (SA_ONSTACK | SA_RESTART) : SA_ONSTACK;
    struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | chosen};
    sigfillset(&ours.sa_mask);
    real_sigaction(SIGSEGV, &ours, NULL);
}

void signals_install(void) {
    if (atomic_load(&installed))
        return;
    const int before = errno;
    const uint64_t mask = lock_take(&lock);
    if (!atomic_load(&installed)) {
        struct sigaction old;
        real_sigaction(SIGSEGV, NULL, &program);
        mask_for_program(&program.sa_mask);
        put_ours();
        real_sigaction(SEGV_BLOCKED, NULL, &old);
        if (old.sa_handler == SIG_DFL) {
            struct sigaction late = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
            sigfillset(&late.sa_mask);
            real_sigaction(SEGV_BLOCKED, &late, NULL);
        }
        atomic_store(&installed, true);
    }
    lock_give(&lock, mask);
    errno = before;
}

bool signals_installed(void) { return atomic_load(&installed); }

static void free_masks(int signal) {
    struct sigaction action;
    if (real_sigaction(signal, NULL, &action) == 0 && is_function(&action) &&
        sigismember(&action.sa_mask, SIGSEGV) == 1) {
        mask_for_kernel(&action.sa_mask);
        real_sigaction(signal, &action, NULL);
    }
}

void signals_watch(bool (*fault)(uintptr_t address, const void *context)) {
    const int before = errno;
    handle_fault = fault;
    atomic_store(&watched, true);
    for (int signal = 1; signal <= LAST_SIGNAL; signal++)
        free_masks(signal);
    const uint64_t mask = signals_block();
    signals_restore(mask & bit(SIGSEGV) ? (mask & ~bit(SIGSEGV)) | bit(SEGV_BLOCKED) : mask);
    errno = before;
}

void signals_withdraw(void) {
    struct sigaction late;
    const int before = errno;
    const uint64_t mask = lock_take(&lock);
    if (atomic_exchange(&installed, false)) {
        real_sigaction(SIGSEGV, &program, NULL);
        real_sigaction(SEGV_BLOCKED, NULL, &late);
        if (late.sa_sigaction == on_signal) {
            late = (struct sigaction){.sa_handler = SIG_DFL};
            real_sigaction(SEGV_BLOCKED, &late, NULL);
        }
    }
    atomic_store(&watched, false);
    lock_give(&lock, mask & bit(SEGV_BLOCKED) ? (mask & ~bit(SEGV_BLOCKED)) | bit(SIGSEGV) : mask);
    errno = before;
}

void signals_after_fork(void) { atomic_store(&lock.state, 0); }

/* ---- calls of the program ---- */

static int exchange(const struct sigaction *action, struct sigaction *old) {
    const uint64_t mask = lock_take(&lock);
    if (old)
        *old = program;
    if (action) {
        program = *action;
        sigdelset(&program.sa_mask, SIGKILL);
        sigdelset(&program.sa_mask, SIGSTOP);
        put_ours();
    }
    lock_give(&lock, mask);
    return 0;
}

static int set_action(int signal, const struct sigaction *action, struct sigaction *old) {
    struct sigaction wanted, was = {0}; /* the program's own may lie in protected memory */
    if (action)
        wanted = *action;
    int result;
    if (signal == SIGSEGV && atomic_load(&installed)) {
        result = exchange(action ? &wanted : NULL, &was);
    } else {
        if (action)
            mask_for_kernel(&wanted.sa_mask);
        result = real_sigaction(signal, action ? &wanted : NULL, &was);
        mask_for_program(&was.sa_mask);
    }
    if (old && result == 0)
        *old = was;
    return result;
}

EXPORT int sigaction(int signal, const struct sigaction *restrict action, struct sigaction *restrict old) {
    return signals_watched() ? set_action(signal, action, old) : real_sigaction(signal, action, old);
}

/* The older calls are deprecated but still in use. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static sighandler_t set_handler(sighandler_t handler, int flags, bool blocks_itself) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    sigemptyset(&action.sa_mask);
    if (blocks_itself)
        sigaddset(&action.sa_mask, SIGSEGV);
    return set_action(SIGSEGV, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

static bool is_ours(int number) { return number == SIGSEGV && signals_watched(); }

/* The names under which the C library offers BSD's and System V's signal(). */
#define SETTER(name, next_name, flags, blocks_itself)                                                        \
    EXPORT sighandler_t name(int number, sighandler_t handler);                                              \
    EXPORT sighandler_t name(int number, sighandler_t handler) {                                             \
        return is_ours(number) ? set_handler(handler, flags, blocks_itself)                                  \
                               : NEXT(next_name)(number, handler);                                           \
    }
SETTER(signal, signal, SA_RESTART, true)
SETTER(bsd_signal, signal, SA_RESTART, true)
SETTER(ssignal, signal, SA_RESTART, true)
SETTER(sysv_signal, sysv_signal, (int)SA_RESETHAND | SA_NODEFER, false)
SETTER(__sysv_signal, sysv_signal, (int)SA_RESETHAND | SA_NODEFER, false)

EXPORT int sigignore(int number) {
    if (!is_ours(number))
        return NEXT(sigignore)(number);
    return set_handler(SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
}

EXPORT sighandler_t sigset(int number, sighandler_t handler) {
    if (!is_ours(number))
        return NEXT(sigset)(number, handler);
    struct sigaction old;
    sigset_t one, mask;
    sigemptyset(&one);
    sigaddset(&one, SIGSEGV);
    if (set_action(SIGSEGV, NULL, &old) != 0 || handler == SIG_ERR ||
        (handler != SIG_HOLD && set_handler(handler, 0, false) == SIG_ERR) ||
        sigprocmask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &one, &mask) != 0)
        return SIG_ERR;
    return sigismember(&mask, SIGSEGV) == 1 ? SIG_HOLD : old.sa_handler;
}
