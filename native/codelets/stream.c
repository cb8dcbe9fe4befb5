/* stream.c: the STREAM triad, a = b + s * c.
 *
 * Modelled on McCalpin's STREAM. Three arrays are streamed once an iteration, each by a fixed share of
 * contiguous addresses a thread; nothing is shared or used again within an iteration. It shows a mapping's
 * memory bandwidth and nothing else: all pages on one node limit it to that node's controller. The scalar
 * changes with the iteration, so that a check can tell the last iteration's result.
 */
#include "codelet.h"

#include <stdlib.h>

enum { BLOCK = 4096, STREAM_B = 1, STREAM_C = 2 };

struct triad {
    size_t blocks;
    double *a, *b, *c;
    const struct generator *generator;
};

static size_t blocks_of(enum codelet_size size) {
    static const size_t blocks[SIZE_COUNT] = {160, 1024, 3840};
    return blocks[size];
}

static size_t triad_bytes(enum codelet_size size) { return 3 * blocks_of(size) * BLOCK * sizeof(double); }

static void triad_destroy(void *state) {
    struct triad *triad = state;
    codelet_free(triad->a);
    codelet_free(triad->b);
    codelet_free(triad->c);
    free(triad);
}

static void triad_fill(void *state, size_t unit) {
    struct triad *triad = state;
    const size_t first = unit * BLOCK;
    for (size_t i = first; i < first + BLOCK; i++)
        triad->a[i] = 0;
    generator_fill_reals(triad->generator, STREAM_B, first / GENERATOR_BLOCK, triad->b + first, BLOCK);
    generator_fill_reals(triad->generator, STREAM_C, first / GENERATOR_BLOCK, triad->c + first, BLOCK);
}

static void *triad_create(const struct codelet_setup *setup) {
    struct triad *triad = calloc(1, sizeof *triad);
    if (!triad)
        return NULL;
    triad->blocks = blocks_of(setup->size);
    triad->generator = setup->generator;
    triad->a = codelet_allocate(triad->blocks * BLOCK * sizeof(double));
    triad->b = codelet_allocate(triad->blocks * BLOCK * sizeof(double));
    triad->c = codelet_allocate(triad->blocks * BLOCK * sizeof(double));
    if (!triad->a || !triad->b || !triad->c) {
        triad_destroy(triad);
        return NULL;
    }
    codelet_initialise(setup->init, triad->blocks, triad_fill, triad);
    return triad;
}

static double scalar_of(int iteration) { return 1.0 + 0.25 * (iteration % 8); }

static void triad_iterate(void *state, int iteration) {
    const struct triad *triad = state;
    const double scalar = scalar_of(iteration);
#pragma omp parallel
#pragma omp for schedule(runtime)
    for (size_t block = 0; block < triad->blocks; block++) {
        double *restrict a = triad->a + block * BLOCK;
        const double *restrict b = triad->b + block * BLOCK;
        const double *restrict c = triad->c + block * BLOCK;
        for (int i = 0; i < BLOCK; i++)
            a[i] = b[i] + scalar * c[i];
    }
}

static double triad_checksum(const void *state) {
    const struct triad *triad = state;
    double sum = 0;
    for (size_t i = 0; i < triad->blocks * BLOCK; i += 8)
        sum += triad->a[i];
    return sum;
}

static double triad_deviation(const void *state, int iterations) {
    const struct triad *triad = state;
    const double scalar = scalar_of(iterations - 1);
    double worst = 0;
    for (size_t i = 0; i < triad->blocks * BLOCK; i++) {
        const double b = generator_real(triad->generator, STREAM_B, i);
        const double c = generator_real(triad->generator, STREAM_C, i);
        worst = codelet_worse(worst, triad->a[i], b + scalar * c);
    }
    return worst;
}

const struct codelet stream_triad = {
    .name = "stream-triad",
    .family = "stream",
    .summary = "Streams three large arrays once an iteration, each thread a contiguous share of its own.",
    .iterations = 80,
    .tolerance = 1e-14,
    .working_set_bytes = triad_bytes,
    .create = triad_create,
    .iterate = triad_iterate,
    .checksum = triad_checksum,
    .deviation = triad_deviation,
    .destroy = triad_destroy,
};
