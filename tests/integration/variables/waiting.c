/* waiting.c: a library whose constructor starts a thread; with BLOCKED all signals are blocked there, with
 * RAW by a system call that no preload library sees. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *wait_for_ever(void *unused) {
#ifdef RAW
    unsigned long all = ~0ul;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
#endif
    for (;;)
        pause();
    return unused;
}

__attribute__((constructor)) static void start(void) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, NULL, &before);
#ifdef BLOCKED
    pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
    if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
        abort();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
