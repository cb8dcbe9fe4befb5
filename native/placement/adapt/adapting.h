/* adapting.h: the mapping of a running program is changed between its regions, where that makes it faster.
 *
 * Contract. With settings()->adapt. The program begins as it would without the library, or under the mapping
 * and the regions' teams that the table names; decision.h says what happens then. The thread that starts the
 * regions decides when one has ended, while all others wait in the runtime. The team's threads bind
 * themselves when they enter, and move the pages that are to be moved before they begin their shares. Back in
 * the baseline, a thread gets the PUs and the memory policy that it had.
 *
 * Given up for good, with a line that says why, where a second thread starts regions; from the start where
 * the program has a memory policy of its own, or its OpenMP runtime is loaded later. Of the processes of a
 * run the first one that starts a region is looked after as long as it lives; others, and forked children,
 * are left as they are, unbound.
 *
 * What is done is appended to the file PATH.result at once, so that it is there however the program ends:
 *
 *     given-up REASON
 *     steps REGIONS MEDIAN_NS
 *     tried COLUMN BEFORE OUTCOME GAIN COST_NS AT_NS STEPS TURNS TEAMS
 *     region KEY TEAM
 *     end COLUMN GAIN TIME_NS SPENT_NS SAVED_NS PAGES
 *
 * So many REGIONS make a step. TEAMS is 1 where teams of regions were tried, of which the lines `region` say
 * what each has now, 0 where a mapping was; of pairs of TURNS is the GAIN, where there are any. OUTCOME by
 * its number (decision.h), GAIN in log2 * 4096. The last line at exit: the mapping without a trial that has
 * not ended, and PAGES that move_pages moved, next touch's not.
 */
#ifndef NUMAPLACE_ADAPTING_H
#define NUMAPLACE_ADAPTING_H

#include <stdint.h>

#include "../regions/regions.h"

/* Once, in the main thread, before ranges are known. */
void adapting_prepare(void);
/* The runtime comes later. */
void adapting_give_up(const char *why);
/* In the hooks of an outermost region. */
void adapting_begin(struct region_call *call);
void adapting_enter(const struct region_call *call, uint32_t thread, uint32_t team);
void adapting_leave(const struct region_call *call);
void adapting_end(const struct region_call *call);
void adapting_after_fork(void);
void adapting_write(void);

#endif
