/* graph_rank.c: one step of PageRank, in which each vertex pulls.
 *
 * Modelled on the pull form of PageRank in the GAP benchmark suite. A row holds the vertices that link to a
 * vertex. For each vertex of its share a thread streams the row, reads at random, from one array that all
 * share and that all wrote in the step before, what each of those passes on, and writes the vertex's rank and
 * what the vertex passes on next, in order. There are no atomic operations and no values besides the links:
 * the random reads bound it, and rows of 1 to 26 links make shares uneven. Ranks are integers, in units of
 * 2^-28, so that their sums do not depend on an order.
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

/* Damped by DAMPED / WHOLE = 0.852, the usual factor as nearly as 2^8 allows. */
enum { ONE = 1 << 28, WHOLE = 256, DAMPED = 218 };

struct ranking {
    struct graph graph;
    _Atomic uint32_t *links; /* how many links leave a vertex, at least 1 */
    uint64_t *ranks;
    uint64_t *shares, *next_shares; /* what a vertex passes along each link: now, and in the next step */
};

static size_t vertices_of(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {320, 3072, 20480, 65536};
    return units[size] * GRAPH_UNIT;
}

static size_t ranking_bytes(enum codelet_size size) {
    return graph_bytes(vertices_of(size)) + vertices_of(size) * (sizeof(uint32_t) + 3 * sizeof(uint64_t));
}

static void ranking_destroy(void *state) {
    struct ranking *ranking = state;
    graph_free(&ranking->graph);
    codelet_free((void *)ranking->links);
    codelet_free(ranking->ranks);
    codelet_free(ranking->shares);
    codelet_free(ranking->next_shares);
    free(ranking);
}

static void ranking_fill(void *state, size_t unit) {
    struct ranking *ranking = state;
    graph_fill(&ranking->graph, unit);
    for (size_t vertex = unit * GRAPH_UNIT; vertex < (unit + 1) * GRAPH_UNIT; vertex++) {
        atomic_init(&ranking->links[vertex], 0);
        ranking->ranks[vertex] = ONE;
        ranking->next_shares[vertex] = 0;
    }
}

static void ranking_count_links(void *state, size_t unit) {
    struct ranking *ranking = state;
    const size_t first = unit * GRAPH_UNIT * GRAPH_DEGREE;
    for (size_t i = first; i < first + (size_t)GRAPH_UNIT * GRAPH_DEGREE; i++)
        atomic_fetch_add_explicit(&ranking->links[ranking->graph.neighbours[i]], 1, memory_order_relaxed);
}

static void ranking_fill_shares(void *state, size_t unit) {
    struct ranking *ranking = state;
    for (size_t vertex = unit * GRAPH_UNIT; vertex < (unit + 1) * GRAPH_UNIT; vertex++) {
        if (atomic_load_explicit(&ranking->links[vertex], memory_order_relaxed) == 0)
            atomic_store_explicit(&ranking->links[vertex], 1, memory_order_relaxed);
        ranking->shares[vertex] = ONE / atomic_load_explicit(&ranking->links[vertex], memory_order_relaxed);
    }
}

static void *ranking_create(const struct codelet_setup *setup) {
    struct ranking *ranking = calloc(1, sizeof *ranking);
    if (!ranking)
        return NULL;
    const size_t vertices = vertices_of(setup->size), units = vertices / GRAPH_UNIT;
    const bool made = graph_allocate(&ranking->graph, vertices, setup->generator);
    ranking->links = codelet_allocate(vertices * sizeof *ranking->links);
    ranking->ranks = codelet_allocate(vertices * sizeof(uint64_t));
    ranking->shares = codelet_allocate(vertices * sizeof(uint64_t));
    ranking->next_shares = codelet_allocate(vertices * sizeof(uint64_t));
    if (!made || !ranking->links || !ranking->ranks || !ranking->shares || !ranking->next_shares) {
        ranking_destroy(ranking);
        return NULL;
    }
    codelet_initialise(setup->init, units, ranking_fill, ranking);
    codelet_initialise(setup->init, units, ranking_count_links, ranking);
    codelet_initialise(setup->init, units, ranking_fill_shares, ranking);
    return ranking;
}

static void pull(const struct ranking *ranking, size_t vertex) {
    const struct graph *graph = &ranking->graph;
    const uint64_t *shares = ranking->shares;
    uint64_t sum = 0;
    for (uint32_t i = graph->starts[vertex], end = graph->starts[vertex + 1]; i < end; i++)
        sum += shares[graph->neighbours[i]];
    const uint64_t rank = (ONE / WHOLE) * (WHOLE - DAMPED) + sum * DAMPED / WHOLE;
    ranking->ranks[vertex] = rank;
    ranking->next_shares[vertex] = rank / atomic_load_explicit(&ranking->links[vertex], memory_order_relaxed);
}

