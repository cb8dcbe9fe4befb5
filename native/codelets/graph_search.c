/* graph_search.c: one level of a breadth-first search.
 *
 * Modelled on Rodinia's bfs and the Graph 500 kernel: a random graph in compressed rows, uneven degrees (1 to
 * 26, 8 on average), and a frontier of vertices. One iteration expands one level: for each vertex of the
 * frontier it reads the neighbours, looks at each one's level at random in a shared array, takes those not
 * yet seen by an atomic exchange, and appends them to the next frontier. Which thread expands a vertex is
 * unrelated to where its data lies, so no placement makes the accesses local. Each search starts from one
 * vertex in 16, so that already its first levels are wide; when a frontier is empty, another search starts.
 * Levels are stamps that only grow, so nothing is reset between.
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

enum { UNIT = GRAPH_UNIT, SPACING = 16, BUFFER = 512, STREAM_SOURCES = 2 };

struct search {
    struct graph graph;
    _Atomic uint32_t *levels; /* the stamp of the level that reached a vertex last; 0 if none did */
    uint32_t *frontier, *next;
    size_t frontier_length;
    _Atomic size_t next_length;
    uint32_t stamp, first_stamp; /* of the latest level, and of the present search's sources */
    uint32_t searches;
};

static size_t vertices_of(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {528, 5280, 32768, 122880};
    return units[size] * UNIT;
}

static size_t search_bytes(enum codelet_size size) {
    return graph_bytes(vertices_of(size)) + 3 * vertices_of(size) * sizeof(uint32_t);
}

static void search_destroy(void *state) {
    struct search *search = state;
    graph_free(&search->graph);
    codelet_free((void *)search->levels);
    codelet_free(search->frontier);
    codelet_free(search->next);
    free(search);
}

static void search_fill(void *state, size_t unit) {
    struct search *search = state;
    graph_fill(&search->graph, unit);
    for (size_t vertex = unit * UNIT; vertex < (unit + 1) * UNIT; vertex++) {
        atomic_init(&search->levels[vertex], 0);
        search->frontier[vertex] = 0;
        search->next[vertex] = 0;
    }
}

static void *search_create(const struct codelet_setup *setup) {
    struct search *search = calloc(1, sizeof *search);
    if (!search)
        return NULL;
    const size_t vertices = vertices_of(setup->size);
    const bool made = graph_allocate(&search->graph, vertices, setup->generator);
    search->levels = codelet_allocate(vertices * sizeof *search->levels);
    search->frontier = codelet_allocate(vertices * sizeof(uint32_t));
    search->next = codelet_allocate(vertices * sizeof(uint32_t));
    if (!made || !search->levels || !search->frontier || !search->next) {
        search_destroy(search);
        return NULL;
    }
    codelet_initialise(setup->init, vertices / UNIT, search_fill, search);
    return search;
}

/* The i-th source of the numbered search: one vertex in SPACING. */
static uint32_t source_of(const struct generator *generator, uint32_t search, size_t i) {
    return (uint32_t)(i * SPACING + generator_hash(generator, STREAM_SOURCES, search) % SPACING);
}

static void start_search(struct search *search) {
    search->first_stamp = ++search->stamp;
    search->frontier_length = search->graph.vertices / SPACING;
    for (size_t i = 0; i < search->frontier_length; i++) {
        const uint32_t source = source_of(search->graph.generator, search->searches, i);
        search->frontier[i] = source;
        atomic_store_explicit(&search->levels[source], search->stamp, memory_order_relaxed);
    }
    search->searches++;
}

/* Take a vertex for this level; true for the one thread that reaches it first. */
static int claim(struct search *search, uint32_t vertex) {
    uint32_t level = atomic_load_explicit(&search->levels[vertex], memory_order_relaxed);
    return level < search->first_stamp &&
           atomic_compare_exchange_strong_explicit(&search->levels[vertex], &level, search->stamp,
                                                   memory_order_relaxed, memory_order_relaxed);
}

