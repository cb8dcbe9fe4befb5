/* graph_triangles.c: counting the triangles of a directed graph.
 *
 * Modelled on the triangle counting of the GAP benchmark suite and on Graphalytics' clustering coefficients:
 * sorted neighbour lists are intersected. For each link from a vertex to a neighbour, a thread merges the
 * vertex's own list, which is in its first cache, with the neighbour's, a burst of 1 to 26 entries read in
 * order from anywhere in the graph. Each common entry closes a triangle. Nothing is written but a thread's
 * one sum, so all threads may hold any line; lists of uneven length make shares uneven, and merging costs
 * mispredicted branches, so the processor works about as long as the memory does. One iteration counts for
 * one vertex in eight.
 *
 * Communities of 64 vertices, one in each 64th of the vertices, make triangles as common as in social graphs:
 * all links stay within a community. Where a community has its vertices is scrambled, so that lists that
 * are read one after the other lie far apart.
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 64, PARTS = 8, STREAM_MEMBERS = 1, STREAM_SCRAMBLE = 2 };

struct triangles {
    struct graph graph;
    uint32_t communities; /* a power of two */
    uint32_t scramble[MEMBERS], unscramble[MEMBERS];
    uint64_t count; /* of all iterations */
};

static uint32_t communities_of(enum codelet_size size) {
    static const uint32_t communities[SIZE_COUNT] = {1 << 9, 1 << 12, 1 << 15, 1 << 17};
    return communities[size];
}

static size_t triangles_bytes(enum codelet_size size) {
    return graph_bytes((size_t)communities_of(size) * MEMBERS);
}

static void triangles_destroy(void *state) {
    struct triangles *triangles = state;
    graph_free(&triangles->graph);
    free(triangles);
}

/* The vertex of a community that is its numbered member. */
static uint32_t vertex_of(const struct triangles *triangles, uint32_t community, uint32_t member) {
    return member * triangles->communities +
           (community * triangles->scramble[member] & (triangles->communities - 1));
}

static uint32_t member_of(const struct triangles *triangles, size_t vertex) {
    return (uint32_t)(vertex / triangles->communities);
}

static uint32_t community_of(const struct triangles *triangles, size_t vertex) {
    return (uint32_t)vertex * triangles->unscramble[member_of(triangles, vertex)] &
           (triangles->communities - 1);
}

/* The member that the i-th of `degree` links leads to: one of each of `degree` stretches of the other 63, so
 * that lists are sorted and hold nothing twice. */
static uint32_t linked_member(uint32_t word, uint32_t member, uint32_t i, uint32_t degree) {
    const uint32_t first = i * (MEMBERS - 1) / degree, end = (i + 1) * (MEMBERS - 1) / degree;
    const uint32_t linked = first + graph_below(word, end - first);
    return linked < member ? linked : linked + 1;
}

static void triangles_fill(void *state, size_t unit) {
    const struct triangles *triangles = state;
    const struct graph *graph = &triangles->graph;
    const size_t count = (size_t)GRAPH_UNIT * GRAPH_DEGREE, first = unit * count;
    uint32_t *neighbour = graph->neighbours + first;
    graph_fill_starts(graph, unit);
    generator_fill_words(graph->generator, STREAM_MEMBERS, first / GENERATOR_BLOCK, neighbour, count);
    for (size_t vertex = unit * GRAPH_UNIT; vertex < (unit + 1) * GRAPH_UNIT; vertex++) {
        const uint32_t community = community_of(triangles, vertex), member = member_of(triangles, vertex);
        const uint32_t degree = generator_uneven_length(graph->generator, vertex);
        for (uint32_t i = 0; i < degree; i++, neighbour++)
            *neighbour = vertex_of(triangles, community, linked_member(*neighbour, member, i, degree));
    }
}

/* The inverse of an odd number modulo 2^32, by Newton's iteration: each step doubles the bits that are right,
 * of which there are three at the start. */
static uint32_t inverse_of(uint32_t odd) {
    uint32_t inverse = odd;
    for (int step = 0; step < 4; step++)
        inverse *= 2 - odd * inverse;
    return inverse;
}

