/* replay.h: runs one instance of a region in a child of the program, under another mapping.
 *
 * A fork has all the memory of the program as it is before the region, and whatever the region does there is
 * gone with it (CERE and ICS'19 sec. 3 store a region's memory in a file for this, by a compiler pass). A
 * thread of its own stands in for the one that starts the region: libgomp waits for ever for the threads that
 * the fork left behind if that one starts a team (mechanisms measured with gcc 12; libomp does not mind).
 */
#ifndef NUMACAPTURE_REPLAY_H
#define NUMACAPTURE_REPLAY_H

#include "../regions/regions.h"
#include "exchange.h"

#include <stdbool.h>

/* Once, in the program: make room for outcomes. */
bool replay_prepare(void);
/* In the thread that is about to start `call`, whose last instance had a team of so many: replay it as the
 * job says. Returns when the child has ended; the program's memory, signals, timers and files are as before.
 */
struct outcome replay(const struct region_call *call, int team, const struct job *job);
/* Whether this process is a child that replays. */
bool replay_is_child(void);
/* In the child: thread `thread` of the team begins its share. */
void replay_enter(const struct region_call *call, int thread);

#endif
