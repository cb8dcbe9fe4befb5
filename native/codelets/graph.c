/* graph.c: random graphs in compressed rows (see graph.h). */
#include "graph.h"

enum { STREAM_NEIGHBOURS = 1 };

size_t graph_bytes(size_t vertices) { return (vertices * (GRAPH_DEGREE + 1) + 1) * sizeof(uint32_t); }

bool graph_allocate(struct graph *graph, size_t vertices, const struct generator *generator) {
    graph->vertices = vertices;
    graph->generator = generator;
    graph->starts = codelet_allocate((vertices + 1) * sizeof(uint32_t));
    graph->neighbours = codelet_allocate(vertices * GRAPH_DEGREE * sizeof(uint32_t));
    return graph->starts && graph->neighbours;
}

void graph_free(struct graph *graph) {
    codelet_free(graph->starts);
    codelet_free(graph->neighbours);
}

void graph_fill_starts(const struct graph *graph, size_t unit) {
    const size_t first = unit * GRAPH_UNIT;
    uint32_t start = (uint32_t)(first * GRAPH_DEGREE);
    for (size_t vertex = first; vertex < first + GRAPH_UNIT; vertex++) {
        graph->starts[vertex] = start;
        start += generator_uneven_length(graph->generator, vertex);
    }
    if (start == graph->vertices * GRAPH_DEGREE)
        graph->starts[graph->vertices] = start;
}

void graph_fill(const struct graph *graph, size_t unit) {
    const size_t count = (size_t)GRAPH_UNIT * GRAPH_DEGREE, first = unit * count;
    graph_fill_starts(graph, unit);
    generator_fill_words(graph->generator, STREAM_NEIGHBOURS, first / GENERATOR_BLOCK,
                         graph->neighbours + first, count);
    for (size_t i = first; i < first + count; i++)
        graph->neighbours[i] = graph_below(graph->neighbours[i], graph->vertices);
}

uint32_t graph_neighbour(const struct graph *graph, size_t edge) {
    return graph_below(generator_word(graph->generator, STREAM_NEIGHBOURS, edge), graph->vertices);
}
