/* protection_handlers.c: armed pages beside the program's own handlers, masks, stacks and deaths; cases of
 * protection_stress.c. */
#define _GNU_SOURCE
#include "protection_stubs.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t caught;
static siginfo_t last;
static sigjmp_buf back;
static volatile bool blocked_inside, on_stack;
static volatile char *touched_inside;
static char *stack;

static bool segv_blocked(void) {
    sigset_t mask;
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0);
    return sigismember(&mask, SIGSEGV) == 1;
}

static void on_fault(int number, siginfo_t *info, void *context) {
    (void)context;
    CHECK(number == SIGSEGV);
    const char *const here = __builtin_frame_address(0); /* sanitizers may keep variables elsewhere */
    caught++;
    last = *info;
    on_stack = stack && here >= stack && here < stack + 65536;
    blocked_inside = segv_blocked();
    if (touched_inside)
        *touched_inside = 1;
    if (info->si_code > 0)
        siglongjmp(back, 1);
}

static void on_number(int number) {
    CHECK(number == SIGSEGV);
    caught++;
}

static void set_handler(int flags) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | flags}, old;
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0 && sigaction(SIGSEGV, NULL, &old) == 0);
    CHECK(old.sa_sigaction == on_fault && (old.sa_flags & flags) == flags);
}

__attribute__((noinline, no_sanitize("undefined", "address", "thread"))) static void
fault_at(uintptr_t address) {
    *(volatile char *)address = 1;
}

static bool faults_at(uintptr_t address) {
    const int before = caught;
    if (sigsetjmp(back, 1) == 0)
        fault_at(address);
    return caught == before + 1 && last.si_addr == (void *)address;
}

void handlers(void) {
    struct range *range = stub_range(PAGES);
    struct sigaction old;
    set_handler(0); /* before ours is installed */
    arm_all(range);
    CHECK(sigaction(SIGSEGV, NULL, &old) == 0 && old.sa_sigaction == on_fault);
    for (size_t n = 0; n < PAGES; n++) {
        touched_inside = page(range, n); /* while the program thinks that SIGSEGV is blocked */
        CHECK(faults_at(16) && blocked_inside && !segv_blocked());
    }
    touched_inside = NULL;
    set_handler(SA_NODEFER);
    CHECK(faults_at(16) && !blocked_inside);
    CHECK(raise(SIGSEGV) == 0 && last.si_code <= 0 && last.si_pid == getpid());
    CHECK(signal(SIGSEGV, on_number) == (sighandler_t)(void *)on_fault);
    const int before = caught;
    CHECK(kill(getpid(), SIGSEGV) == 0 && caught == before + 1);
    CHECK(signal(SIGSEGV, SIG_IGN) == on_number);
    CHECK(kill(getpid(), SIGSEGV) == 0 && caught == before + 1);
    CHECK(signal(SIGSEGV, SIG_DFL) == SIG_IGN);
    arm_all(range);
    *page(range, 1) = 1;
    set_handler(SA_RESETHAND);
    CHECK(raise(SIGSEGV) == 0 && sigaction(SIGSEGV, NULL, &old) == 0 && old.sa_handler == SIG_DFL);
    *page(range, 2) = 1;
}

void alternate_stack(void) {
    struct range *range = stub_range(PAGES);
    static char memory[65536];
    stack = memory;
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof memory};
    CHECK(sigaltstack(&alternate, NULL) == 0);
    arm_all(range);
    set_handler(SA_ONSTACK);
    CHECK(faults_at(16) && on_stack);
    set_handler(0);
    CHECK(faults_at(16) && !on_stack);
    *page(range, 5) = 1;
    /* A stack inside a range: the kernel could not put its frame there. */
    struct range *holds_stack = stub_range(PAGES);
    arm_all(holds_stack);
    const stack_t other = {.ss_sp = (void *)holds_stack->start, .ss_size = PAGES * PAGE_BYTES};
    stack = (char *)other.ss_sp;
    CHECK(sigaltstack(&other, NULL) == 0);
    set_handler(SA_ONSTACK);
    *page(range, 6) = 1;
    CHECK(faults_at(16) && ranges_find((uintptr_t)other.ss_sp) == NULL);
}

/* The program's own protection of its memory is the program's fault, however often, and whatever we did
 * there. */
void own_protection(void) {
    struct range *range = stub_range(PAGES);
    set_handler(0);
    for (int turn = 0; turn < 100; turn++) {
        arm_all(range);
        *page(range, 7) = 1;
        mprotect((void *)page(range, 7), PAGE_BYTES, PROT_READ);
        CHECK(faults_at((uintptr_t)page(range, 7) + 8));
        CHECK(*page(range, 7) == 1);
        mprotect((void *)page(range, 7), PAGE_BYTES, PROT_READ | PROT_WRITE);
        protection_open_all();
    }
}

/* Blocked by the program: what is ours still works, what is sent waits, and the mask is as the program set
 * it. */
void blocked(void) {
    struct range *range = stub_range(PAGES);
    sigset_t all, old;
    sigfillset(&all);
    set_handler(0);
    CHECK(pthread_sigmask(SIG_BLOCK, &all, &old) == 0 && sigismember(&old, SIGSEGV) == 0 && segv_blocked());
    arm_all(range);
    for (size_t n = 0; n < PAGES; n++)
        *page(range, n) = 1;
    const int before = caught;
    CHECK(raise(SIGSEGV) == 0 && caught == before && segv_blocked());
    CHECK(sigprocmask(SIG_SETMASK, &old, NULL) == 0 && caught == before + 1 && !segv_blocked());
    CHECK(last.si_code <= 0 && last.si_pid == getpid());
}

