/* passage.h: the way of a thread through a region, the same for both runtimes: it calls the hooks of
 * regions.h. */
#ifndef NUMAPREDICT_PASSAGE_H
#define NUMAPREDICT_PASSAGE_H

#include "regions.h"
#include "runtime.h"

/* Where a thread was before it started a region. */
struct passage {
    const struct runtime *runtime;
    int depth;
};

/* In the encountering thread: before the real function, and after it. All that is new is written to `call`,
 * and only that: what stays the same need not travel to the other threads' caches again. */
struct passage passage_begin(struct region_call *call, void *function, const struct runtime *runtime);
void passage_end(struct region_call *call, struct passage before);
/* In each thread of the team, whose number is `thread`: before its share, and after it. */
void passage_enter(struct region_call *call, int thread);
void passage_leave(struct region_call *call);
/* Whether schedule(runtime) deals out chunks on demand now. */
bool passage_schedule_is_dynamic(void);

#endif
