/* moves.c: queues of blocks of pages, a slot each. */
#include "policy/moves.h"

#include "process/lock.h"
#include "process/settings.h"
#include "process/system.h"

#include <errno.h>
#include <stdatomic.h>

/* One call makes the kernel synchronise all processors, however few the pages, hence the batches
 * (lru_cache_disable in mm/migrate.c). */
#define BLOCKS 256
#define PAGES 1024
#define PAGE 4096ul

struct queue {
    struct lock lock;
    size_t count, pages; /* blocks, and pages of them */
    struct {
        uintptr_t start;
        size_t pages;
        uint16_t node;
    } block[BLOCKS];
    void *page[PAGES];
    int node[PAGES], status[PAGES];
    uint16_t owner[PAGES]; /* block of each page */
};

static _Atomic(struct queue *) queues[MOST_SLOTS];

static void move(struct queue *q, size_t count, moves_absent absent) {
    size_t last = BLOCKS;
    if (count == 0 || system_move_pages(count, q->page, q->node, q->status) < 0)
        return;
    for (size_t i = 0; i < count; i++)
        if (q->status[i] == -ENOENT && q->owner[i] != last) {
            last = q->owner[i];
            absent(q->block[last].start, q->block[last].pages);
        }
}

static void flush(struct queue *q, moves_absent absent) {
    size_t count = 0;
    for (size_t b = 0; b < q->count; b++)
        for (size_t p = 0; p < q->block[b].pages; p++) {
            q->page[count] = (void *)(q->block[b].start + p * PAGE);
            q->node[count] = q->block[b].node;
            q->owner[count++] = (uint16_t)b;
            if (count == PAGES) {
                move(q, count, absent);
                count = 0;
            }
        }
    move(q, count, absent);
    q->count = q->pages = 0;
}

static struct queue *queue_of(uint32_t slot) {
    struct queue *q = atomic_load(&queues[slot]), *none = NULL;
    if (q)
        return q;
    struct queue *fresh = system_memory(sizeof *fresh);
    if (!fresh || atomic_compare_exchange_strong(&queues[slot], &none, fresh))
        return fresh;
    system_free(fresh, sizeof *fresh);
    return none;
}

void moves_add(uint32_t slot, uintptr_t start, size_t pages, uint16_t node, moves_absent absent) {
    struct queue *q = queue_of(slot);
    if (!q)
        return;
    const uint64_t mask = lock_take(&q->lock);
    if (q->count == BLOCKS || q->pages >= PAGES)
        flush(q, absent);
    q->block[q->count].start = start;
    q->block[q->count].pages = pages;
    q->block[q->count++].node = node;
    q->pages += pages;
    lock_give(&q->lock, mask);
}

void moves_flush_slot(uint32_t slot, moves_absent absent) {
    struct queue *q = atomic_load(&queues[slot]);
    if (!q)
        return;
    const uint64_t mask = lock_take(&q->lock);
    flush(q, absent);
    lock_give(&q->lock, mask);
}

void moves_flush(moves_absent absent) {
    for (uint32_t slot = 0; slot < settings()->slots; slot++)
        moves_flush_slot(slot, absent);
}
