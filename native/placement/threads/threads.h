/* threads.h: threads that the program starts itself. */
#ifndef NUMAPLACE_THREADS_H
#define NUMAPLACE_THREADS_H

#include <pthread.h>

/* Once, before the first thread: what gives a slot back when its thread ends. */
void threads_prepare(void);
/* In the child of a fork: a lock that another thread held is free again. */
void threads_after_fork(void);
/* pthread_create itself: for threads of this library, which take no slot. */
int real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                        void *argument);

#endif
