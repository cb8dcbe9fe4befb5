#include "queue.h"

void queue_open(struct queue *queue, uint64_t span_ps) {
    *queue = (struct queue){.span_ps = span_ps};
    pthread_mutex_init(&queue->lock, NULL);
}

void queue_close(struct queue *queue) { pthread_mutex_destroy(&queue->lock); }

/* The span of that number, emptied if an earlier one had its place; NULL if a later one has. */
static struct span *span_at(struct queue *queue, uint64_t number) {
    struct span *span = &queue->span[number % SPANS];
    if (span->number > number)
        return NULL;
    if (span->number < number)
        *span = (struct span){number, 0};
    return span;
}

uint64_t queue_take(struct queue *queue, uint64_t time_ps, uint64_t service_ps) {
    pthread_mutex_lock(&queue->lock);
    uint64_t number = time_ps / queue->span_ps, wait_ps = 0;
    struct span *span = span_at(queue, number);
    while (span && span->work_ps >= queue->span_ps)
        span = span_at(queue, ++number);
    if (span) {
        const uint64_t free_ps = number * queue->span_ps + span->work_ps;
        wait_ps = free_ps > time_ps ? free_ps - time_ps : 0;
        span->work_ps += service_ps;
        /* What does not fit is work of the following spans. */
        while (span && span->work_ps > queue->span_ps) {
            const uint64_t over_ps = span->work_ps - queue->span_ps;
            span->work_ps = queue->span_ps;
            span = span_at(queue, ++number);
            if (span)
                span->work_ps += over_ps;
        }
    }
    pthread_mutex_unlock(&queue->lock);
    return wait_ps;
}
