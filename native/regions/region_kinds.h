/* region_kinds.h: which kinds of instances a region has, and which instances are of them (region_file.h).
 * Pure.
 *
 * One function may work on all levels of a multigrid, and be called from several places. What a run's
 * instances took says which of them another run should look at: they have the same numbers there.
 */
#ifndef NUMAPREDICT_REGION_KINDS_H
#define NUMAPREDICT_REGION_KINDS_H

#include "region_file.h"

/* Instance `number` has ended: `one` says its entry, team and depth, its time and work. One caller at a time.
 */
void region_kinds_note(struct region_kinds *kinds, struct region_kind one, uint32_t number);

#endif
