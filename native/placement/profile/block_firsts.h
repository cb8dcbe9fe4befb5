/* block_firsts.h: the groups of blocks (block_groups.h) of a profile, and who touches their blocks first.
 *
 * Contract. A group is a known_range of kind PROFILE_BLOCKS without a range: samples of pages of the heap
 * that a block owns are counted there. Of each group some blocks are watched for their first touch, fewer and
 * fewer the more there are, within the budget of first_touches.h: one page of each, before the first region
 * too (heap_look_early). The blocks between two watched ones are taken to be touched like the one before.
 *
 * block_group_touched is async-signal-safe; what is said to be is called under one lock, profile.c's.
 */
#ifndef NUMAPLACE_BLOCK_FIRSTS_H
#define NUMAPLACE_BLOCK_FIRSTS_H

#include "process/lock.h"
#include "profile/known_ranges.h"
#include "protection/touch.h"

/* Call once, before heap_prepare, with the lock; `early`: blocks may be watched before the first region. */
void block_firsts_prepare(struct lock *profile, bool early);
/* The listener for pages of the heap that were protected for their first touch. */
void block_group_touched(const struct touch *touch, uint32_t region);
/* Pages that wait for their first touch may be open; under the lock: protect them again. */
void block_firsts_opened(void);
void block_firsts_resume(void);
/* Under the lock: fill in what a group's known_range says of all of its blocks. */
void block_groups_count(void);

#define MOST_BLOCK_FIRSTS 1024u
/* Under the lock: return the first touches of a group, in page order and without its stack's and region's
 * numbers in the file, and their number. They stay valid until the next call. */
size_t block_group_firsts(uint32_t known, struct profile_first **firsts);

/* Under the lock: call `put` for each run of pages of a range of the heap that neighbouring pages of one
 * group own, also those whose block was freed last. */
void block_group_runs(const struct known_range *arena, uint32_t number,
                      void (*put)(const struct profile_owner *run, void *data), void *data);

#endif
