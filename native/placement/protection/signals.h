/* signals.h: SIGSEGV is ours and the program's at once.
 *
 * Contract. From signals_watch on, SIGSEGV stays out of every thread's real signal mask, for the kernel kills
 * a process whose thread touches protected memory with SIGSEGV blocked. What the program asks for is kept in
 * the place of another signal that nobody sends, SIGSTKFLT ("unused" in signal(7)): it is blocked for real
 * where the program blocks SIGSEGV, so siglongjmp, swapcontext, fork and new threads carry it along, and
 * masks are reported with both. From signals_install on, the kernel calls our handler, and a fault that is
 * not ours goes to the program's, which may have been set before. Where it has none, or has blocked or
 * ignores SIGSEGV, the process dies of the same signal as without us. Before signals_watch every call is
 * passed on as it is.
 *
 * Not followed: sigwait for SIGSEGV.
 */
#ifndef NUMAPLACE_SIGNALS_H
#define NUMAPLACE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define SEGV_BLOCKED SIGSTKFLT

/* Once, in the main thread: `fault` is asked about each fault from then on, in the signal handler, and
 * returns whether it was ours and the access can be tried again. */
void signals_watch(bool (*fault)(uintptr_t address, uintptr_t instruction));
/* Install our handler, if it is not there; before the first page is protected. */
void signals_install(void);
/* Nothing is protected any more: SIGSEGV is the program's, and the calling thread's mask as the program has
 * set it. */
void signals_withdraw(void);
/* In the child of a fork. */
void signals_after_fork(void);

/* For masks.c. */
bool signals_watched(void);
/* Put SEGV_BLOCKED where the program says SIGSEGV; and the way back. */
void mask_for_kernel(sigset_t *set);
void mask_for_program(sigset_t *set);

#endif
