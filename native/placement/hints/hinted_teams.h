/* hinted_teams.h: teams whose threads have attached memory: where they run, and where it goes.
 *
 * Contract. When a team begins that has attached memory, its thread 0 asks the kernel where some of the pages
 * are, and chooses (team_choice.h); the others wait for that. Then each thread is bound to its place
 * (threads/slots.h), as without hints, and moves its own pages (policy/moves.h), so that all move at once.
 * This is done at the first instance with new hints and at its 2nd, 4th, 8th and so on: by then it is known
 * how long one takes, and after n instances it is assumed that as long again is to come. Places of an
 * outermost team are kept for later ones of its size, with hints or without; those of an inner one are the
 * instance's.
 *
 * A team is known by its region's function and the outermost thread that starts it. Outermost ones are those
 * of one thread, the first that hints or starts a team. A team that a plan gives its places (threads/teams.h)
 * is left alone.
 *
 * All functions need settings() not to be NULL; those at regions are called where hints_exist() says so.
 */
#ifndef NUMAPLACE_HINTED_TEAMS_H
#define NUMAPLACE_HINTED_TEAMS_H

#include <stdbool.h>

#include "../regions/regions.h"
#include "hints/attachments.h"

extern bool hints_any;
/* Whether the program has hints: without them that is all that a region pays. */
static inline bool hints_exist(void) { return __builtin_expect(hints_any, 0); }

/* Return the number in the outermost team of the calling thread, or of the thread that it works for. */
uint32_t hinted_thread(void);
/* Whether the calling thread's hints are heeded: it is in a region, or starts the outermost ones. */
bool hinted_thread_counts(void);
/* For the next team that the calling thread starts. False where it has MOST_BUFFERS already. */
bool hinted_team_gets(const struct buffer *buffer);
void hinted_team_works(double units);

/* In the hook `begin`, once the row is chosen. */
void hinted_team_begin(struct region_call *call);
/* In each thread of a team, in place of slot_enter: bind it to its place, and move its pages. */
void hinted_team_enter(const struct region_call *call, uint32_t thread, uint32_t team);
/* In the hook `end`. */
void hinted_team_end(const struct region_call *call);
/* Memory is freed. */
void hinted_teams_forget(uintptr_t start, uintptr_t end);
/* In the child of a fork: no team runs. */
void hinted_teams_after_fork(void);

#endif
