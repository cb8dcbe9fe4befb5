/* plan.h: a plan for one program under one mapping: which teams its regions have, and on which nodes the
 * pages of known ranges are, which may move for regions that want them elsewhere.
 *
 * Contract. A text file, written by collect/placing/plan_file.py and read once by plan_load:
 *
 *     numaplace-plan 3
 *     machine FINGERPRINT NAME
 *     mapping LABEL
 *     module ID PATH
 *     region KEY FROM OFFSET MODULE
 *     team FIRST COUNT STEP
 *     want NUMBER
 *     range KIND SITE SLOT ORDER PAGES
 *     place NUMBER
 *     run FIRST COUNT NODE
 *     end
 *
 * machine, mapping, module: for the starter alone: whether the plan fits. ID is a build ID, or the hash of
 * the file.
 *
 * region: the region with this key (16 hexadecimal digits, region_file.h) has a team of its own from instance
 * FROM on, or wants ranges in some of their places, or both. OFFSET (hexadecimal) and MODULE, the number of a
 * line `module` from 0 on, are for the starter.
 *
 * team: its next COUNT threads run in slots FIRST, FIRST + STEP, ... of the mapping (slots.h).
 *
 * want: from its first instance on it wants the ranges that have a place of this NUMBER there.
 *
 * range: kind, site (16 hexadecimal digits), slot and order as in ranges.h.
 *
 * place: one of several places of that range, by a number below MOST_PLACES; its runs follow. The range
 * begins in the first one, and moves for regions that want it in another one. Ranges that share one number
 * begin in the same place: such ranges are one array, and move together.
 *
 * run: pages FIRST to FIRST + COUNT - 1 of that range, in that place, go to this node. Runs are in page order
 * and do not overlap; pages that no run names stay with the fallback of the policy.
 *
 * end: nothing follows; the starter refuses a file without it, which was cut.
 *
 * A file that cannot be read gives no plan. After plan_load all functions only read; any thread may call
 * them. History: 1 (first); 2 (machine, mapping, modules and regions); 3 (places and what regions want).
 */
#ifndef NUMAPLACE_PLAN_H
#define NUMAPLACE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/ranges.h"

#define MOST_PLACES 4096
#define NO_PLACE MOST_PLACES

struct plan_run {
    uint32_t first, count;
    uint16_t node;
};

/* Where a range may be: `number` is NO_PLACE where it has no other place. */
struct plan_place {
    uint32_t number;
    size_t first_run, runs;
};

/* A region with a team of its own, thread i of `threads` in slot[i], unless `threads` is 0, and the numbers
 * of the places that it wants. */
struct plan_region {
    uint64_t key;
    uint32_t from, threads;
    uint16_t *slot;
    const uint32_t *want;
    size_t wants;
};

/* Read a plan for a mapping with so many slots. */
bool plan_load(const char *path, uint32_t slots);
/* Whether the plan names ranges. */
bool plan_has_ranges(void);
/* Whether it names ranges with several places. */
bool plan_has_moves(void);
/* Return the number of the place in which the ranges begin that have a place of this number. */
uint32_t plan_first_place(uint32_t number);
/* Return the regions that the plan names, and their number. */
const struct plan_region *plan_regions(size_t *count);
/* Return the places of a range, the first one first, and their number; NULL if the plan has no such range, or
 * has it with another number of pages. Of duplicates in the file the first counts. Takes logarithmic time. */
const struct plan_place *plan_places(const struct range *range, size_t *count);
/* Return the runs of a place and their number. */
const struct plan_run *plan_runs(const struct plan_place *place, size_t *count);
/* The same of the place in which a range begins; NULL as of plan_places. */
const struct plan_run *plan_for(const struct range *range, size_t *count);

#endif
