/* masks.c: the calls by which a program blocks signals, with SIGSEGV kept out of the real mask (signals.h).
 */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "process/next_symbol.h"
#include "protection/signals.h"

#include <pthread.h>
#include <string.h>

/* Call `real` with the set for the kernel, and report the old set as the program set it. */
#define WITH_MASKS(real, how, set, old)                                                                      \
    if (!signals_watched())                                                                                  \
        return (real)(how, set, old);                                                                        \
    sigset_t wanted, was = {0};                                                                              \
    if (set) {                                                                                               \
        wanted = *(set);                                                                                     \
        mask_for_kernel(&wanted);                                                                            \
    }                                                                                                        \
    const int result = (real)(how, (set) ? &wanted : NULL, &was);                                            \
    if ((old) && result == 0) {                                                                              \
        mask_for_program(&was);                                                                              \
        *(old) = was;                                                                                        \
    }                                                                                                        \
    return result

EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
    WITH_MASKS(NEXT(sigprocmask), how, set, old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
    WITH_MASKS(NEXT(pthread_sigmask), how, set, old);
}

EXPORT int sigsuspend(const sigset_t *set) {
    sigset_t wanted = *set;
    if (signals_watched())
        mask_for_kernel(&wanted);
    return NEXT(sigsuspend)(&wanted);
}

EXPORT int sigpending(sigset_t *set) {
    sigset_t pending;
    const int result = NEXT(sigpending)(&pending);
    if (result == 0 && signals_watched()) {
        mask_for_program(&pending);
        sigdelset(&pending, SEGV_BLOCKED);
    }
    if (result == 0)
        *set = pending;
    return result;
}

EXPORT int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *set) {
    if (!set || !signals_watched())
        return NEXT(pthread_attr_setsigmask_np)(attributes, set);
    sigset_t wanted = *set;
    mask_for_kernel(&wanted);
    return NEXT(pthread_attr_setsigmask_np)(attributes, &wanted);
}

/* BSD's masks are integers; System V's calls take one signal. */

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* and used all the same */

static int change(int how, int word) {
    sigset_t set, old;
    sigemptyset(&set);
    memcpy(&set, &word, sizeof word);
    if (sigprocmask(how, &set, &old) != 0)
        return -1;
    memcpy(&word, &old, sizeof word);
    return word;
}

EXPORT int sigblock(int word) { return signals_watched() ? change(SIG_BLOCK, word) : NEXT(sigblock)(word); }

EXPORT int sigsetmask(int word) {
    return signals_watched() ? change(SIG_SETMASK, word) : NEXT(sigsetmask)(word);
}

static int for_kernel(int signal) { return signal == SIGSEGV && signals_watched() ? SEGV_BLOCKED : signal; }

EXPORT int sighold(int signal) { return NEXT(sighold)(for_kernel(signal)); }

EXPORT int sigrelse(int signal) { return NEXT(sigrelse)(for_kernel(signal)); }
