/* block_groups.h: the blocks of the main heap from BLOCK_BYTES up to RANGE_BYTES, in groups by call stack.
 *
 * Contract. Rows of an array, nodes of a tree: what one call stack allocates is one variable. Each block has
 * the next pages of its group, in the order of their allocation, which begins again when the last one is
 * freed: a page of a group is the same part of the data in every step, wherever the blocks are. A group is a
 * known_range of kind PROFILE_BLOCKS without a range: samples of pages of the heap that a block owns are
 * counted there.
 *
 * The bookkeeping may take START_NS and SHARE of the time; further blocks are left to the heap's own ranges,
 * for nothing but a look at their address when they are freed.
 * Of each group some blocks are watched for their first touch, fewer and fewer the more there are, within the
 * budget of first_touches.h: one page of each, before the first region too (heap_look_early). The blocks
 * between two watched ones are taken to be touched like the one before.
 *
 * block_group_touched is async-signal-safe; what is said to be is called under one lock, profile.c's.
 */
#ifndef NUMAPLACE_BLOCK_GROUPS_H
#define NUMAPLACE_BLOCK_GROUPS_H

#include "process/lock.h"
#include "profile/known_ranges.h"
#include "protection/touch.h"

/* Call once, before heap_prepare, with the lock; `early`: blocks may be watched before the first region. */
void block_groups_prepare(struct lock *profile, bool early);
/* Return whether a block owns a page of the heap, its group's number among the known ranges and the page of
 * the group. */
bool block_group_of(uintptr_t page, uint32_t *number, uint32_t *group_page);
/* The listener for pages of the heap that were protected for their first touch. */
void block_group_touched(const struct touch *touch, uint32_t region);
/* Note blocks again if there is time for it: at least before each region. */
void block_groups_look(void);
/* Pages that wait for their first touch may be open; under the lock: protect them again. */
void block_groups_opened(void);
void block_groups_resume(void);
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
