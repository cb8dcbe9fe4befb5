/* pages.h: where the program's pages go.
 *
 * Contract. The process's memory policy puts new pages as first-touch, bind, remote and interleave require,
 * and is the fallback for small allocations under the others. Being a policy of its own, it also keeps the
 * kernel's automatic NUMA balancing off the process's pages (linux/mempolicy.c: only policies with MPOL_F_MOF
 * are scanned). Ranges get more: chunks under dataset and weighted (page_chunks.h), and the runs of a plan
 * where there is one. The node is preferred, not bound, so that pages overflow from a full node to another
 * instead of killing the program.
 */
#ifndef NUMAPLACE_PAGES_H
#define NUMAPLACE_PAGES_H

#include <stdbool.h>

#include "memory/ranges.h"
#include "policy/plan.h"
#include "process/system.h"

/* Once, in the main thread, before the program's first instruction. */
void pages_prepare(void);
/* First touch for what the calling thread touches from now on: used when this process is not placed; and the
 * policy again, because now it is. */
void pages_leave(void);
void pages_come_back(void);
/* Whether pages are cut by data set, because there is no plan. Call after pages_prepare. */
bool pages_cut_datasets(void);
/* Whether the policy, a profile or a map needs to know of the program's ranges. */
bool pages_need_ranges(void);
/* Whether pages go by next touch, because there is no plan. Call after pages_prepare. */
bool pages_follow_touch(void);
/* Whether the mapping says of the pages of mapped files where they go, before they are touched. */
bool pages_place_files(void);
/* Before an outermost region: place ranges that could not be placed when they were allocated. */
void pages_region_begin(void);
/* Move a range's pages as a plan's runs say; what became of them is in `moves`. */
void pages_move(const struct range *range, const struct plan_run *run, size_t runs, struct page_moves *moves);
/* A range was added, before the program sees its memory; will be removed, before its memory is freed. */
void pages_range_added(struct range *range);
void pages_range_removed(struct range *range);
/* Return the node decided for a page of a range, or -1 if the policy leaves it to the kernel. */
int pages_node(const struct range *range, size_t page);
/* Whether the kernel itself puts new pages of a range there: nothing has to be moved. */
bool pages_are_kernels(const struct range *range);

#endif
