/* graph_components.c: the connected components of an undirected graph.
 *
 * Modelled on Shiloach and Vishkin's algorithm in the form of the GAP benchmark suite and of Galois. The
 * graph is a list of edges with both ends at random, seven in eight of which count in an iteration. Each
 * iteration labels all vertices from the start. In a round, each thread streams its share of the edges, reads
 * the labels of both ends at random, and hooks the larger label's vertex to the smaller by an atomic minimum;
 * after a barrier, it follows the labels of its own vertices to where they end, reads that depend on each
 * other, and writes what it found there. Rounds go on until one changes nothing. Labels lead from everywhere
 * to everywhere, so each thread reads and writes all of the array. From the third round on, most labels are
 * one number, so that little is still written and most labels lead to one line, which all threads hold. A
 * component's label is the least of its vertices, in whatever order the hooks fall.
 */
#include "graph.h"

#include <stdlib.h>

enum { UNIT = 1024, LEFT_OUT = 8, STREAM_FROM = 1, STREAM_TO = 2 };

struct components {
    size_t vertices; /* and as many edges */
    uint32_t *from, *to;
    _Atomic uint32_t *labels;
    const struct generator *generator;
};

static size_t vertices_of(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {96, 1024, 2688, 20480};
    return units[size] * UNIT;
}

static size_t components_bytes(enum codelet_size size) { return 3 * vertices_of(size) * sizeof(uint32_t); }

static void components_destroy(void *state) {
    struct components *components = state;
    codelet_free(components->from);
    codelet_free(components->to);
    codelet_free((void *)components->labels);
    free(components);
}

static void components_fill(void *state, size_t unit) {
    struct components *components = state;
    const size_t first = unit * UNIT, block = first / GENERATOR_BLOCK;
    generator_fill_words(components->generator, STREAM_FROM, block, components->from + first, UNIT);
    generator_fill_words(components->generator, STREAM_TO, block, components->to + first, UNIT);
    for (size_t i = first; i < first + UNIT; i++) {
        components->from[i] = graph_below(components->from[i], components->vertices);
        components->to[i] = graph_below(components->to[i], components->vertices);
        atomic_init(&components->labels[i], 0);
    }
}

static void *components_create(const struct codelet_setup *setup) {
    struct components *components = calloc(1, sizeof *components);
    if (!components)
        return NULL;
    const size_t vertices = components->vertices = vertices_of(setup->size);
    components->generator = setup->generator;
    components->from = codelet_allocate(vertices * sizeof(uint32_t));
    components->to = codelet_allocate(vertices * sizeof(uint32_t));
    components->labels = codelet_allocate(vertices * sizeof *components->labels);
    if (!components->from || !components->to || !components->labels) {
        components_destroy(components);
        return NULL;
    }
    codelet_initialise(setup->init, vertices / UNIT, components_fill, components);
    return components;
}

static uint32_t label_of(const struct components *components, size_t vertex) {
    return atomic_load_explicit(&components->labels[vertex], memory_order_relaxed);
}

static void label_anew(const struct components *components, size_t unit) {
    for (size_t vertex = unit * UNIT; vertex < (unit + 1) * UNIT; vertex++)
        atomic_store_explicit(&components->labels[vertex], (uint32_t)vertex, memory_order_relaxed);
}

/* Join the ends of a unit's edges; true if a label changed. */
static bool hook(const struct components *components, size_t unit) {
    bool changed = false;
    for (size_t edge = unit * UNIT; edge < (unit + 1) * UNIT; edge++) {
        const uint32_t one = label_of(components, components->from[edge]);
        const uint32_t other = label_of(components, components->to[edge]);
        if (one < other)
            changed |= graph_lower(&components->labels[other], one);
        else if (other < one)
            changed |= graph_lower(&components->labels[one], other);
    }
    return changed;
}

/* Give a unit's vertices the labels where theirs lead; true if a label changed. */
static bool jump(const struct components *components, size_t unit) {
    bool changed = false;
    for (size_t vertex = unit * UNIT; vertex < (unit + 1) * UNIT; vertex++) {
        const uint32_t label = label_of(components, vertex);
        uint32_t root = label;
        for (uint32_t next; (next = label_of(components, root)) != root;)
            root = next;
        if (root == label)
            continue;
        atomic_store_explicit(&components->labels[vertex], root, memory_order_relaxed);
        changed = true;
    }
    return changed;
}

static void components_iterate(void *state, int iteration) {
    const struct components *components = state;
    const size_t units = components->vertices / UNIT, left_out = (size_t)iteration % LEFT_OUT;
    bool changes[2] = {true, true}; /* of the round before, and of this one, by turns */
#pragma omp parallel
    {
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < units; unit++)
            label_anew(components, unit);
        for (int round = 0; changes[round % 2]; round++) {
            bool *const changed = &changes[(round + 1) % 2];
            bool own = false;
#pragma omp single
            *changed = false; /* read last before the barriers of the round before */
#pragma omp for schedule(monotonic : runtime)
            for (size_t unit = 0; unit < units; unit++)
                if (unit % LEFT_OUT != left_out)
                    own |= hook(components, unit);
#pragma omp for schedule(monotonic : runtime) nowait
            for (size_t unit = 0; unit < units; unit++)
                own |= jump(components, unit);
            if (own)
#pragma omp atomic write
                *changed = true;
#pragma omp barrier
        }
    }
}

static double components_checksum(const void *state) {
    const struct components *components = state;
    double sum = 0; /* of integers: exact */
    for (size_t vertex = 0; vertex < components->vertices; vertex++)
        sum += label_of(components, vertex);
    return sum;
}

/* The least vertex of a set of the union-find forest, halving the path to it. */
static uint32_t find(uint32_t *parents, uint32_t vertex) {
    while (parents[vertex] != vertex)
        vertex = parents[vertex] = parents[parents[vertex]];
    return vertex;
}

/* Serial union-find over the latest iteration's edges. */
static double components_deviation(const void *state, int iterations) {
    const struct components *components = state;
    const size_t vertices = components->vertices;
    uint32_t *parents = malloc(vertices * sizeof *parents);
    if (!parents)
        return DEVIATION_UNKNOWN;
    for (size_t vertex = 0; vertex < vertices; vertex++)
        parents[vertex] = (uint32_t)vertex;
    for (size_t edge = 0; edge < vertices; edge++) {
        if ((edge / UNIT + LEFT_OUT - (size_t)(iterations - 1) % LEFT_OUT) % LEFT_OUT == 0)
            continue;
        const uint32_t from = generator_word(components->generator, STREAM_FROM, edge);
        const uint32_t to = generator_word(components->generator, STREAM_TO, edge);
        const uint32_t one = find(parents, graph_below(from, vertices));
        const uint32_t other = find(parents, graph_below(to, vertices));
        parents[one < other ? other : one] = one < other ? one : other;
    }
    double worst = 0;
    for (uint32_t vertex = 0; vertex < vertices; vertex++)
        worst = codelet_worse(worst, label_of(components, vertex), find(parents, vertex));
    free(parents);
    return worst;
}

const struct codelet connected_components = {
    .name = "connected-components",
    .family = "graph",
    .summary = "Hooks labels together along random edges and follows them to their ends, in one array that "
               "all write.",
    .iterations = 2,
    .tolerance = 0,
    CODELET_FUNCTIONS(components),
};
