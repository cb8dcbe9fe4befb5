/* teams.h: outermost regions whose team is smaller than the program's, on slots of its own.
 *
 * Contract. A region has the team that the plan (policy/plan.h) or teams_set gives it, from the instance
 * that is named there on: by then the region has touched its memory with the threads that it would have
 * without the plan. The team is asked of the runtime for this region alone: the num_threads argument of
 * libgomp's entry points, __kmpc_push_num_threads for libomp. Its threads are bound to its slots when they
 * enter, which costs a system call where they have to move; all other regions have their teams and slots as
 * before. libgomp ends threads that a smaller team does without, and creates them anew for the next larger
 * one; libomp keeps them.
 *
 * An instance keeps the program's team where a num_threads or if clause says how large it is, where the
 * program has asked for a smaller one, and where the thread that starts it has called omp_get_max_threads
 * since the region before: such programs have work or results for so many threads. Regions inside others, and
 * those of the processes to which the slots do not belong, are left alone.
 *
 * All functions need settings() not to be NULL. Those at regions are called where teams_exist() says so.
 */
#ifndef NUMAPLACE_TEAMS_H
#define NUMAPLACE_TEAMS_H

#include <stdbool.h>

#include "../regions/regions.h"
#include "policy/verify.h"

/* Take the teams of the plan that was loaded: once, before the first region. */
void teams_prepare(void);
/* Give a region this team from its next instance on, or with NULL its own again. In any thread that is in no
 * region; the team must stay valid, and its slots be below settings()->slots. */
void teams_set(struct region *region, const struct region_team *team);

extern bool teams_any;
/* Whether any region has a team of its own: without one that is all that a region pays. */
static inline bool teams_exist(void) { return __builtin_expect(teams_any, 0); }

/* In the child of a fork: counts begin at zero. */
void teams_after_fork(void);

/* The calling thread has asked how large teams are. */
void teams_asked(void);
/* In the hook `begin` of an identified outermost region: choose its team, or leave it its own. */
void teams_choose(struct region_call *call);
void teams_leave(struct region_call *call);
/* In each thread of a team, once it is bound at the beginning of its share, and at the end of that. */
void teams_begun(const struct region_call *call, uint32_t thread, uint32_t team);
void teams_ended(const struct region_call *call);

/* What became of each region of the plan: of `instances` that should have had its team `applied` had it;
 * threads began their shares `right` times bound to their slot's PU alone; `wrong` times not, or did not end
 * them so. The threads are looked at only where settings()->map is set. */
void teams_for_each(void (*visit)(const struct verified_team *seen, void *data), void *data);

#endif