static struct range *in_alarm;
static volatile sig_atomic_t alarms;

static void on_alarm(int number) {
    (void)number;
    *page(in_alarm, (size_t)alarms % PAGES) = 1;
    alarms++;
}

/* Another signal's handler with everything blocked. */
void full_mask(void) {
    struct sigaction action = {.sa_handler = on_alarm}, old;
    in_alarm = stub_range(PAGES);
    sigfillset(&action.sa_mask);
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && sigaction(SIGALRM, NULL, &old) == 0);
    CHECK(sigismember(&old.sa_mask, SIGSEGV) == 1 && sigismember(&old.sa_mask, SIGUSR1) == 1);
    const struct itimerval often = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &often, NULL);
    while (alarms < 500)
        arm_all(in_alarm);
}

static volatile bool segv_blocked_inside;

static void while_suspended(int number) {
    (void)number;
    *page(in_alarm, 0) = 1; /* the kernel would kill a thread that has SIGSEGV blocked */
    segv_blocked_inside = segv_blocked();
}

static int by_ppoll(const sigset_t *mask) { return ppoll(NULL, 0, NULL, mask); }

static int by_pselect(const sigset_t *mask) { return pselect(0, NULL, NULL, NULL, NULL, mask); }

static int by_epoll(const sigset_t *mask) {
    struct epoll_event event;
    const int events = epoll_create1(EPOLL_CLOEXEC);
    const int result = epoll_pwait(events, &event, 1, -1, mask);
    close(events);
    return result;
}

/* The mask that a call is given holds while it waits and in the handler that ends it, and is gone after. */
void suspended(void) {
    static int (*const ways[])(const sigset_t *) = {sigsuspend, by_ppoll, by_pselect, by_epoll};
    struct sigaction action = {.sa_handler = while_suspended};
    sigset_t all, waiting;
    in_alarm = stub_range(PAGES);
    sigfillset(&all);
    set_handler(0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && sigprocmask(SIG_SETMASK, &all, NULL) == 0);
    for (int turn = 0; turn < 8; turn++) { /* with SIGSEGV blocked meanwhile, and not */
        const bool blocked = turn % 2 == 0;
        waiting = all;
        sigdelset(&waiting, SIGUSR1);
        if (!blocked)
            sigdelset(&waiting, SIGSEGV);
        arm_all(in_alarm);
        CHECK(raise(SIGUSR1) == 0 && ways[turn / 2](&waiting) == -1);
        CHECK(segv_blocked_inside == blocked && segv_blocked());
    }
    CHECK(raise(SIGSEGV) == 0 && sigpending(&waiting) == 0);
    CHECK(sigismember(&waiting, SIGSEGV) == 1 && sigismember(&waiting, SIGSTKFLT) == 0);
    /* A SIGSEGV that was sent goes on waiting where sigsuspend blocks it. */
    const int earlier = caught;
    waiting = all;
    sigdelset(&waiting, SIGUSR1);
    CHECK(raise(SIGUSR1) == 0 && sigsuspend(&waiting) == -1 && caught == earlier);
    CHECK(sigprocmask(SIG_UNBLOCK, &all, NULL) == 0 && caught == earlier + 1);
}

static void *cancelled_inside(void *range) {
    pthread_cleanup_push((void (*)(void *))(void *)on_number, (void *)SIGSEGV);
    set_handler(0);
    if (sigsetjmp(back, 1) == 0)
        fault_at(16);
    *page(range, 1) = 1;
    pthread_cancel(pthread_self());
    pthread_testcancel();
    pthread_cleanup_pop(0);
    return NULL;
}

void cancellation(void) {
    struct range *range = stub_range(PAGES);
    for (int turn = 0; turn < 20; turn++) {
        pthread_t thread;
        void *result;
        arm_all(range);
        pthread_create(&thread, NULL, cancelled_inside, range);
        pthread_join(thread, &result);
        CHECK(result == PTHREAD_CANCELED && caught == 2 * (turn + 1));
        *page(range, 1) = 2;
    }
}

/* ---- deaths ---- */

enum death { BY_DEFAULT, IGNORED, BLOCKED, RAISED, READ_ONLY, INSIDE_HANDLER, DEATHS };

static void fault_again(int number) {
    (void)number;
    fault_at(16); /* SIGSEGV is blocked here: the kernel kills */
}

static void die(enum death how) {
    struct range *range = stub_range(PAGES);
    const struct rlimit no_core = {0, 0};
    sigset_t one;
    setrlimit(RLIMIT_CORE, &no_core);
    arm_all(range);
    *page(range, 0) = 1;
    if (how == IGNORED)
        signal(SIGSEGV, SIG_IGN);
    if (how == INSIDE_HANDLER)
        signal(SIGSEGV, fault_again);
    if (how == BLOCKED) {
        set_handler(0);
        sigemptyset(&one);
        sigaddset(&one, SIGSEGV);
        sigprocmask(SIG_BLOCK, &one, NULL);
    }
    if (how == READ_ONLY) {
        mprotect((void *)range->start, PAGE_BYTES, PROT_READ);
        fault_at(range->start);
    }
    if (how == RAISED)
        raise(SIGSEGV);
    fault_at(16);
    _exit(0);
}

void deaths(void) {
    for (enum death how = 0; how < DEATHS; how++) {
        int status;
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            die(how);
        CHECK(waitpid(child, &status, 0) == child);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
            dprintf(2, "death %d: status %x\n", (int)how, (unsigned)status);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    }
}
