/* transfer.c: blocks of memory that the C library copies and sets.
 *
 * Modelled on the bcopy and bzero of lmbench's bw_mem (McVoy and Staelin, USENIX 1996), here by all threads
 * at once. The library chooses the instructions for the processor: wide or string moves, which may write
 * whole lines without reading them first. That tells these from loops of loads and stores.
 *
 * memory-copy copies one array to another by memcpy(), in pieces of 64 KiB (tiny: 12). A thread reads and
 * writes blocks of its own, and nothing is used again within an iteration: one stream of reads and one of
 * writes, bounded by bandwidth. Pieces change places within their block with the iteration, so that a check
 * can tell the last.
 *
 * memory-set fills an array by memset(), in pieces of 64 KiB (tiny: 12). It only writes, so it shows what a
 * node takes in writes alone. The value is another for each piece and iteration.
 */
#include "codelet.h"

#include <stdlib.h>
#include <string.h>

enum { PIECES = 4 /* in a block */, STREAM_SOURCE = 1, STREAM_VALUES = 2 };

struct transfer {
    size_t blocks, piece; /* piece: in words */
    uint32_t *source;     /* NULL for memory-set */
    uint32_t *target;
    const struct generator *generator;
};

static size_t blocks_of(enum codelet_size size, size_t arrays) {
    static const size_t blocks[SIZE_COUNT] = {32, 60, 384, 1440};
    return blocks[size] / arrays;
}

static size_t piece_of(enum codelet_size size) {
    static const size_t words[SIZE_COUNT] = {3072, 16384, 16384, 16384};
    return words[size];
}

static size_t bytes_of(enum codelet_size size, size_t arrays) {
    return arrays * blocks_of(size, arrays) * PIECES * piece_of(size) * sizeof(uint32_t);
}

static void transfer_destroy(void *state) {
    struct transfer *transfer = state;
    codelet_free(transfer->source);
    codelet_free(transfer->target);
    free(transfer);
}

static void transfer_fill(void *state, size_t unit) {
    struct transfer *transfer = state;
    const size_t block = PIECES * transfer->piece, first = unit * block;
    memset(transfer->target + first, 0, block * sizeof(uint32_t));
    if (transfer->source)
        generator_fill_words(transfer->generator, STREAM_SOURCE, first / GENERATOR_BLOCK,
                             transfer->source + first, block);
}

static void *transfer_create(const struct codelet_setup *setup, size_t arrays) {
    struct transfer *transfer = calloc(1, sizeof *transfer);
    if (!transfer)
        return NULL;
    transfer->blocks = blocks_of(setup->size, arrays);
    transfer->piece = piece_of(setup->size);
    transfer->generator = setup->generator;
    const size_t array_bytes = bytes_of(setup->size, arrays) / arrays;
    transfer->target = codelet_allocate(array_bytes);
    if (arrays == 2)
        transfer->source = codelet_allocate(array_bytes);
    if (!transfer->target || (arrays == 2 && !transfer->source)) {
        transfer_destroy(transfer);
        return NULL;
    }
    codelet_initialise(setup->init, transfer->blocks, transfer_fill, transfer);
    return transfer;
}

/* Weights tell pieces apart, so that their order counts. */
static double transfer_checksum(const void *state) {
    const struct transfer *transfer = state;
    uint64_t sum = 0;
    for (size_t i = 0; i < transfer->blocks * PIECES * transfer->piece; i += 8)
        sum += transfer->target[i] * (uint64_t)(i / transfer->piece % 97 + 1);
    return (double)sum;
}

/* ---- memory-copy ---- */

static size_t copy_bytes(enum codelet_size size) { return bytes_of(size, 2); }

static void *copy_create(const struct codelet_setup *setup) { return transfer_create(setup, 2); }

static void copy_iterate(void *state, int iteration) {
    const struct transfer *transfer = state;
    const size_t length = transfer->piece;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t block = 0; block < transfer->blocks; block++) {
        uint32_t *restrict target = transfer->target + block * PIECES * length;
        const uint32_t *restrict source = transfer->source + block * PIECES * length;
        for (size_t piece = 0; piece < PIECES; piece++)
            memcpy(target + piece * length, source + (piece + (size_t)iteration) % PIECES * length,
                   length * sizeof(uint32_t));
    }
}

/* Element by element from the source's side: where did it go? */
static double copy_deviation(const void *state, int iterations) {
    const struct transfer *transfer = state;
    const size_t block = PIECES * transfer->piece;
    const size_t ahead = (size_t)((iterations - 1) % PIECES) * transfer->piece;
    double worst = 0;
    for (size_t i = 0; i < transfer->blocks * block; i++) {
        const size_t place = i % block, target = place < ahead ? i + block - ahead : i - ahead;
        worst = codelet_worse(worst, transfer->target[target],
                              generator_word(transfer->generator, STREAM_SOURCE, i));
    }
    return worst;
}

const struct codelet memory_copy = {
    .name = "memory-copy",
    .family = "transfer",
    .summary = "Copies one array to another by memcpy() of large pieces, each thread blocks of its own.",
    .iterations = 80,
    .tolerance = 0,
    .working_set_bytes = copy_bytes,
    .create = copy_create,
    .iterate = copy_iterate,
    .checksum = transfer_checksum,
    .deviation = copy_deviation,
    .destroy = transfer_destroy,
};

/* ---- memory-set ---- */

static size_t set_bytes(enum codelet_size size) { return bytes_of(size, 1); }

static void *set_create(const struct codelet_setup *setup) { return transfer_create(setup, 1); }

static void set_iterate(void *state, int iteration) {
    const struct transfer *transfer = state;
    const size_t pieces = transfer->blocks * PIECES, length = transfer->piece;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t block = 0; block < transfer->blocks; block++)
        for (size_t piece = block * PIECES; piece < (block + 1) * PIECES; piece++) {
            const uint64_t hash =
                generator_hash(transfer->generator, STREAM_VALUES, (uint64_t)iteration * pieces + piece);
            memset(transfer->target + piece * length, (int)(hash >> 56), length * sizeof(uint32_t));
        }
}

/* Word by word: each holds its piece's byte four times. */
static double set_deviation(const void *state, int iterations) {
    const struct transfer *transfer = state;
    const size_t pieces = transfer->blocks * PIECES;
    const uint64_t first_piece = (uint64_t)(iterations - 1) * pieces;
    uint32_t expected = 0;
    double worst = 0;
    for (size_t i = 0; i < pieces * transfer->piece; i++) {
        if (i % transfer->piece == 0) {
            const uint64_t piece = first_piece + i / transfer->piece;
            expected =
                0x01010101u * (uint8_t)(generator_hash(transfer->generator, STREAM_VALUES, piece) >> 56);
        }
        worst = codelet_worse(worst, transfer->target[i], expected);
    }
    return worst;
}

const struct codelet memory_set = {
    .name = "memory-set",
    .family = "transfer",
    .summary = "Fills an array by memset() of large pieces, each thread blocks of its own: writes alone.",
    .iterations = 80,
    .tolerance = 0,
    .working_set_bytes = set_bytes,
    .create = set_create,
    .iterate = set_iterate,
    .checksum = transfer_checksum,
    .deviation = set_deviation,
    .destroy = transfer_destroy,
};
