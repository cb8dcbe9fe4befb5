/* profile.h: the sampled page-access profile: who touches which page, a few pages at a time.
 *
 * Contract. A thread of this library protects one block of pages every one or two milliseconds, spread evenly
 * over all pages of all ranges (a golden-ratio sequence over the ranges in the order of their allocation, so
 * that it depends on no address), and opens them after a tenth of the time so far, 100 ms at most. A touch
 * counts for the slot that made it, with the time that the block had been protected; only time inside
 * outermost parallel regions counts, and nothing is newly protected outside of them. The time between blocks
 * is adapted to the cost. Of call sites whose ranges are freed soon one range of 32 is profiled
 * (short_lived.h), and those that live on. The
 * first block of every new range is protected from its allocation on: its first touch gives the slot and the
 * instruction that touched the range first.
 *
 * A block of several pages (protection.h) is counted for the page in its middle; a page of the main heap for
 * the group of allocations that has most of it (block_groups.h). The profile is written
 * (profile_file.h) at intervals while it grows, and at the end; a process without a parallel region writes
 * none, and a forked child does not if its parent had one.
 */
#ifndef NUMAPLACE_PROFILE_H
#define NUMAPLACE_PROFILE_H

#include "../regions/regions.h"
#include "memory/ranges.h"

/* Call once, if the settings request a profile. Without this call all others do nothing. */
void profile_prepare(void);
/* From now on the first touches of ranges are watched, too. */
void profile_watch_firsts(void);
/* In the child of a fork, before protection's own handler: whether it may write a profile of its own, because
 * its parent had no region. */
bool profile_goes_on(void);
void profile_range_added(struct range *range);
void profile_range_removed(struct range *range);
/* Around an outermost region, on the encountering thread. */
void profile_region_begin(struct region_call *call);
void profile_region_end(struct region_call *call);
/* Write the profile for the last time. */
void profile_write(void);
/* The same, and return when the profile's thread has ended. */
void profile_withdraw(void);

#endif
