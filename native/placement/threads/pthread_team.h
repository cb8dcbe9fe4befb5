/* pthread_team.h: the threads of a program without OpenMP, taken together as a parallel region.
 *
 * Contract. Where pages follow the threads that touch them, or a profile is sampled, somebody has to say when
 * the threads are at work. In a program without an OpenMP runtime they are from the creation of the first
 * until none is left; what the first one runs names the region. Without pthread_team_prepare, and after
 * pthread_team_give_way, the others do nothing: an OpenMP runtime's regions say it then.
 */
#ifndef NUMAPLACE_PTHREAD_TEAM_H
#define NUMAPLACE_PTHREAD_TEAM_H

#include <stdbool.h>

/* Once, before the first thread, in a program without an OpenMP runtime. */
void pthread_team_prepare(void);
/* A runtime has come after all. */
void pthread_team_give_way(void);
/* A thread that will run `routine` is about to be created; return whether pthread_team_shrinks is to be
 * called when it has ended, or could not be created. */
bool pthread_team_grows(void *routine);
void pthread_team_shrinks(void);
/* In the child of a fork there are none. */
void pthread_team_after_fork(void);

#endif
