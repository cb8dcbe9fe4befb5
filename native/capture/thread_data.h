/* thread_data.h: the program's thread-local data (OpenMP's threadprivate) of threads that a fork leaves
 * behind.
 *
 * A fork's child has the memory of all its parent's threads, but only one of them. What stands in for thread
 * n of a team gets what thread n had: the thread-local blocks of the program itself and of the module that
 * the region is in, where these lie at the same place of every thread (static TLS: of what the program was
 * started with). Ulrich Drepper, ELF Handling For Thread-Local Storage, sec. 3.
 */
#ifndef NUMACAPTURE_THREAD_DATA_H
#define NUMACAPTURE_THREAD_DATA_H

/* In the program: the calling thread is number `thread` of a team. */
void thread_data_note(int thread);
/* In the child, in the thread that forked: the region is `function`, and its last team had so many threads.
 */
void thread_data_find(const void *function, int team);
/* In the child: give the calling thread, once, what number `thread` had. */
void thread_data_take(int thread);

#endif
