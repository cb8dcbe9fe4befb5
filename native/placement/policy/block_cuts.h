/* block_cuts.h: how `dataset` cuts a part of the main heap: each group of blocks (block_groups.h) as an
 * array of the group's pages, and what no such block has as the part itself, as `weighted` cuts all of it.
 *
 * Contract. Before each region (block_cuts_due) it is noted how large the groups are. One that has
 * RANGE_BYTES counts; when it has grown by an eighth, or its blocks were freed and made again, its pages are
 * cut again, as far as that takes START_NS and SHARE of the time. The cut of a range is its own until it is
 * made again or forgotten: by whoever has the range for itself.
 */
#ifndef NUMAPLACE_BLOCK_CUTS_H
#define NUMAPLACE_BLOCK_CUTS_H

#include "memory/ranges.h"
#include "policy/plan.h"

/* Call once, before heap_prepare, where no profile notes blocks. */
void block_cuts_prepare(void);
/* Return whether ranges that were cut before are to be cut again: those that are old; and then that it is
 * done. */
bool block_cuts_due(void);
bool block_cut_is_old(const struct range *range);
void block_cuts_done(void);
/* Cut a range, and return its runs, which cover it, and their number; NULL without memory. */
const struct plan_run *block_cut_make(struct range *range, size_t *runs);
const struct plan_run *block_cut_of(const struct range *range, size_t *runs);
void block_cut_forget(struct range *range);

#endif
