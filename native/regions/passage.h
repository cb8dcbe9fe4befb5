/* passage.h: calls the hooks of regions.h for each thread of a region, the same for both runtimes. */
#ifndef NUMAPREDICT_PASSAGE_H
#define NUMAPREDICT_PASSAGE_H

#include "regions.h"
#include "runtime.h"

/* A thread's state before it started a region. */
struct passage {
    const struct runtime *runtime;
    int depth;
};

/* In the encountering thread: before the real function, and after it. Only changed fields of `call` are
 * written: an unchanged cache line stays valid in the other threads' caches. */
struct passage passage_begin(struct region_call *call, void *function, const struct runtime *runtime);
void passage_end(struct region_call *call, struct passage before);
/* In each thread of the team, with its number `thread`: before its share, and after it. */
void passage_enter(struct region_call *call, int thread);
void passage_leave(struct region_call *call);
/* Whether schedule(runtime) currently hands out chunks on demand. */
bool passage_schedule_is_dynamic(void);

#endif
