/* cache.h: one set-associative cache with the least recently used line going first.
 *
 * Contract. A cache belongs to its caller, who keeps others away meanwhile. Tag 0 means an empty place. All
 * functions give pointers into the set, which the next call may reorder.
 */
#ifndef NUMAPREDICT_TIMED_CACHE_H
#define NUMAPREDICT_TIMED_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct cached_line {
    uint64_t tag;     /* what the line is looked up by */
    uint32_t place;   /* the line of physical memory */
    uint32_t version; /* directory.h: the copy is good while the directory says the same */
    bool dirty;
};

struct cache {
    uint32_t sets, ways;
    struct cached_line *lines; /* sets x ways, in each set the latest used first */
};

/* False where there is no memory for it. */
bool cache_open(struct cache *, uint32_t sets, uint32_t ways);
void cache_close(struct cache *);

/* The line with this tag, which becomes the latest used of its set, or NULL. */
struct cached_line *cache_find(struct cache *, uint64_t tag);

/* Put a line in whose tag is not there yet, and give the line that had to leave; its tag is 0 if none had to.
 */
struct cached_line cache_fill(struct cache *, struct cached_line);

#endif
