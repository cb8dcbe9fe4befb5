/* descendants.h: all processes that the program starts, wherever they go.
 *
 * Contract. The kernel gives an orphan to its nearest ancestor that asked for it (PR_SET_CHILD_SUBREAPER,
 * prctl(2)): nothing that the program starts gets away, whatever sessions it makes for itself. Every signal
 * is blocked when these are called, but for descendants_guard.
 */
#ifndef NUMALAUNCH_DESCENDANTS_H
#define NUMALAUNCH_DESCENDANTS_H

#include <stdbool.h>
#include <sys/types.h>

/* Take orphans in, and be woken by a SIGCHLD when the thread that started this process ends; false where
 * `parent` is gone already. */
bool descendants_guard(pid_t parent);
/* Kill and reap all processes below this one; those that it may not kill are left. */
void descendants_kill(void);
/* Remove what libomp registers a process with in shared memory; it does so itself only at an exit of its own.
 */
void descendants_forget(pid_t pid);

#endif
