/* graph.c: one level of a breadth-first search.
 *
 * Modelled on Rodinia's bfs and the Graph 500 kernel: a random graph in compressed rows, uneven degrees (1 to
 * 26, 8 on average), and a frontier of vertices. One iteration expands one level: for each vertex of the
 * frontier it reads the neighbours, looks at each one's level at random in a shared array, claims those not
 * yet seen by an atomic exchange, and appends them to the next frontier. Which thread expands a vertex is
 * unrelated to where its data lies, so no placement makes the accesses local. Each search starts from one
 * vertex in 64, so that already its first levels are wide; when a frontier is empty, another search starts.
 * Levels are stamps that only grow, so nothing is reset between.
 */
#include "codelet.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT = 64, SPACING = 16, DEGREE = UNEVEN_GROUP_ENTRIES / UNEVEN_GROUP, BUFFER = 512 };
enum { STREAM_NEIGHBOURS = 1, STREAM_SOURCES = 2 };

struct search {
    size_t vertices;
    uint32_t *starts, *neighbours; /* vertex v has neighbours starts[v] up to starts[v + 1] */
    _Atomic uint32_t *levels;      /* the stamp of the level that reached a vertex last; 0 if none did */
    uint32_t *frontier, *next;
    size_t frontier_length;
    _Atomic size_t next_length;
    uint32_t stamp, first_stamp; /* of the latest level, and of the present search's sources */
    uint32_t searches;
    const struct generator *generator;
};

static size_t vertices_of(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {5280, 32768, 122880};
    return units[size] * UNIT;
}

static size_t search_bytes(enum codelet_size size) {
    return (vertices_of(size) * (DEGREE + 4) + 1) * sizeof(uint32_t);
}

static void search_destroy(void *state) {
    struct search *search = state;
    codelet_free(search->starts);
    codelet_free(search->neighbours);
    codelet_free((void *)search->levels);
    codelet_free(search->frontier);
    codelet_free(search->next);
    free(search);
}

/* Map 32 random bits to 0 .. limit - 1. */
static uint32_t below(uint32_t random, size_t limit) { return (uint32_t)((uint64_t)random * limit >> 32); }

static void search_fill(void *state, size_t unit) {
    struct search *search = state;
    const size_t first_vertex = unit * UNIT, first = first_vertex * DEGREE, count = (size_t)UNIT * DEGREE;
    generator_fill_words(search->generator, STREAM_NEIGHBOURS, first / GENERATOR_BLOCK,
                         search->neighbours + first, count);
    for (size_t i = first; i < first + count; i++)
        search->neighbours[i] = below(search->neighbours[i], search->vertices);
    uint32_t start = (uint32_t)first;
    for (size_t vertex = first_vertex; vertex < first_vertex + UNIT; vertex++) {
        search->starts[vertex] = start;
        start += generator_uneven_length(search->generator, vertex);
        atomic_init(&search->levels[vertex], 0);
        search->frontier[vertex] = 0;
        search->next[vertex] = 0;
    }
    if (start == search->vertices * DEGREE)
        search->starts[search->vertices] = start;
}

static void *search_create(const struct codelet_setup *setup) {
    struct search *search = calloc(1, sizeof *search);
    if (!search)
        return NULL;
    const size_t vertices = search->vertices = vertices_of(setup->size);
    search->generator = setup->generator;
    search->starts = codelet_allocate((vertices + 1) * sizeof(uint32_t));
    search->neighbours = codelet_allocate(vertices * DEGREE * sizeof(uint32_t));
    search->levels = codelet_allocate(vertices * sizeof *search->levels);
    search->frontier = codelet_allocate(vertices * sizeof(uint32_t));
    search->next = codelet_allocate(vertices * sizeof(uint32_t));
    if (!search->starts || !search->neighbours || !search->levels || !search->frontier || !search->next) {
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
    search->frontier_length = search->vertices / SPACING;
    for (size_t i = 0; i < search->frontier_length; i++) {
        const uint32_t source = source_of(search->generator, search->searches, i);
        search->frontier[i] = source;
        atomic_store_explicit(&search->levels[source], search->stamp, memory_order_relaxed);
    }
    search->searches++;
}

/* Claim a vertex for this level; true for the one thread that reaches it first. */
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
#pragma omp for schedule(runtime)
        for (size_t unit = 0; unit < (search->frontier_length + UNIT - 1) / UNIT; unit++)
            for (size_t place = unit * UNIT; place < (unit + 1) * UNIT && place < search->frontier_length;
                 place++) {
                const uint32_t vertex = search->frontier[place];
                for (uint32_t i = search->starts[vertex]; i < search->starts[vertex + 1]; i++) {
                    if (!claim(search, search->neighbours[i]))
                        continue;
                    found[count++] = search->neighbours[i];
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
    for (size_t vertex = 0; vertex < search->vertices; vertex++)
        sum += atomic_load_explicit(&search->levels[vertex], memory_order_relaxed);
    return sum;
}

/* One level without a frontier: look at every edge of the graph. Returns how many vertices were reached. */
static size_t sweep_edges(const struct search *search, uint32_t *levels, uint32_t stamp,
                          uint32_t first_stamp) {
    size_t reached = 0;
    for (size_t vertex = 0; vertex < search->vertices; vertex++) {
        if (levels[vertex] != stamp - 1)
            continue;
        const size_t first = generator_uneven_start(search->generator, vertex);
        const uint32_t degree = generator_uneven_length(search->generator, vertex);
        for (size_t i = first; i < first + degree; i++) {
            const uint32_t word = generator_word(search->generator, STREAM_NEIGHBOURS, i);
            const uint32_t neighbour = below(word, search->vertices);
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
    uint32_t *levels = calloc(search->vertices, sizeof *levels);
    if (!levels)
        return DEVIATION_UNKNOWN;
    uint32_t stamp = 0, first_stamp = 0, searches = 0;
    size_t reached = 0;
    for (int iteration = 0; iteration < iterations; iteration++) {
        if (reached == 0) {
            first_stamp = ++stamp;
            for (size_t i = 0; i < search->vertices / SPACING; i++)
                levels[source_of(search->generator, searches, i)] = stamp;
            searches++;
        }
        reached = sweep_edges(search, levels, ++stamp, first_stamp);
    }
    double worst = 0;
    for (size_t vertex = 0; vertex < search->vertices; vertex++)
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
    .working_set_bytes = search_bytes,
    .create = search_create,
    .iterate = search_iterate,
    .checksum = search_checksum,
    .deviation = search_deviation,
    .destroy = search_destroy,
};
