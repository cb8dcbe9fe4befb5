/* thread_places.h: where the calling thread ran before it was bound to a PU of a mapping, and its way back
 * there.
 *
 * Contract. Each thread calls for itself. What the program has bound itself is left so.
 */
#ifndef NUMAPLACE_THREAD_PLACES_H
#define NUMAPLACE_THREAD_PLACES_H

#include "../regions/regions.h"

/* Bind as a team's thread of this number. */
void thread_place_take(const struct region_team *within, uint32_t thread, uint32_t team);
/* Go back to the PU where the thread ran before, or the one of this number in its team that ended meanwhile;
 * at the second call in a row it may run on all PUs again that it might run on before. In between its whole
 * team has gone back: two threads on one PU for a moment would be parted by the kernel, which puts one of
 * them elsewhere for good, away from its pages. */
void thread_place_leave(uint32_t number);
/* What the second call does, between regions: for the thread that starts them. */
void thread_place_settle(void);
/* Both at once. */
void thread_place_leave_now(void);
/* Note the PU where the thread is, unless it is bound, and return it; -1 if it is. */
int thread_place_note(void);

#endif
