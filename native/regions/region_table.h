/* region_table.h: the table of a process's regions, and the clock that counts them into the region file.
 *
 * Contract. A region is an outlined function. Its key, module and offset are the same in every run of the
 * same binary. Only outermost regions are in the table: a nested region is part of the outermost one. No
 * function prints or fails: if the table is full or there is no file, regions are not counted. errno is kept.
 */
#ifndef NUMAPREDICT_REGION_TABLE_H
#define NUMAPREDICT_REGION_TABLE_H

#include "regions.h"

/* Return the region of an outlined function, adding it if it is new; NULL if the table is full. */
struct region *region_find(void *function);
/* Fill in `region` of an outermost call, before the clock begins. */
void region_identify(struct region_call *call);
/* Fill in `number` of an identified call: only for callers that need it, as it takes a locked instruction. */
void region_count(struct region_call *call);

/* Make no system call from now on. If the clock `can_be_read` without one, regions are still counted: the
 * file is made now if one is `expected`. */
void region_clock_settle(bool can_be_read, bool expected);

#endif
