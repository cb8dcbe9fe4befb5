/* crew.h: the threads of a program without OpenMP, taken together as a parallel region.
 *
 * Contract. Where pages follow the threads that touch them, or a profile is sampled, somebody has to say when
 * the threads are at work. In a program without an OpenMP runtime they are from the creation of the first
 * until none is left; what the first one runs names the region. Without crew_prepare, and after
 * crew_give_way, the others do nothing: an OpenMP runtime's regions say it then.
 */
#ifndef NUMAPLACE_CREW_H
#define NUMAPLACE_CREW_H

#include <stdbool.h>

/* Once, before the first thread, in a program without an OpenMP runtime. */
void crew_prepare(void);
/* A runtime has come after all. */
void crew_give_way(void);
/* A thread that will run `routine` is about to be created; return whether crew_shrinks is to be called when
 * it has ended, or could not be created. */
bool crew_grows(void *routine);
void crew_shrinks(void);
/* In the child of a fork there are none. */
void crew_after_fork(void);

#endif
