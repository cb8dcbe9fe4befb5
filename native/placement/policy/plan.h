/* plan.h: a plan for one program under one mapping: which teams its regions have, and on which nodes the
 * pages of known ranges are.
 *
 * Contract. A text file, written by collect/placing/plan_file.py and read once by plan_load:
 *
 *     numaplace-plan 2
 *     machine FINGERPRINT NAME
 *     mapping LABEL
 *     module ID PATH
 *     region KEY FROM OFFSET MODULE
 *     team FIRST COUNT STEP
 *     range KIND SITE SLOT ORDER PAGES
 *     run FIRST COUNT NODE
 *
 * machine, mapping, module: for the starter alone: whether the plan fits. ID is a build ID, or the hash of
 * the file.
 *
 * region: the region with this key (16 hexadecimal digits, region_file.h) has a team of its own from instance
 * FROM on. OFFSET (hexadecimal) and MODULE, the number of a line `module` from 0 on, are for the starter.
 *
 * team: its next COUNT threads run in slots FIRST, FIRST + STEP, ... of the mapping (slots.h).
 *
 * range: kind, site (16 hexadecimal digits), slot and order as in ranges.h.
 *
 * run: pages FIRST to FIRST + COUNT - 1 of that range go to this node. Runs of a range are in page order and
 * do not overlap; pages that no run names stay with the fallback of the policy.
 *
 * A file that cannot be read gives no plan. After plan_load all functions only read; any thread may call
 * them. History: 1 (first); 2 (machine, mapping, modules and regions).
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

/* A region with a team of its own: thread i of `threads` runs in slot[i]. */
struct plan_region {
    uint64_t key;
    uint32_t from, threads;
    uint16_t *slot;
};

/* Read a plan for a mapping with so many slots. */
bool plan_load(const char *path, uint32_t slots);
/* Whether the plan names ranges. */
bool plan_has_ranges(void);
/* Return the regions that the plan names, and their number. */
const struct plan_region *plan_regions(size_t *count);
/* Return the runs for a range and their number; NULL if the plan has no such range, or has it with another
 * number of pages. Of duplicates in the file the first counts. Takes logarithmic time. */
const struct plan_run *plan_for(const struct range *range, size_t *count);

#endif
