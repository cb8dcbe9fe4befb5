/* hints.h: the calls of include/numapredict.h.
 *
 * Contract. numapredict_v1 is what the program finds; bad calls are refused here. The other functions need
 * settings() not to be NULL.
 */
#ifndef NUMAPLACE_HINTS_H
#define NUMAPLACE_HINTS_H

#include "memory/range.h"

/* Once, before the program's first instruction: call `look` when the program is found to have hints, for the
 * memory that it allocates from then on. */
void hints_prepare(void (*look)(void));
/* A range is about to be removed. */
void hints_range_removed(const struct range *range);
/* In the child of a fork. */
void hints_after_fork(void);

#endif
