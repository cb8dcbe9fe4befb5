/* other_threads.h: whether the calling thread is the last one that runs. */
#ifndef NUMAPLACE_OTHER_THREADS_H
#define NUMAPLACE_OTHER_THREADS_H

#include <stdbool.h>

/* Whether all other threads have ended: a main thread that left by pthread_exit does not end the process. */
bool other_threads_ended(void);

#endif
