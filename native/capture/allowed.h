/* allowed.h: keeps what a replay does inside of its process. */
#ifndef NUMACAPTURE_ALLOWED_H
#define NUMACAPTURE_ALLOWED_H

#include "exchange.h"

#include <stdbool.h>

/* From here on the calling thread and those that it starts may only make system calls without effects outside
 * of the process: memory, threads, waiting, clocks. What is written or sent goes nowhere, and the thread goes
 * on. Any other call ends the process, and the outcome says which (seccomp(2), SECCOMP_RET_TRAP). False where
 * the kernel refuses. */
bool allowed_only(struct outcome *outcome);
/* In each thread of the replay: one that blocked this signal would be ended by a call that is stopped. */
void allowed_unblock(void);

#endif
