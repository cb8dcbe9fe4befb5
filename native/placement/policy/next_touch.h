/* next_touch.h: pages follow the thread that touches them next (ForestGOMP sec. 3.4).
 *
 * Contract. For locality, balance and mix where no plan says where pages go. When the first instance of a
 * region begins, and under mix also the second, all ranges are protected; each block of pages that a thread
 * touches is opened and moved: under locality to the home node of the thread's slot; under balance, once, to
 * the page node that got the fewest pages so far; under mix like locality the first time, and when another
 * instance finds a slot of another home there, the block is shared and is moved once more, as under balance.
 * Blocks are moved some at a time by the threads that touch them, after the touch, so that a page that is not
 * there yet is allocated first and then moved; the rest when the thread has done its share, so that all
 * threads move at once. When the region ends, everything is opened, and what was not there is moved. There
 * are at most PASSES such instances a process, and one at a time. One with a single thread, where the mapping
 * has more, does not show who will use a page, and nothing is decided: an initialisation under if(0), which
 * clang does not even start as a region.
 *
 * Later allocations are observed in the same way, alone, in the following instances, until they were touched
 * in one (two under mix) or not touched in MOST_WAITS, while that takes a small part of the program's time.
 */
#ifndef NUMAPLACE_NEXT_TOUCH_H
#define NUMAPLACE_NEXT_TOUCH_H

#include "../regions/regions.h"
#include "memory/ranges.h"
#include "process/settings.h"

#define PASSES 16
#define MOST_WAITS 64

/* Call once, if the policy is one of the three, with more than one page node and without a plan. Without this
 * call all others do nothing. */
void next_touch_prepare(void);
/* With settings()->adapt there is no pass until it is asked for: the next instance of each region is one
 * then, under mix the next two, for the parts of the blocks from `first` on below `end`; (0, 0) for none.
 * With the first part, what was decided before is forgotten. The policy is one of the three. Blocks are
 * larger than else: each fault costs as much as moving several pages. Between regions. */
#define NEXT_TOUCH_PARTS 8
#define NEXT_TOUCH_BLOCKS 64 /* at least, where blocks would have more than one page else, */
#define NEXT_TOUCH_PAGES 16  /* and so many pages at most */
void next_touch_ask(enum page_policy by, uint32_t first, uint32_t end);
/* Which part a block is in: one of 64 KB or of 2 MB, and of a small range one of its 64, so that each
 * thread's share of it has blocks in each part. */
static inline uint32_t next_touch_part(const struct range *range, uintptr_t block) {
    uint32_t shift = 16;
    while (shift > 12 && (range->end - range->start) >> shift < 64)
        shift--;
    return (uint32_t)((block >> shift) + (block >> 21)) % NEXT_TOUCH_PARTS;
}
/* The faults of a pass over all of a range, at most. */
static inline size_t next_touch_faults(const struct range *range) {
    const size_t pages = (range->end - range->start) / PAGE_BYTES;
    return pages < NEXT_TOUCH_BLOCKS * NEXT_TOUCH_PAGES ? NEXT_TOUCH_BLOCKS : pages / NEXT_TOUCH_PAGES;
}
/* Around an outermost region, on the encountering thread. */
void next_touch_region_begin(struct region_call *call);
void next_touch_region_end(struct region_call *call);
/* In the team's thread 0, once `call->team` is set. */
void next_touch_region_team(struct region_call *call);
/* The calling thread has ended its share of a region. */
void next_touch_thread_end(void);
/* A range was added, or is about to be removed; in the allocating or freeing thread. */
void next_touch_range_added(struct range *range);
void next_touch_range_removed(struct range *range);
/* Return the node decided for a page, or -1. */
int next_touch_node(const struct range *range, size_t page);

#endif
