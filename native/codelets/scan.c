/* scan.c: running sums.
 *
 * prefix-sum is an inclusive scan in two passes over blocks, modelled on the scan of Blelloch's "Prefix sums
 * and their applications" (1990). The first pass reads the input for the sum of each block; these few are
 * scanned by one thread while the others wait; the second pass reads the input again and writes the running
 * sums. A static schedule gives a thread the same contiguous share in both passes; with the others it reads
 * again what another thread has read. It is bandwidth-bound, with as many bytes read as written and two
 * barriers between. Which bits of an element count changes with the iteration.
 */
#include "codelet.h"

#include <stdlib.h>

enum { BLOCK = 4096, STREAM_INPUT = 1 };

struct scan {
    size_t blocks;
    uint32_t *input;
    uint64_t *sums;
    uint64_t *before; /* for each block, first its own sum and then that of all blocks before it */
    const struct generator *generator;
};

static size_t blocks_of(enum codelet_size size) {
    static const size_t blocks[SIZE_COUNT] = {32, 256, 1792, 6656};
    return blocks[size];
}

static size_t scan_bytes(enum codelet_size size) {
    return blocks_of(size) * (BLOCK * (sizeof(uint32_t) + sizeof(uint64_t)) + sizeof(uint64_t));
}

static void scan_destroy(void *state) {
    struct scan *scan = state;
    codelet_free(scan->input);
    codelet_free(scan->sums);
    codelet_free(scan->before);
    free(scan);
}

static void scan_fill(void *state, size_t block) {
    struct scan *scan = state;
    const size_t first = block * BLOCK;
    generator_fill_words(scan->generator, STREAM_INPUT, first / GENERATOR_BLOCK, scan->input + first, BLOCK);
    for (size_t i = first; i < first + BLOCK; i++)
        scan->sums[i] = 0;
    scan->before[block] = 0;
}

static void *scan_create(const struct codelet_setup *setup) {
    struct scan *scan = calloc(1, sizeof *scan);
    if (!scan)
        return NULL;
    scan->blocks = blocks_of(setup->size);
    scan->generator = setup->generator;
    scan->input = codelet_allocate(scan->blocks * BLOCK * sizeof(uint32_t));
    scan->sums = codelet_allocate(scan->blocks * BLOCK * sizeof(uint64_t));
    scan->before = codelet_allocate(scan->blocks * sizeof(uint64_t));
    if (!scan->input || !scan->sums || !scan->before) {
        scan_destroy(scan);
        return NULL;
    }
    codelet_initialise(setup->init, scan->blocks, scan_fill, scan);
    return scan;
}

/* At most 24 bits of an element, so that the sum of all has less than 53 and a double holds it. */
static int shift_of(int iteration) { return 8 + iteration % 8; }

static void sum_block(const struct scan *scan, size_t block, int shift) {
    const uint32_t *input = scan->input + block * BLOCK;
    uint64_t sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += input[i] >> shift;
    scan->before[block] = sum;
}

static void scan_block(const struct scan *scan, size_t block, int shift) {
    const uint32_t *restrict input = scan->input + block * BLOCK;
    uint64_t *restrict sums = scan->sums + block * BLOCK;
    uint64_t sum = scan->before[block];
    for (size_t i = 0; i < BLOCK; i++) {
        sum += input[i] >> shift;
        sums[i] = sum;
    }
}

static void scan_before(const struct scan *scan) {
    uint64_t sum = 0;
    for (size_t block = 0; block < scan->blocks; block++) {
        const uint64_t own = scan->before[block];
        scan->before[block] = sum;
        sum += own;
    }
}

static void scan_iterate(void *state, int iteration) {
    const struct scan *scan = state;
    const int shift = shift_of(iteration);
#pragma omp parallel
    {
#pragma omp for schedule(monotonic : runtime)
        for (size_t block = 0; block < scan->blocks; block++)
            sum_block(scan, block, shift);
#pragma omp single
        scan_before(scan);
#pragma omp for schedule(monotonic : runtime)
        for (size_t block = 0; block < scan->blocks; block++)
            scan_block(scan, block, shift);
    }
}

static double scan_checksum(const void *state) {
    const struct scan *scan = state;
    uint64_t sum = 0;
    for (size_t i = 0; i < scan->blocks * BLOCK; i += 8)
        sum += scan->sums[i] >> 16;
    return (double)sum;
}

/* From the total down: what is left after taking away the elements behind a place. */
static double scan_deviation(const void *state, int iterations) {
    const struct scan *scan = state;
    const uint32_t divisor = UINT32_C(1) << shift_of(iterations - 1);
    uint64_t left = 0;
    for (size_t i = 0; i < scan->blocks * BLOCK; i++)
        left += generator_word(scan->generator, STREAM_INPUT, i) / divisor;
    double worst = 0;
    for (size_t i = scan->blocks * BLOCK; i-- > 0;) {
        worst = codelet_worse(worst, (double)scan->sums[i], (double)left);
        left -= generator_word(scan->generator, STREAM_INPUT, i) / divisor;
    }
    return worst;
}

const struct codelet prefix_sum = {
    .name = "prefix-sum",
    .family = "sorting",
    .summary = "Sums each block of an input, then reads it again to write running sums, with barriers "
               "between.",
    .iterations = 40,
    .tolerance = 0,
    CODELET_FUNCTIONS(scan),
};
