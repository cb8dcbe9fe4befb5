/* side_thread.h: threads of this library's own beside the program's. */
#ifndef NUMAPLACE_SIDE_THREAD_H
#define NUMAPLACE_SIDE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Start one that takes no slot and handles no signal; false where there can be none. */
bool side_thread_start(pthread_t *thread, void *(*routine)(void *));

#endif
