/* stream.c: the four loops of STREAM.
 *
 * Modelled on McCalpin's STREAM. Large arrays are streamed once an iteration, each by a fixed share of
 * contiguous addresses a thread; nothing is shared or used again within an iteration. So they show a
 * mapping's memory bandwidth and nothing else: all pages on one node limit it to that node's controller. They
 * differ in how many streams of reads go with the one of writes, and in the arithmetic, which is never the
 * limit.
 *
 * stream-copy reads one array and writes another, a = b: as many reads as writes and no arithmetic.
 *
 * stream-scale does the same with a product for each element, a = s * b.
 *
 * stream-add reads two arrays and writes a third, a = b + c.
 *
 * stream-triad does the same with a product as well, a = b + s * c.
 *
 * Results change with the iteration, so that a check can tell the last one's: scale and triad have a scalar
 * that does, copy and add take the lines of an operand's block in an order that begins elsewhere.
 */
#include "codelet.h"

#include <stdlib.h>

enum { BLOCK = 4096, LINE = 8, LINES = BLOCK / LINE, STREAM_B = 1, STREAM_C = 2 };

struct stream;

/* What tells one of the four from another. */
struct operation {
    size_t arrays;                                                         /* 2: a and b, or 3: c too */
    void (*run)(const struct stream *stream, size_t first, int iteration); /* over BLOCK elements */
    double (*expected)(const struct generator *generator, size_t i, int iteration);
};

struct stream {
    const struct operation *operation;
    size_t blocks;
    double *a, *b, *c; /* c: NULL with two arrays */
    const struct generator *generator;
};

static size_t blocks_of(enum codelet_size size, size_t arrays) {
    static const size_t blocks[SIZE_COUNT] = {48, 480, 3072, 11520};
    return blocks[size] / arrays;
}

static size_t bytes_of(enum codelet_size size, size_t arrays) {
    return arrays * blocks_of(size, arrays) * BLOCK * sizeof(double);
}

static void stream_destroy(void *state) {
    struct stream *stream = state;
    codelet_free(stream->a);
    codelet_free(stream->b);
    codelet_free(stream->c);
    free(stream);
}

static void stream_fill(void *state, size_t unit) {
    struct stream *stream = state;
    const size_t first = unit * BLOCK;
    for (size_t i = first; i < first + BLOCK; i++)
        stream->a[i] = 0;
    generator_fill_reals(stream->generator, STREAM_B, first / GENERATOR_BLOCK, stream->b + first, BLOCK);
    if (stream->c)
        generator_fill_reals(stream->generator, STREAM_C, first / GENERATOR_BLOCK, stream->c + first, BLOCK);
}

static void *stream_create(const struct codelet_setup *setup, const struct operation *operation) {
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->operation = operation;
    stream->blocks = blocks_of(setup->size, operation->arrays);
    stream->generator = setup->generator;
    const size_t array_bytes = stream->blocks * BLOCK * sizeof(double);
    stream->a = codelet_allocate(array_bytes);
    stream->b = codelet_allocate(array_bytes);
    if (operation->arrays == 3)
        stream->c = codelet_allocate(array_bytes);
    if (!stream->a || !stream->b || (operation->arrays == 3 && !stream->c)) {
        stream_destroy(stream);
        return NULL;
    }
    codelet_initialise(setup->init, stream->blocks, stream_fill, stream);
    return stream;
}

static void stream_iterate(void *state, int iteration) {
    const struct stream *stream = state;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t block = 0; block < stream->blocks; block++)
        stream->operation->run(stream, block * BLOCK, iteration);
}

/* Every seventh element, so that the order of lines counts. */
static double stream_checksum(const void *state) {
    const struct stream *stream = state;
    double sum = 0;
    for (size_t i = 0; i < stream->blocks * BLOCK; i += 7)
        sum += stream->a[i];
    return sum;
}

static double stream_deviation(const void *state, int iterations) {
    const struct stream *stream = state;
    double worst = 0;
    for (size_t i = 0; i < stream->blocks * BLOCK; i++)
        worst = codelet_worse(worst, stream->a[i],
                              stream->operation->expected(stream->generator, i, iterations - 1));
    return worst;
}

static double scalar_of(int iteration) { return 1.0 + 0.25 * (iteration % 8); }

/* The line that goes with a block's given line in this iteration. */
static const double *turned(const double *block, size_t line, int iteration) {
    return block + (line + (size_t)iteration) % LINES * LINE;
}

/* The same for an element of a whole array. */
static size_t turned_index(size_t i, int iteration) {
    const size_t turn = (size_t)(iteration % LINES) * LINE, place = i % BLOCK + turn;
    return i - i % BLOCK + (place < BLOCK ? place : place - BLOCK);
}

/* ---- stream-copy ---- */

