#include "cache.h"

#include <stdlib.h>
#include <string.h>

bool cache_open(struct cache *cache, uint32_t sets, uint32_t ways) {
    *cache = (struct cache){sets, ways, calloc((size_t)sets * ways, sizeof *cache->lines)};
    return cache->lines != NULL;
}

void cache_close(struct cache *cache) {
    free(cache->lines);
    cache->lines = NULL;
}

static struct cached_line *set_of(struct cache *cache, uint64_t tag) {
    return &cache->lines[tag % cache->sets * cache->ways];
}

struct cached_line *cache_find(struct cache *cache, uint64_t tag) {
    struct cached_line *set = set_of(cache, tag);
    for (uint32_t at = 0; at < cache->ways; at++) {
        if (set[at].tag != tag)
            continue;
        if (at) {
            const struct cached_line found = set[at];
            memmove(set + 1, set, at * sizeof *set);
            set[0] = found;
        }
        return set;
    }
    return NULL;
}

struct cached_line cache_fill(struct cache *cache, struct cached_line line) {
    struct cached_line *set = set_of(cache, line.tag);
    const struct cached_line last = set[cache->ways - 1];
    memmove(set + 1, set, (cache->ways - 1) * sizeof *set);
    set[0] = line;
    return last;
}
