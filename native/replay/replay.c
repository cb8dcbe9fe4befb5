#include "replay.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EMPTY (-1)

struct way {
    int32_t line;
    bool dirty; /* this copy is newer than memory, and no core has a newer one */
};

struct caches {
    const struct replay_input *in;
    struct way *ways;  /* [nodes][sets][ways], the latest used first */
    uint64_t *holders; /* [lines] one bit a node that has a copy */
    int8_t *owner;     /* [lines] the node that has it changed, in this cache or in a core's own, or -1 */
    int32_t *writer;   /* [lines] the thread whose core has it changed in its own cache, or -1 */
    uint8_t *taken; /* [lines][threads] one bit: the thread's changed copy has been taken since it got it */
};

static struct way *set_of(const struct caches *c, int32_t node, int32_t line) {
    return c->ways + ((int64_t)node * c->in->sets + c->in->set[line]) * c->in->ways;
}

/* Bring a line to the front of its set; return whether it was there, and in `evicted` what had to leave
 * changed. */
static bool use(const struct caches *c, int32_t node, int32_t line, bool dirty, int32_t *evicted) {
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
        c->holders[line] |= 1ull << node;
    }
    memmove(set + 1, set, (size_t)at * sizeof *set);
    set[0] = (struct way){line, dirty};
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

static void drop_from_others(const struct caches *c, int32_t node, int32_t line) {
    for (uint64_t others = c->holders[line] & ~(1ull << node); others; others &= others - 1)
        drop(c, __builtin_ctzll(others), line);
}

static void clean(const struct caches *c, int32_t node, int32_t line) {
    struct way *set = set_of(c, node, line);
    for (int32_t at = 0; at < c->in->ways; at++)
        if (set[at].line == line)
            set[at].dirty = false;
}

/* That bit, and its word. */
static uint8_t *taken_byte(const struct caches *c, int32_t line, int32_t thread, uint8_t *bit) {
    const int64_t at = (int64_t)line * c->in->threads + thread;
    *bit = (uint8_t)(1u << (at & 7));
    return &c->taken[at >> 3];
}

/* The core that has the line changed has to give it up. Its later write-back is not counted. */
static void take_from_writer(const struct caches *c, int32_t line) {
    uint8_t bit;
    if (c->writer[line] < 0)
        return;
    *taken_byte(c, line, c->writer[line], &bit) |= bit;
    c->writer[line] = -1;
}

static bool forget_taken(const struct caches *c, int32_t line, int32_t thread) {
    uint8_t bit;
    uint8_t *byte = taken_byte(c, line, thread, &bit);
    const bool was = *byte & bit;
    *byte &= (uint8_t)~bit;
    return was;
}

/* A core's own cache gives a changed line back. A store that hit there has left no record of its own. */
static void give_back(const struct caches *c, int32_t line, int32_t thread, int32_t node, int32_t *evicted) {
    const bool stale = forget_taken(c, line, thread) || (c->writer[line] >= 0 && c->writer[line] != thread) ||
                       (c->owner[line] >= 0 && c->owner[line] != node);
    if (stale)
        return;
    drop_from_others(c, node, line);
    c->writer[line] = -1;
    c->owner[line] = (int8_t)node;
    use(c, node, line, true, evicted);
}

/* The states of MESI: changed lines have an owner, and are the writer's own until another core requests them
 * or they are written back. A reader of another node gets them through memory, a writer of another node
 * directly. */
static enum replay_outcome follow(const struct caches *c, int64_t n, int8_t *supplier, int32_t *evicted) {
    const int32_t line = c->in->line[n], thread = c->in->thread[n], node = c->in->node[thread];
    const bool store = c->in->flags[n] & REPLAY_STORE;
    if (c->in->flags[n] & REPLAY_WRITEBACK) {
        give_back(c, line, thread, node, evicted);
        return REPLAY_NOTHING;
    }
    enum replay_outcome outcome = REPLAY_MEMORY;
    const int8_t owner = c->owner[line];
    bool dirty = false;
    forget_taken(c, line, thread);
    if (owner >= 0 && owner != node) {
        outcome = store ? REPLAY_TRANSFER : REPLAY_TRANSFER_WRITTEN;
        *supplier = owner;
        take_from_writer(c, line);
        clean(c, owner, line);
        c->owner[line] = -1;
    } else if (owner == node) {
        outcome = REPLAY_HIT; /* in the shared cache, or in a core's own cache */
        if (c->writer[line] != thread)
            take_from_writer(c, line);
        dirty = c->writer[line] < 0 && !store;
    }
    if (store) {
        drop_from_others(c, node, line);
        c->owner[line] = (int8_t)node;
        c->writer[line] = thread;
    }
    if (use(c, node, line, dirty, evicted) && outcome == REPLAY_MEMORY)
        outcome = REPLAY_HIT;
    return outcome;
}

static bool in_range(const struct replay_input *in) {
    if (in->nodes < 1 || in->nodes > 64 || in->sets < 1 || in->ways < 1 || in->lines > INT32_MAX)
        return false;
    if (in->records < 0 || in->lines < 0 || in->threads < 0)
        return false;
    size_t bytes; /* of all caches: more than the address space is not a valid size */
    if (__builtin_mul_overflow((size_t)in->nodes * (size_t)in->sets, (size_t)in->ways, &bytes) ||
        __builtin_mul_overflow(bytes, sizeof(struct way), &bytes))
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
    const size_t lines = (size_t)in->lines + 1;
    struct caches c = {.in = in,
                       .ways = malloc(count * sizeof(struct way)),
                       .holders = calloc(lines, sizeof *c.holders),
                       .owner = malloc(lines),
                       .writer = malloc(lines * sizeof *c.writer),
                       .taken = calloc(lines * (size_t)in->threads / 8 + 1, 1)};
    int error = c.ways && c.holders && c.owner && c.writer && c.taken ? 0 : REPLAY_NO_MEMORY;
    if (!error) {
        for (size_t n = 0; n < count; n++)
            c.ways[n] = (struct way){EMPTY, false};
        memset(c.owner, -1, lines);
        memset(c.writer, -1, lines * sizeof *c.writer);
        for (int64_t n = 0; n < in->records; n++) {
            supplier[n] = -1;
            evicted[n] = -1;
            outcome[n] = (uint8_t)follow(&c, n, &supplier[n], &evicted[n]);
        }
    }
    free(c.ways);
    free(c.holders);
    free(c.owner);
    free(c.writer);
    free(c.taken);
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