static void ranking_iterate(void *state, int iteration) {
    struct ranking *ranking = state;
    (void)iteration;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = 0; unit < ranking->graph.vertices / GRAPH_UNIT; unit++)
        for (size_t vertex = unit * GRAPH_UNIT; vertex < (unit + 1) * GRAPH_UNIT; vertex++)
            pull(ranking, vertex);
    uint64_t *pulled = ranking->shares;
    ranking->shares = ranking->next_shares;
    ranking->next_shares = pulled;
}

static double ranking_checksum(const void *state) {
    const struct ranking *ranking = state;
    double sum = 0;
    for (size_t vertex = 0; vertex < ranking->graph.vertices; vertex++)
        sum += (double)(ranking->ranks[vertex] * (vertex % 97 + 1)) / ONE;
    return sum;
}

/* The same links by the vertex that they leave, made from the generator by a counting sort. */
struct outgoing {
    size_t vertices;
    uint32_t *starts, *targets; /* vertex v links to targets[starts[v]] up to targets[starts[v + 1]] */
    double *ranks, *sums;
};

static void outgoing_free(struct outgoing *links) {
    free(links->starts);
    free(links->targets);
    free(links->ranks);
    free(links->sums);
}

static bool outgoing_make(struct outgoing *links, const struct graph *graph) {
    const size_t vertices = links->vertices = graph->vertices;
    links->starts = calloc(vertices + 2, sizeof(uint32_t));
    links->targets = malloc(vertices * GRAPH_DEGREE * sizeof(uint32_t));
    links->ranks = malloc(vertices * sizeof(double));
    links->sums = malloc(vertices * sizeof(double));
    if (!links->starts || !links->targets || !links->ranks || !links->sums) {
        outgoing_free(links);
        return false;
    }
    uint32_t *place = links->starts + 1; /* shifted by one while the targets are filled in */
    for (size_t edge = 0; edge < vertices * GRAPH_DEGREE; edge++)
        place[graph_neighbour(graph, edge) + 1]++;
    for (size_t vertex = 0; vertex < vertices; vertex++)
        place[vertex + 1] += place[vertex];
    for (size_t vertex = 0; vertex < vertices; vertex++) {
        const size_t first = generator_uneven_start(graph->generator, vertex);
        const uint32_t degree = generator_uneven_length(graph->generator, vertex);
        for (size_t edge = first; edge < first + degree; edge++)
            links->targets[place[graph_neighbour(graph, edge)]++] = (uint32_t)vertex;
        links->ranks[vertex] = 1;
    }
    return true;
}

/* Push real numbers along the links where the kernel pulls integers. */
static void outgoing_step(struct outgoing *links) {
    const double damping = (double)DAMPED / WHOLE;
    memset(links->sums, 0, links->vertices * sizeof(double));
    for (size_t vertex = 0; vertex < links->vertices; vertex++) {
        const uint32_t start = links->starts[vertex], end = links->starts[vertex + 1];
        const double share = links->ranks[vertex] / fmax(1, end - start);
        for (uint32_t i = start; i < end; i++)
            links->sums[links->targets[i]] += share;
    }
    for (size_t vertex = 0; vertex < links->vertices; vertex++)
        links->ranks[vertex] = 1 + damping * (links->sums[vertex] - 1);
}

static double ranking_deviation(const void *state, int iterations) {
    const struct ranking *ranking = state;
    struct outgoing links = {0};
    if (!outgoing_make(&links, &ranking->graph))
        return DEVIATION_UNKNOWN;
    for (int iteration = 0; iteration < iterations; iteration++)
        outgoing_step(&links);
    double worst = 0;
    for (size_t vertex = 0; vertex < links.vertices; vertex++)
        worst = codelet_worse(worst, (double)ranking->ranks[vertex] / ONE, links.ranks[vertex]);
    outgoing_free(&links);
    return worst;
}

const struct codelet pagerank = {
    .name = "pagerank",
    .family = "graph",
    .summary = "Reads ranks at random from one array shared by all threads, and writes each thread's own in "
               "order.",
    .iterations = 8,
    .tolerance = 1e-6, /* integer ranks are rounded down at each vertex */
    CODELET_FUNCTIONS(ranking),
};
