/* graph.h: the random graphs of the graph family.
 *
 * Directed graphs in compressed rows, with uneven degrees: 1 to 26, and GRAPH_DEGREE on average. A unit is
 * GRAPH_UNIT consecutive vertices, whose rows together hold GRAPH_UNIT * GRAPH_DEGREE neighbours.
 */
#ifndef NUMAPREDICT_CODELETS_GRAPH_H
#define NUMAPREDICT_CODELETS_GRAPH_H

#include "codelet.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { GRAPH_UNIT = 64, GRAPH_DEGREE = UNEVEN_GROUP_ENTRIES / UNEVEN_GROUP };

struct graph {
    size_t vertices;               /* a multiple of GRAPH_UNIT */
    uint32_t *starts, *neighbours; /* vertex v has neighbours starts[v] up to starts[v + 1] */
    const struct generator *generator;
};

/* Bytes that graph_allocate() takes from codelet_allocate(). */
size_t graph_bytes(size_t vertices);

/* Allocate the rows, which stay untouched; false if memory does not suffice. graph_free() takes what is
 * there, also after a failure. */
bool graph_allocate(struct graph *graph, size_t vertices, const struct generator *generator);
void graph_free(struct graph *graph);

/* Write a unit's starts; and its neighbours too, each drawn from all vertices. */
void graph_fill_starts(const struct graph *graph, size_t unit);
void graph_fill(const struct graph *graph, size_t unit);

/* The same neighbours one by one, from the generator, for checks. */
uint32_t graph_neighbour(const struct graph *graph, size_t edge);

/* Map 32 random bits to 0 .. limit - 1. */
static inline uint32_t graph_below(uint32_t random, size_t limit) {
    return (uint32_t)((uint64_t)random * limit >> 32);
}

/* Lower an entry that many threads lower at once; true if this changed it. */
static inline bool graph_lower(_Atomic uint32_t *entry, uint32_t value) {
    uint32_t present = atomic_load_explicit(entry, memory_order_relaxed);
    while (value < present)
        if (atomic_compare_exchange_weak_explicit(entry, &present, value, memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    return false;
}

#endif
