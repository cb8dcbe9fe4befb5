/* page_changes.h: moves the pages that are there to where another mapping has them, a batch at a time.
 *
 * Contract. By the thread that starts the regions, between them, but for page_changes_help: a batch is queued
 * before a region, and the threads of its team move it together when they enter. Only pages of known ranges
 * (ranges.h) move, and those that were allocated meanwhile are left to the thread's policy. Where each page
 * was before the first change is kept, so that it can be put back. A page that the kernel does not move
 * stays.
 */
#ifndef NUMAPLACE_PAGE_CHANGES_H
#define NUMAPLACE_PAGE_CHANGES_H

#include "adapt/table.h"
#include "memory/ranges.h"

/* Begin a change to a column's places of pages, for the parts of them from `first` on below `end`. */
void page_changes_begin(const struct column *to, uint32_t first, uint32_t end);
/* Queue what a team of so many threads moves in about so long; return whether nothing is left but that. */
bool page_changes_go_on(uint64_t most_ns, uint32_t team);
/* Move a part of the queue, until it is empty: by each thread of the team. */
void page_changes_help(void);
/* All threads have done so: move what is left, and return what the queue has cost, in ns. */
double page_changes_end(void);
/* Look at some pages of the ranges: return whether nearly all are on one node. Moves a few of them there and
 * back, to know what that costs. */
bool page_changes_look(void);
/* What moving all pages of the known ranges costs a team of so many threads, in ns; `by_touch`: a fault for
 * each block of them, too. */
double page_changes_all_ns(uint32_t team, bool by_touch);
uint64_t page_changes_moved(void);
/* A range was removed. */
void page_changes_forget(struct range *range);

#endif
