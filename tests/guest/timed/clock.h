/* clock.h: the time that one processor has got to, and how it keeps the real time to it.
 *
 * Contract. Belongs to one processor. What its work costs is added to `time_ps`; when that is ahead of the
 * real time by a batch, the processor sleeps. A processor that the computer held up may catch up again, at
 * most CREDIT_PS; after it was idle or did other work, it starts at the real time (clock_start).
 */
#ifndef NUMAPREDICT_TIMED_CLOCK_H
#define NUMAPREDICT_TIMED_CLOCK_H

#include <stdint.h>

#define BATCH_PS 200000000u    /* 200 us */
#define CREDIT_PS 10000000000u /* 10 ms: what a busy computer may take away from a processor at once */
#define LONGEST_PS 1000000000u /* 1 ms: interrupts of a sleeping processor wait so long */

struct clock {
    uint64_t time_ps;
    uint64_t slept_ps;
};

/* Begin to pay at a real time: nothing before it counts. */
static inline void clock_start(struct clock *clock, uint64_t now_ps) {
    if (clock->time_ps < now_ps)
        clock->time_ps = now_ps;
}

/* How long to sleep now: 0 unless the processor is ahead by more than `slack_ps`. */
static inline uint64_t clock_due(struct clock *clock, uint64_t now_ps, uint64_t slack_ps) {
    if (clock->time_ps + CREDIT_PS < now_ps)
        clock->time_ps = now_ps - CREDIT_PS;
    if (clock->time_ps <= now_ps + slack_ps)
        return 0;
    const uint64_t due_ps = clock->time_ps - now_ps;
    const uint64_t sleep_ps = due_ps < LONGEST_PS ? due_ps : LONGEST_PS;
    clock->slept_ps += sleep_ps;
    return sleep_ps;
}

#endif
