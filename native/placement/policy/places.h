/* places.h: ranges with several places (plan.h): they move for the regions that want them elsewhere.
 *
 * Contract. The thread that starts an instance moves, before it begins, what the region wants elsewhere; what
 * it does not want stays. A page that the kernel does not move stays, and so does one that was never touched:
 * where some of a range are like that, it is tried once more before the next instance. Threads may start
 * regions at once: where these want one range in two places it is in either, or partly, until one of them
 * comes again. A range that is allocated while another thread moves the others of its array may wait for the
 * next move.
 *
 * All functions need settings() not to be NULL. Those at regions are called where places_exist() says so.
 */
#ifndef NUMAPLACE_PLACES_H
#define NUMAPLACE_PLACES_H

#include <stdbool.h>

#include "../regions/regions.h"
#include "memory/ranges.h"
#include "policy/verify.h"

/* Take what the regions of the loaded plan want: once, before the first region. */
void places_prepare(void);

extern bool places_any;
static inline bool places_exist(void) { return __builtin_expect(places_any, 0); }

/* In the child of a fork: counts begin at zero. */
void places_after_fork(void);
/* A range was added, and pages.c has put it in its first place. */
void places_range_added(const struct range *range);
/* Before an instance of an identified outermost region. */
void places_region_begin(const struct region *region);
/* What was moved for each region that wants something. */
void places_for_each(void (*visit)(const struct verified_moves *seen, void *data), void *data);

#endif
