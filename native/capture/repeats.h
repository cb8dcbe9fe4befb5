/* repeats.h: instances of a region by the clock, in the child of a fork: as they come, after the caches were
 * emptied, and both again without the pages that were absent when the region began (absent.h).
 */
#ifndef NUMACAPTURE_REPEATS_H
#define NUMACAPTURE_REPEATS_H

#include "exchange.h"

/* After a first instance, which has taken outcome->first_ns: time others, until the job has enough of them.
 * `scope`: where dlsym finds the OpenMP runtime. */
void repeats_make(const struct job *job, void (*instance)(void), void *scope, struct outcome *outcome);
/* For the thread that has nothing else to do: end the process where an instance without such pages does not
 * end. Returns where there are enough of them. */
void repeats_end_at_limit(void);

#endif
