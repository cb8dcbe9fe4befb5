/* graph_paths.c: one round of relaxations for shortest paths.
 *
 * Modelled on the Bellman-Ford algorithm as parallel programs run it, such as Lonestar's sssp. Each thread
 * streams the rows of its vertices, neighbours and weights, and offers each neighbour a distance; an offer
 * that is shorter lowers the neighbour's distance by an atomic minimum, anywhere in an array that all threads
 * write. About a fifth of the offers do, so lines of that array move between all threads, and no placement
 * keeps these writes local. Each iteration begins anew, from distances that vary with it: first each thread
 * writes its share of the distances, then a barrier, then one round. All offers count from the distances
 * before the round, so that the result is the same in any order.
 */
#include "graph.h"

#include <stdlib.h>

enum { STREAM_WEIGHTS = 2, STREAM_DISTANCES = 3, SHIFTS = 12 };

static const uint32_t DISTANCE_MASK = 0xfffff, WEIGHT_MASK = 0xffff;

struct paths {
    struct graph graph;
    uint32_t *weights; /* of the edge to each neighbour */
    uint32_t *origins; /* random words, from which distances before a round are cut */
    _Atomic uint32_t *distances;
};

static size_t vertices_of(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {240, 2304, 17408, 69632};
    return units[size] * GRAPH_UNIT;
}

static size_t paths_bytes(enum codelet_size size) {
    return graph_bytes(vertices_of(size)) + vertices_of(size) * (GRAPH_DEGREE + 2) * sizeof(uint32_t);
}

static void paths_destroy(void *state) {
    struct paths *paths = state;
    graph_free(&paths->graph);
    codelet_free(paths->weights);
    codelet_free(paths->origins);
    codelet_free((void *)paths->distances);
    free(paths);
}

static void paths_fill(void *state, size_t unit) {
    struct paths *paths = state;
    const size_t count = (size_t)GRAPH_UNIT * GRAPH_DEGREE, first = unit * count;
    graph_fill(&paths->graph, unit);
    generator_fill_words(paths->graph.generator, STREAM_WEIGHTS, first / GENERATOR_BLOCK,
                         paths->weights + first, count);
    for (size_t i = first; i < first + count; i++)
        paths->weights[i] &= WEIGHT_MASK;
    generator_fill_words(paths->graph.generator, STREAM_DISTANCES, unit, paths->origins + unit * GRAPH_UNIT,
                         GRAPH_UNIT);
    for (size_t vertex = unit * GRAPH_UNIT; vertex < (unit + 1) * GRAPH_UNIT; vertex++)
        atomic_init(&paths->distances[vertex], 0);
}

static void *paths_create(const struct codelet_setup *setup) {
    struct paths *paths = calloc(1, sizeof *paths);
    if (!paths)
        return NULL;
    const size_t vertices = vertices_of(setup->size);
    const bool made = graph_allocate(&paths->graph, vertices, setup->generator);
    paths->weights = codelet_allocate(vertices * GRAPH_DEGREE * sizeof(uint32_t));
    paths->origins = codelet_allocate(vertices * sizeof(uint32_t));
    paths->distances = codelet_allocate(vertices * sizeof *paths->distances);
    if (!made || !paths->weights || !paths->origins || !paths->distances) {
        paths_destroy(paths);
        return NULL;
    }
    codelet_initialise(setup->init, vertices / GRAPH_UNIT, paths_fill, paths);
    return paths;
}

/* A vertex's distance before the round, cut from its random word. */
static uint32_t distance_before(uint32_t origin, int iteration) {
    return origin >> iteration % SHIFTS & DISTANCE_MASK;
}

static void relax(const struct paths *paths, size_t vertex, int iteration) {
    const struct graph *graph = &paths->graph;
    const uint32_t distance = distance_before(paths->origins[vertex], iteration);
    for (uint32_t i = graph->starts[vertex], end = graph->starts[vertex + 1]; i < end; i++)
        graph_lower(&paths->distances[graph->neighbours[i]], distance + paths->weights[i]);
}

static void paths_iterate(void *state, int iteration) {
    const struct paths *paths = state;
    const size_t units = paths->graph.vertices / GRAPH_UNIT;
#pragma omp parallel
    {
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < units; unit++)
            for (size_t vertex = unit * GRAPH_UNIT; vertex < (unit + 1) * GRAPH_UNIT; vertex++)
                atomic_store_explicit(&paths->distances[vertex],
                                      distance_before(paths->origins[vertex], iteration),
                                      memory_order_relaxed);
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < units; unit++)
            for (size_t vertex = unit * GRAPH_UNIT; vertex < (unit + 1) * GRAPH_UNIT; vertex++)
                relax(paths, vertex, iteration);
    }
}

static double distance_of(const struct paths *paths, size_t vertex) {
    return atomic_load_explicit(&paths->distances[vertex], memory_order_relaxed);
}

static double paths_checksum(const void *state) {
    const struct paths *paths = state;
    double sum = 0; /* of integers: exact */
    for (size_t vertex = 0; vertex < paths->graph.vertices; vertex++)
        sum += distance_of(paths, vertex);
    return sum;
}

/* Nothing is relaxed again. A result is right if no offer is shorter, and if some offer, or the distance
 * before, is as long: each of both is looked at once, made from the generator. */
static double paths_deviation(const void *state, int iterations) {
    const struct paths *paths = state;
    const struct generator *generator = paths->graph.generator;
    const size_t vertices = paths->graph.vertices;
    bool *attained = calloc(vertices, sizeof *attained);
    if (!attained)
        return DEVIATION_UNKNOWN;
    const uint32_t divisor = 1u << (iterations - 1) % SHIFTS;
    double worst = 0;
    for (size_t vertex = 0; vertex < vertices; vertex++) {
        const uint32_t cut = generator_word(generator, STREAM_DISTANCES, vertex) / divisor;
        const double before = (double)(cut % (DISTANCE_MASK + 1));
        const size_t first = generator_uneven_start(generator, vertex);
        const uint32_t degree = generator_uneven_length(generator, vertex);
        worst = codelet_worse(worst, fmax(distance_of(paths, vertex), before), before);
        attained[vertex] = attained[vertex] || distance_of(paths, vertex) == before;
        for (size_t edge = first; edge < first + degree; edge++) {
            const uint32_t weight = generator_word(generator, STREAM_WEIGHTS, edge) % (WEIGHT_MASK + 1);
            const uint32_t target = graph_neighbour(&paths->graph, edge);
            worst = codelet_worse(worst, fmax(distance_of(paths, target), before + weight), before + weight);
            attained[target] = attained[target] || distance_of(paths, target) == before + weight;
        }
    }
    for (size_t vertex = 0; vertex < vertices; vertex++)
        worst = attained[vertex] ? worst : INFINITY;
    free(attained);
    return worst;
}

const struct codelet sssp_relax = {
    .name = "sssp-relax",
    .family = "graph",
    .summary = "Relaxes each edge of a graph once: streams weights, and lowers distances anywhere by atomic "
               "minima.",
    .iterations = 16,
    .tolerance = 0,
    CODELET_FUNCTIONS(paths),
};