static void *triangles_create(const struct codelet_setup *setup) {
    struct triangles *triangles = calloc(1, sizeof *triangles);
    if (!triangles)
        return NULL;
    triangles->communities = communities_of(setup->size);
    const size_t vertices = (size_t)triangles->communities * MEMBERS;
    if (!graph_allocate(&triangles->graph, vertices, setup->generator)) {
        triangles_destroy(triangles);
        return NULL;
    }
    for (uint32_t member = 0; member < MEMBERS; member++) {
        const uint32_t odd = (uint32_t)generator_hash(setup->generator, STREAM_SCRAMBLE, member) | 1;
        triangles->scramble[member] = odd;
        triangles->unscramble[member] = inverse_of(odd);
    }
    codelet_initialise(setup->init, vertices / GRAPH_UNIT, triangles_fill, triangles);
    return triangles;
}

/* How many entries two sorted lists have in common. */
static uint64_t common(const uint32_t *one, const uint32_t *one_end, const uint32_t *other,
                       const uint32_t *other_end) {
    uint64_t count = 0;
    while (one < one_end && other < other_end)
        if (*one < *other) {
            one++;
        } else if (*other < *one) {
            other++;
        } else {
            count++;
            one++;
            other++;
        }
    return count;
}

/* The triangles of a vertex: its neighbours' neighbours that are its own neighbours too. */
static uint64_t triangles_at(const struct graph *graph, size_t vertex) {
    const uint32_t *list = graph->neighbours + graph->starts[vertex];
    const uint32_t *end = graph->neighbours + graph->starts[vertex + 1];
    uint64_t count = 0;
    for (const uint32_t *neighbour = list; neighbour < end; neighbour++)
        count += common(list, end, graph->neighbours + graph->starts[*neighbour],
                        graph->neighbours + graph->starts[*neighbour + 1]);
    return count;
}

static void triangles_iterate(void *state, int iteration) {
    struct triangles *triangles = state;
    const struct graph *graph = &triangles->graph;
    const size_t part = (size_t)iteration % PARTS;
#pragma omp parallel
    {
        uint64_t own = 0;
#pragma omp for schedule(monotonic : runtime) nowait
        for (size_t unit = 0; unit < graph->vertices / GRAPH_UNIT; unit++)
            for (size_t vertex = unit * GRAPH_UNIT + part; vertex < (unit + 1) * GRAPH_UNIT; vertex += PARTS)
                own += triangles_at(graph, vertex);
#pragma omp atomic
        triangles->count += own;
    }
}

static double triangles_checksum(const void *state) {
    const struct triangles *triangles = state;
    return (double)triangles->count;
}

static uint64_t bits_in(uint64_t set) {
    uint64_t count = 0;
    for (; set; set &= set - 1)
        count++;
    return count;
}

/* Each community as a matrix of bits from the generator: two members' lists share the bits that both rows
 * have. Vertices of each part are counted apart. */
static void add_community(const struct triangles *triangles, uint32_t community, uint64_t counts[PARTS]) {
    const struct generator *generator = triangles->graph.generator;
    uint64_t links[MEMBERS] = {0};
    for (uint32_t member = 0; member < MEMBERS; member++) {
        const uint32_t vertex = vertex_of(triangles, community, member);
        const uint32_t degree = generator_uneven_length(generator, vertex);
        const size_t first = generator_uneven_start(generator, vertex);
        for (uint32_t i = 0; i < degree; i++) {
            const uint32_t word = generator_word(generator, STREAM_MEMBERS, first + i);
            links[member] |= (uint64_t)1 << linked_member(word, member, i, degree);
        }
    }
    for (uint32_t member = 0; member < MEMBERS; member++)
        for (uint32_t other = 0; other < MEMBERS; other++)
            if (links[member] >> other & 1)
                counts[vertex_of(triangles, community, member) % PARTS] +=
                    bits_in(links[member] & links[other]);
}

static double triangles_deviation(const void *state, int iterations) {
    const struct triangles *triangles = state;
    uint64_t counts[PARTS] = {0}, expected = 0;
    for (uint32_t community = 0; community < triangles->communities; community++)
        add_community(triangles, community, counts);
    for (int iteration = 0; iteration < iterations; iteration++)
        expected += counts[iteration % PARTS];
    return codelet_worse(0, (double)triangles->count, (double)expected);
}

const struct codelet triangle_count = {
    .name = "triangle-count",
    .family = "graph",
    .summary =
        "Intersects sorted neighbour lists: short bursts of reads in order from random places, nothing "
        "written.",
    .iterations = 4,
    .tolerance = 0,
    CODELET_FUNCTIONS(triangles),
};
