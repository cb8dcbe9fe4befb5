/* signals.h: shares SIGSEGV between this library and the program.
 *
 * Contract. From signals_watch on, SIGSEGV stays out of every thread's real signal mask, for the kernel kills
 * a process whose thread touches protected memory with SIGSEGV blocked. The program's request is kept in the
 * bit of a signal that is never sent, SIGSTKFLT ("unused" in signal(7)): it is blocked where the program
 * blocks SIGSEGV, so siglongjmp, swapcontext, fork and new threads carry it along, and masks are reported
 * with both. From signals_install on, the kernel calls our handler, and a fault that is not ours goes to the
 * program's, which may have been set before. If it has none, or blocks or ignores SIGSEGV, the process dies
 * of the same signal as without this library. Before signals_watch every call is passed on as it is.
 *
 * Not followed: sigwait for SIGSEGV.
 */
#ifndef NUMAPLACE_SIGNALS_H
#define NUMAPLACE_SIGNALS_H

#include "protection/touch.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define SEGV_BLOCKED SIGSTKFLT

/* Call once, in the main thread: `fault` is called for each fault from then on, in the signal handler, and
 * returns whether the access can be retried. */
void signals_watch(bool (*fault)(uintptr_t address, const void *context));
/* Of a signal's context: the interrupted instruction, and whether it read or wrote. */
uintptr_t signal_instruction(const void *context);
enum access signal_access(const void *context);
/* Install our handler unless it is installed; call before the first page is protected. */
void signals_install(void);
/* Whether it was ever called. */
bool signals_installed(void);
/* Nothing is protected any more: return SIGSEGV to the program, and set the calling thread's mask as the
 * program set it. */
void signals_withdraw(void);
/* In the child of a fork. */
void signals_after_fork(void);

/* For masks.c. */
bool signals_watched(void);
/* Replace SIGSEGV by SEGV_BLOCKED in the program's set; and the reverse. */
void mask_for_kernel(sigset_t *set);
void mask_for_program(sigset_t *set);

#endif
