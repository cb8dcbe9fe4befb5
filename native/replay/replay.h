/* replay.h: a trace's private-cache misses through the shared caches of one grouping of the threads.
 *
 * Contracts. Nothing is allocated for the caller and nothing is kept between calls; the caller owns every
 * array. All indices come from the caller and are checked once, at entry. Functions return 0, or a negative
 * error code below.
 */
#ifndef NUMAPREDICT_REPLAY_H
#define NUMAPREDICT_REPLAY_H

#include <stdint.h>

enum replay_error {
    REPLAY_BAD_INPUT = -1, /* an index out of range */
    REPLAY_NO_MEMORY = -2,
};

enum replay_outcome {
    REPLAY_HIT = 0,              /* the line was in the shared cache of the thread's node */
    REPLAY_MEMORY = 1,           /* it came from memory */
    REPLAY_TRANSFER = 2,         /* it came, changed, out of another node's shared cache */
    REPLAY_NOTHING = 3,          /* a write-back absorbed by the shared cache, or no longer needed */
    REPLAY_TRANSFER_WRITTEN = 4, /* like a transfer, and the line was also written to memory */
};

#define REPLAY_STORE 1u
#define REPLAY_WRITEBACK 2u

struct replay_input {
    int64_t records;
    const int32_t *line;    /* [records] 0 .. lines-1, in the order of time */
    const uint8_t *flags;   /* [records] REPLAY_STORE, REPLAY_WRITEBACK */
    const uint16_t *thread; /* [records] 0 .. threads-1 */
    int64_t lines;
    const uint32_t *set; /* [lines] 0 .. sets-1 */
    int32_t threads;
    const int32_t *node; /* [threads] 0 .. nodes-1 */
    int32_t nodes;       /* at most 64 */
    int32_t sets;        /* of one node's shared cache, after sampling */
    int32_t ways;
};

/* Fill outcome[records], supplier[records] (the node of a transfer, else -1) and evicted[records] (a changed
 * line that this record pushed out to memory, else -1). Caches start empty, replace the least recently used
 * line, and follow MESI: a store takes the line away from the other nodes, and a changed line that another
 * node reads is written to memory as it is handed over. What a core has changed is in its own cache until its
 * write-back comes or another core asks for it, whether or not the shared cache still has the line. So each
 * change is written to memory once at most. */
int replay_shared_caches(const struct replay_input *, uint8_t *outcome, int8_t *supplier, int32_t *evicted);

/* Add up events by cell and by the node of their page: sums[cell * nodes + node_of_page[page]] += 1. */
int replay_sum_by_node(int64_t events, const int32_t *cell, const int32_t *page, const int32_t *node_of_page,
                       int64_t pages, int64_t cells, int32_t nodes, double *sums);

#endif
