/* pthread_team.h: the threads of a program without OpenMP, taken together as one parallel region.
 *
 * Contract. Next touch and the profile work inside parallel regions. In a program without an OpenMP runtime
 * the region begins when the first thread is created and ends when none is left; the function that the first
 * thread runs is the region's name. Before pthread_team_prepare and after pthread_team_give_way the other
 * functions do nothing, because an OpenMP runtime has the regions then.
 */
#ifndef NUMAPLACE_PTHREAD_TEAM_H
#define NUMAPLACE_PTHREAD_TEAM_H

#include <stdbool.h>

/* Call once, before the first thread, in a program without an OpenMP runtime. */
void pthread_team_prepare(void);
/* An OpenMP runtime was loaded later. */
void pthread_team_give_way(void);
/* A thread that will run `routine` is about to be created; return whether pthread_team_shrinks is to be
 * called when it has ended, or could not be created. */
bool pthread_team_grows(void *routine);
void pthread_team_shrinks(void);
/* In the child of a fork: there are no such threads. */
void pthread_team_after_fork(void);

#endif
