#include "replay.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EMPTY (-1)

struct way {
    int32_t line;
    bool dirty; /* this copy is newer than memory; a line that a core stores to is, until it writes it back,
                   not */
};

struct caches {
    const struct replay_input *in;
    struct way *ways;  /* [nodes][sets][ways], the latest used first */
    uint64_t *holders; /* [lines] one bit a node that has a copy */
    int8_t *owner;     /* [lines] the node that has it changed, in this cache or in a core's own, or -1 */
};

static struct way *set_of(const struct caches *c, int32_t node, int32_t line) {
    return c->ways + ((int64_t)node * c->in->sets + c->in->set[line]) * c->in->ways;
}

enum use { TO_READ, TO_STORE, WRITTEN_BACK };

/* Bring a line to the front of its set; return whether it was there, and in `evicted` what had to leave
 * changed. */
static bool use(const struct caches *c, int32_t node, int32_t line, enum use how, int32_t *evicted) {
    struct way *set = set_of(c, node, line);
    int32_t at = 0, last = c->in->ways - 1;
    while (at < last && set[at].line != line)
        at++;
    struct way found = set[at];
    bool hit = found.line == line;
    if (!hit) {
        if (found.line != EMPTY) {
            c->holders[found.line] &= ~(1ull << node);
            if (found.dirty) {
                *evicted = found.line;
                c->owner[found.line] = -1;
            }
        }
        found = (struct way){line, false};
        c->holders[line] |= 1ull << node;
    }
    if (how != TO_READ) {
        found.dirty = how == WRITTEN_BACK;
        c->owner[line] = (int8_t)node;
    }
    memmove(set + 1, set, (size_t)at * sizeof *set);
    set[0] = found;
    return hit;
}

static void drop(const struct caches *c, int32_t node, int32_t line) {
    struct way *set = set_of(c, node, line);
    for (int32_t at = 0; at < c->in->ways; at++)
        if (set[at].line == line) {
            memmove(set + at, set + at + 1, (size_t)(c->in->ways - 1 - at) * sizeof *set);
            set[c->in->ways - 1] = (struct way){EMPTY, false};
            break;
        }
    c->holders[line] &= ~(1ull << node);
}

static void clean(const struct caches *c, int32_t node, int32_t line) {
    struct way *set = set_of(c, node, line);
    for (int32_t at = 0; at < c->in->ways; at++)
        if (set[at].line == line)
            set[at].dirty = false;
}

static enum replay_outcome follow(const struct caches *c, int64_t n, int8_t *supplier, int32_t *evicted) {
    int32_t line = c->in->line[n], node = c->in->node[c->in->thread[n]];
    bool store = c->in->flags[n] & REPLAY_STORE, writeback = c->in->flags[n] & REPLAY_WRITEBACK;
    int8_t owner = c->owner[line];
    if (writeback) {
        /* A line that another node has taken since went with its latest contents. */
        if (owner >= 0 && owner != node)
            return REPLAY_NOTHING;
        use(c, node, line, WRITTEN_BACK, evicted);
        return REPLAY_NOTHING;
    }
    enum replay_outcome outcome = REPLAY_MEMORY;
    if (owner >= 0 && owner != node) {
        outcome = REPLAY_TRANSFER;
        *supplier = owner;
        clean(c, owner, line); /* the owner writes it to memory as it hands it on */
        c->owner[line] = -1;
    }
    if (store)
        for (uint64_t others = c->holders[line] & ~(1ull << node); others; others &= others - 1)
            drop(c, __builtin_ctzll(others), line);
    if (use(c, node, line, store ? TO_STORE : TO_READ, evicted)) {
        outcome = REPLAY_HIT;
        *supplier = -1;
    }
    return outcome;
}

static bool in_range(const struct replay_input *in) {
    if (in->nodes < 1 || in->nodes > 64 || in->sets < 1 || in->ways < 1 || in->lines > INT32_MAX)
        return false;
    for (int32_t n = 0; n < in->threads; n++)
        if (in->node[n] < 0 || in->node[n] >= in->nodes)
            return false;
    for (int64_t n = 0; n < in->lines; n++)
        if (in->set[n] >= (uint32_t)in->sets)
            return false;
    for (int64_t n = 0; n < in->records; n++)
        if (in->line[n] < 0 || in->line[n] >= in->lines || in->thread[n] >= in->threads)
            return false;
    return true;
}

int replay_shared_caches(const struct replay_input *in, uint8_t *outcome, int8_t *supplier,
                         int32_t *evicted) {
    if (!in_range(in))
        return REPLAY_BAD_INPUT;
    size_t count = (size_t)in->nodes * (size_t)in->sets * (size_t)in->ways;
    struct caches c = {in, malloc(count * sizeof(struct way)),
                       calloc((size_t)in->lines + 1, sizeof(uint64_t)), malloc((size_t)in->lines + 1)};
    int error = c.ways && c.holders && c.owner ? 0 : REPLAY_NO_MEMORY;
    if (!error) {
        for (size_t n = 0; n < count; n++)
            c.ways[n] = (struct way){EMPTY, false};
        memset(c.owner, -1, (size_t)in->lines + 1);
        for (int64_t n = 0; n < in->records; n++) {
            supplier[n] = -1;
            evicted[n] = -1;
            outcome[n] = (uint8_t)follow(&c, n, &supplier[n], &evicted[n]);
        }
    }
    free(c.ways);
    free(c.holders);
    free(c.owner);
    return error;
}

int replay_sum_by_node(int64_t events, const int32_t *cell, const int32_t *page, const int32_t *node_of_page,
                       int64_t pages, int64_t cells, int32_t nodes, double *sums) {
    for (int64_t n = 0; n < pages; n++)
        if (node_of_page[n] < 0 || node_of_page[n] >= nodes)
            return REPLAY_BAD_INPUT;
    for (int64_t n = 0; n < events; n++) {
        if (cell[n] < 0 || cell[n] >= cells || page[n] < 0 || page[n] >= pages)
            return REPLAY_BAD_INPUT;
        sums[(int64_t)cell[n] * nodes + node_of_page[page[n]]] += 1;
    }
    return 0;
}
