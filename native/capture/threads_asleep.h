/* threads_asleep.h: waits until the program's other threads leave their processors to a replay. */
#ifndef NUMACAPTURE_THREADS_ASLEEP_H
#define NUMACAPTURE_THREADS_ASLEEP_H

/* In the program: after a region its team spins at the barrier for milliseconds (libgomp), or for 200 of them
 * (LLVM's runtime), on the very processors that a replay's threads are bound to: short replays took twice as
 * long. Wait until all threads but the calling one sleep, and return how many did not within 300 ms: those
 * that have work, or whose OMP_WAIT_POLICY is active. */
unsigned threads_asleep(void);

#endif
