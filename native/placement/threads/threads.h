/* threads.h: threads that the program starts itself. */
#ifndef NUMAPLACE_THREADS_H
#define NUMAPLACE_THREADS_H

/* Once, before the first thread: what gives a slot back when its thread ends. */
void threads_prepare(void);
/* The calling thread, which the program has not started by pthread_create, is to be like those at its end. */
void threads_note_end(void);
/* In the child of a fork: a lock that another thread held is free again. */
void threads_after_fork(void);

#endif
