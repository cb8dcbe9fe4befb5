/* thread_data.h: the program's thread-local data (OpenMP's threadprivate) of threads that a fork leaves
 * behind.
 *
 * A fork's child has the memory of all its parent's threads, but only one of them. What stands in for thread
 * n of a team gets what thread n had: the thread-local blocks of the program itself and of the module that
 * the region is in.
 */
#ifndef NUMACAPTURE_THREAD_DATA_H
#define NUMACAPTURE_THREAD_DATA_H

/* In the program: the calling thread is number `thread` of a team of the module that holds `function`. */
void thread_data_note(int thread, const void *function);
/* In the child: give the calling thread what number `thread` had. */
void thread_data_take(int thread);

#endif
