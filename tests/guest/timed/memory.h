/* memory.h: how long a processor waits for what it reads and writes: caches, coherence, controllers and
 * links.
 *
 * Contract. No clock and no emulator: a caller says when an access happens and learns when the processor goes
 * on. Each processor is one thread's; what several share is locked for the time of a call. Times are
 * picoseconds.
 *
 * A miss goes to the shared cache of the processor's node, then to the cache that has the line changed, then
 * to memory. A prefetched line costs what its stream's bandwidth lets through and overlaps with computing; a
 * load that chases costs the whole latency; others and stores cost a part of it, since several are under way
 * at once. A changed line that leaves takes bandwidth and nobody waits for it. In the queues of controllers
 * and links all wait. Not modelled: code, page tables, the invalidation that a store to a line sends which
 * others have read.
 */
#ifndef NUMAPREDICT_TIMED_MEMORY_H
#define NUMAPREDICT_TIMED_MEMORY_H

#include "cache.h"
#include "directory.h"
#include "machine.h"
#include "queue.h"
#include "streams.h"

struct processor {
    uint32_t number, node;
    struct cache private;
    struct streams streams;
    uint64_t stream_ready_ps; /* when the line that is being fetched ahead is there */
};

struct shared_cache {
    pthread_mutex_t lock;
    struct cache cache;
};

struct memory {
    const struct machine *machine;
    struct processor *processors; /* node by node */
    struct shared_cache *shared;  /* one a node */
    struct queue *controllers;    /* one a node */
    struct queue *links;
    directory_word *directory;
    uint32_t node_lines; /* lines of one node's memory */
};

struct access {
    uint64_t line;  /* virtual, with what tells address spaces apart; not 0 */
    uint32_t place; /* line of physical memory: node * node_lines + line in the node */
    bool store;
    bool chases; /* the next access needs this one's value */
};

enum source { FROM_PRIVATE, FROM_SHARED, FROM_CACHE, FROM_MEMORY };

struct answer {
    uint64_t until_ps; /* when the processor goes on */
    enum source source;
    uint32_t node; /* of the memory or of the cache that answered */
};

bool memory_open(struct memory *, const struct machine *, uint64_t span_ps);
void memory_close(struct memory *);

/* Whether the private cache has a good copy: then the access costs nothing, and is done. */
bool memory_hit(struct memory *, struct processor *, uint64_t line, bool store);

/* An access without a good copy in the private cache. */
struct answer memory_miss(struct memory *, struct processor *, uint64_t time_ps, struct access);

#endif
