/* adapting.h: the mapping of a running program is changed between its regions, where that makes it faster.
 *
 * Contract. With settings()->adapt. The program begins as it would without the library, or under the mapping
 * that the table names; decision.h says what happens then. The thread that starts the regions decides when
 * one has ended, while all others wait in the runtime, and moves pages before the next one; the team's
 * threads bind themselves when they enter. Back in the baseline, a thread gets the PUs and the memory policy
 * that it had.
 *
 * Given up for good, with a line that says why, where a second thread starts regions; from the start where
 * the program has a memory policy of its own, or its OpenMP runtime is loaded later. A forked child is left
 * as it is, unbound.
 *
 * What is done is appended to the file PATH.result at once, so that it is there however the program ends:
 *
 *     numaplace-adapted 1
 *     given-up REASON
 *     steps REGIONS MEDIAN_NS             so many regions make a step
 *     tried COLUMN BEFORE OUTCOME GAIN COST_NS AT_NS STEPS     OUTCOME by its number (decision.h), GAIN in
 * log2 * 4096 end COLUMN GAIN TIME_NS SPENT_NS SAVED_NS PAGES          at exit: PAGES moved by move_pages,
 * next touch's not
 */
#ifndef NUMAPLACE_ADAPTING_H
#define NUMAPLACE_ADAPTING_H

#include <stdbool.h>

#include "../regions/regions.h"
#include "memory/range.h"

/* Once, in the main thread, before ranges are known; return whether the program is to be placed from the
 * start. */
void adapting_prepare(void);
/* The runtime comes later, or another process has the slots. */
void adapting_give_up(const char *why);
/* In the hooks of an outermost region. */
void adapting_begin(struct region_call *call);
void adapting_enter(const struct region_call *call, uint32_t thread, uint32_t team);
void adapting_leave(const struct region_call *call);
void adapting_end(const struct region_call *call);
/* The calling thread is about to create a thread, which must not inherit its binding; and has. */
bool adapting_show_all(void);
void adapting_show_slot(bool shown);
void adapting_after_fork(void);
void adapting_write(void);

#endif