static void append(struct search *search, const uint32_t *found, size_t count) {
    const size_t place = atomic_fetch_add_explicit(&search->next_length, count, memory_order_relaxed);
    memcpy(search->next + place, found, count * sizeof *found);
}

static void search_iterate(void *state, int iteration) {
    struct search *search = state;
    (void)iteration;
    if (search->frontier_length == 0)
        start_search(search);
    search->stamp++;
    atomic_store_explicit(&search->next_length, 0, memory_order_relaxed);
#pragma omp parallel
    {
        uint32_t found[BUFFER]; /* appended in one piece, so that threads seldom meet at the counter */
        size_t count = 0;
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < (search->frontier_length + UNIT - 1) / UNIT; unit++)
            for (size_t place = unit * UNIT; place < (unit + 1) * UNIT && place < search->frontier_length;
                 place++) {
                const uint32_t vertex = search->frontier[place];
                for (uint32_t i = search->graph.starts[vertex]; i < search->graph.starts[vertex + 1]; i++) {
                    if (!claim(search, search->graph.neighbours[i]))
                        continue;
                    found[count++] = search->graph.neighbours[i];
                    if (count == BUFFER) {
                        append(search, found, count);
                        count = 0;
                    }
                }
            }
        append(search, found, count);
    }
    uint32_t *expanded = search->frontier;
    search->frontier = search->next;
    search->next = expanded;
    search->frontier_length = atomic_load_explicit(&search->next_length, memory_order_relaxed);
}

static double search_checksum(const void *state) {
    const struct search *search = state;
    double sum = 0; /* of integers: exact */
    for (size_t vertex = 0; vertex < search->graph.vertices; vertex++)
        sum += atomic_load_explicit(&search->levels[vertex], memory_order_relaxed);
    return sum;
}

/* One level without a frontier: look at every edge of the graph. Returns how many vertices were reached. */
static size_t sweep_edges(const struct search *search, uint32_t *levels, uint32_t stamp,
                          uint32_t first_stamp) {
    size_t reached = 0;
    for (size_t vertex = 0; vertex < search->graph.vertices; vertex++) {
        if (levels[vertex] != stamp - 1)
            continue;
        const size_t first = generator_uneven_start(search->graph.generator, vertex);
        const uint32_t degree = generator_uneven_length(search->graph.generator, vertex);
        for (size_t i = first; i < first + degree; i++) {
            const uint32_t neighbour = graph_neighbour(&search->graph, i);
            if (levels[neighbour] < first_stamp) {
                levels[neighbour] = stamp;
                reached++;
            }
        }
    }
    return reached;
}

static double search_deviation(const void *state, int iterations) {
    const struct search *search = state;
    uint32_t *levels = calloc(search->graph.vertices, sizeof *levels);
    if (!levels)
        return DEVIATION_UNKNOWN;
    uint32_t stamp = 0, first_stamp = 0, searches = 0;
    size_t reached = 0;
    for (int iteration = 0; iteration < iterations; iteration++) {
        if (reached == 0) {
            first_stamp = ++stamp;
            for (size_t i = 0; i < search->graph.vertices / SPACING; i++)
                levels[source_of(search->graph.generator, searches, i)] = stamp;
            searches++;
        }
        reached = sweep_edges(search, levels, ++stamp, first_stamp);
    }
    double worst = 0;
    for (size_t vertex = 0; vertex < search->graph.vertices; vertex++)
        worst = codelet_worse(worst, atomic_load_explicit(&search->levels[vertex], memory_order_relaxed),
                              levels[vertex]);
    free(levels);
    return worst;
}

const struct codelet bfs_level = {
    .name = "bfs-level",
    .family = "graph",
    .summary = "Expands one level of a breadth-first search: random reads and atomic claims in arrays shared "
               "by all.",
    .iterations = 10,
    .tolerance = 0,
    CODELET_FUNCTIONS(search),
};
