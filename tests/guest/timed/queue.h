/* queue.h: a memory controller or a link, which serves one line after the other.
 *
 * Contract. Any number of threads may call at once, and their times may differ by up to SPANS spans:
 * processors run ahead of the clock until they sleep, so a request may come after one that is later in time.
 * The capacity is therefore kept by spans of time: in none is more work taken than fits, and a request waits
 * for the work that was taken before it in its span, or goes to the next span with room. Below full use
 * nobody waits. Times are picoseconds.
 */
#ifndef NUMAPREDICT_TIMED_QUEUE_H
#define NUMAPREDICT_TIMED_QUEUE_H

#include <pthread.h>
#include <stdint.h>

#define SPANS 256

struct span {
    uint64_t number; /* time / span_ps */
    uint64_t work_ps;
};

struct queue {
    pthread_mutex_t lock;
    uint64_t span_ps;
    struct span span[SPANS];
};

void queue_open(struct queue *, uint64_t span_ps);
void queue_close(struct queue *);

/* Take `service_ps` of work at a time: how long it waits before it is served. */
uint64_t queue_take(struct queue *, uint64_t time_ps, uint64_t service_ps);

#endif