/* Line by line: compilers see no contiguous copy that they could make a call of memcpy(). */
static void copy_run(const struct stream *stream, size_t first, int iteration) {
    double *restrict a = stream->a + first;
    const double *restrict b = stream->b + first;
    for (size_t line = 0; line < LINES; line++) {
        const double *from = turned(b, line, iteration);
        for (size_t i = 0; i < LINE; i++)
            a[line * LINE + i] = from[i];
    }
}

static double copy_expected(const struct generator *generator, size_t i, int iteration) {
    return generator_real(generator, STREAM_B, turned_index(i, iteration));
}

static const struct operation copy = {2, copy_run, copy_expected};

static size_t copy_bytes(enum codelet_size size) { return bytes_of(size, copy.arrays); }

static void *copy_create(const struct codelet_setup *setup) { return stream_create(setup, &copy); }

const struct codelet stream_copy = {
    .name = "stream-copy",
    .family = "stream",
    .summary = "Copies one large array to another once an iteration, each thread a contiguous share.",
    .iterations = 80,
    .tolerance = 0,
    .working_set_bytes = copy_bytes,
    .create = copy_create,
    .iterate = stream_iterate,
    .checksum = stream_checksum,
    .deviation = stream_deviation,
    .destroy = stream_destroy,
};

/* ---- stream-scale ---- */

static void scale_run(const struct stream *stream, size_t first, int iteration) {
    double *restrict a = stream->a + first;
    const double *restrict b = stream->b + first;
    const double scalar = scalar_of(iteration);
    for (int i = 0; i < BLOCK; i++)
        a[i] = scalar * b[i];
}

static double scale_expected(const struct generator *generator, size_t i, int iteration) {
    return scalar_of(iteration) * generator_real(generator, STREAM_B, i);
}

static const struct operation scale = {2, scale_run, scale_expected};

static size_t scale_bytes(enum codelet_size size) { return bytes_of(size, scale.arrays); }

static void *scale_create(const struct codelet_setup *setup) { return stream_create(setup, &scale); }

const struct codelet stream_scale = {
    .name = "stream-scale",
    .family = "stream",
    .summary = "Scales one large array into another once an iteration, each thread a contiguous share.",
    .iterations = 80,
    .tolerance = 1e-14,
    .working_set_bytes = scale_bytes,
    .create = scale_create,
    .iterate = stream_iterate,
    .checksum = stream_checksum,
    .deviation = stream_deviation,
    .destroy = stream_destroy,
};

/* ---- stream-add ---- */

static void add_run(const struct stream *stream, size_t first, int iteration) {
    double *restrict a = stream->a + first;
    const double *restrict b = stream->b + first;
    const double *restrict c = stream->c + first;
    for (size_t line = 0; line < LINES; line++) {
        const double *other = turned(c, line, iteration);
        for (size_t i = 0; i < LINE; i++)
            a[line * LINE + i] = b[line * LINE + i] + other[i];
    }
}

static double add_expected(const struct generator *generator, size_t i, int iteration) {
    return generator_real(generator, STREAM_B, i) +
           generator_real(generator, STREAM_C, turned_index(i, iteration));
}

static const struct operation add = {3, add_run, add_expected};

static size_t add_bytes(enum codelet_size size) { return bytes_of(size, add.arrays); }

static void *add_create(const struct codelet_setup *setup) { return stream_create(setup, &add); }

const struct codelet stream_add = {
    .name = "stream-add",
    .family = "stream",
    .summary = "Adds two large arrays into a third once an iteration, each thread a contiguous share.",
    .iterations = 80,
    .tolerance = 1e-14,
    .working_set_bytes = add_bytes,
    .create = add_create,
    .iterate = stream_iterate,
    .checksum = stream_checksum,
    .deviation = stream_deviation,
    .destroy = stream_destroy,
};

/* ---- stream-triad ---- */

static void triad_run(const struct stream *stream, size_t first, int iteration) {
    double *restrict a = stream->a + first;
    const double *restrict b = stream->b + first;
    const double *restrict c = stream->c + first;
    const double scalar = scalar_of(iteration);
    for (int i = 0; i < BLOCK; i++)
        a[i] = b[i] + scalar * c[i];
}

static double triad_expected(const struct generator *generator, size_t i, int iteration) {
    return generator_real(generator, STREAM_B, i) +
           scalar_of(iteration) * generator_real(generator, STREAM_C, i);
}

static const struct operation triad = {3, triad_run, triad_expected};

static size_t triad_bytes(enum codelet_size size) { return bytes_of(size, triad.arrays); }

static void *triad_create(const struct codelet_setup *setup) { return stream_create(setup, &triad); }

const struct codelet stream_triad = {
    .name = "stream-triad",
    .family = "stream",
    .summary = "Streams three large arrays once an iteration, each thread a contiguous share of its own.",
    .iterations = 80,
    .tolerance = 1e-14,
    .working_set_bytes = triad_bytes,
    .create = triad_create,
    .iterate = stream_iterate,
    .checksum = stream_checksum,
    .deviation = stream_deviation,
    .destroy = stream_destroy,
};
