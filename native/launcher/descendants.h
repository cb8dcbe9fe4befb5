/* descendants.h: all processes that the program starts, wherever they go.
 *
 * Contract. The kernel gives an orphan to its nearest ancestor that asked for it (PR_SET_CHILD_SUBREAPER,
 * prctl(2)): no process that the program starts escapes, even in a session of its own. Call all functions
 * except descendants_guard with every signal blocked.
 */
#ifndef NUMALAUNCH_DESCENDANTS_H
#define NUMALAUNCH_DESCENDANTS_H

#include <stdbool.h>
#include <sys/types.h>

/* Adopt orphans, and receive SIGCHLD when the starting thread ends; return false if `parent` has ended. */
bool descendants_guard(pid_t parent);
/* Kill and reap all processes below this one; processes that it may not kill are left running. */
void descendants_kill(void);
/* Remove libomp's registration of a process from shared memory; libomp does so only at a normal exit. */
void descendants_forget(pid_t pid);

#endif
