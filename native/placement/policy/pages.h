/* pages.h: where the program's pages go.
 *
 * Contract. The process's memory policy puts new pages where first-touch, bind, remote and interleave want
 * them, and is the fallback for small allocations under the others. Being a policy of its own, it also keeps
 * the kernel's automatic NUMA balancing off the process's pages (linux/mempolicy.c: only policies with
 * MPOL_F_MOF are scanned). Ranges get more: one chunk a slot under dataset, and the runs of a plan where
 * there is one. A preferred node is used and not a binding one, so that a full node sends pages elsewhere
 * instead of killing the program.
 */
#ifndef NUMAPLACE_PAGES_H
#define NUMAPLACE_PAGES_H

#include <stdbool.h>

#include "memory/ranges.h"

/* Once, in the main thread, before the program's first instruction. */
void pages_prepare(void);
/* First touch for what the calling thread touches from now on: this process is not placed. */
void pages_leave(void);
/* Whether the policy, a profile or a map needs to know of the program's ranges. */
bool pages_need_ranges(void);
/* Whether pages go to the threads that touch them next, for want of a plan. After pages_prepare. */
bool pages_follow_touch(void);
/* Before an outermost region: what could not be placed when it was allocated. */
void pages_region_begin(void);
/* A range comes, before the program sees its memory; and goes, before its memory is given back. */
void pages_range_added(struct range *range);
void pages_range_removed(struct range *range);
/* Return the node that was decided for a page of a range, or -1 where the policy leaves it to the kernel. */
int pages_node(const struct range *range, size_t page);

#endif
