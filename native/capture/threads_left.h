/* threads_left.h: the threads that a fork left behind, as libgomp counts them. */
#ifndef NUMACAPTURE_THREADS_LEFT_H
#define NUMACAPTURE_THREADS_LEFT_H

/* In a child, by a thread that had no team yet: let libgomp, found in `scope` by dlsym, count this thread
 * alone. With more threads than processors by its count it spins for a shorter time at barriers, and a short
 * region takes a fifth longer than in the program (measured with gcc 12). No effect on LLVM's runtime, which
 * starts anew in a child, and where the counter cannot be told. */
void threads_left_forget(void *scope);

#endif
