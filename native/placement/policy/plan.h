/* plan.h: nodes of the pages of known ranges, as decided by collect/page_placement.py from a page-access
 * profile.
 *
 * Contract. A text file, written by collect/placing/page_plan.py and read once by plan_load:
 *
 *     numaplace-plan 1
 *     range KIND SITE SLOT ORDER PAGES      kind, site (16 hexadecimal digits), slot and order as in ranges.h
 *     run FIRST COUNT NODE                  pages FIRST to FIRST + COUNT - 1 of that range go to this node
 *
 * Runs of a range are in page order and do not overlap; pages that no run names stay with the fallback of the
 * policy. A file that cannot be read gives no plan. After plan_load all functions only read; any thread may
 * call them. History: 1 (first).
 */
#ifndef NUMAPLACE_PLAN_H
#define NUMAPLACE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/ranges.h"

struct plan_run {
    uint32_t first, count;
    uint16_t node;
};

bool plan_load(const char *path);
/* Return the runs for a range and their number; NULL if the plan has no such range, or has it with another
 * number of pages. Of duplicates in the file the first counts. Takes logarithmic time. */
const struct plan_run *plan_for(const struct range *range, size_t *count);

#endif
