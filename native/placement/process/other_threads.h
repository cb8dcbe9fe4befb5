/* other_threads.h: what the kernel says of the process's threads. */
#ifndef NUMAPLACE_OTHER_THREADS_H
#define NUMAPLACE_OTHER_THREADS_H

#include <stdbool.h>

/* Whether all other threads have ended: a main thread that left by pthread_exit does not end the process. */
bool other_threads_ended(void);
/* Whether a thread may have SIGSEGV blocked for longer than a moment, by a call that masks.c did not see. */
bool other_threads_block_faults(void);

#endif
