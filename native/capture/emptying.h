/* emptying.h: caches without a region's own data, as other regions may leave them between two instances.
 *
 * A replay that follows another of the same region finds in the caches what that one left. How much of it is
 * still there in the run, nobody can see without counters: instances are timed both ways, and the run's own
 * instances lie between.
 */
#ifndef NUMACAPTURE_EMPTYING_H
#define NUMACAPTURE_EMPTYING_H

#include <stdbool.h>
#include <stddef.h>

/* In the child, once: make room to fill the caches of `threads` threads, with so many bytes each, but with no
 * more than `most` bytes together: what the program has, for its other regions have no more to fill caches
 * with. False where that is nothing, there is no room, or the runtime in `scope` (of dlsym) lacks what it
 * takes. */
bool emptying_prepare(void *scope, unsigned threads, size_t bytes_each, size_t most);
/* Let each thread of a team of so many write to each line of its part. */
void emptying_run(void);

#endif
