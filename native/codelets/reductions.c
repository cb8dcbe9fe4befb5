/* reductions.c: many values brought together into few, by all threads at once.
 *
 * histogram is modelled on the parallel histograms of Parboil's histo and of the first phase of NAS IS. Each
 * thread streams its share of the input and counts into bins of its own, which stay in its first cache and
 * are merged at the end; one value in 64 is also counted, atomically, in a larger table of bins that all
 * threads share. So the pattern is a stream of loads without stores to memory, plus a small and steady
 * exchange of cache lines between all threads. Which bits of a value are counted changes with the iteration.
 *
 * reduction-tree is modelled on OpenMP's reduction of an array, where each thread has a large array of its
 * own and these are added up; PARTS arrays stand for the threads', however many there are. First each thread
 * writes its share of the parts, each one stretch of addresses, in order. After a barrier each thread adds up
 * its share of the elements, over all parts: it reads a short run of every part, so most of what it reads was
 * written by others, and each page is read by many. Bandwidth bounds it, with each byte written once and read
 * once by another thread.
 */
#include "codelet.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- histogram ---- */

enum { UNIT = 4096, OWN_BINS = 2048, SHARED_BINS = 65536, STREAM_INPUT = 1 };

struct counts {
    size_t units;
    uint32_t *input;
    _Atomic uint64_t *shared;
    uint64_t merged[OWN_BINS];
    const struct generator *generator;
};

static size_t units_of(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {80, 960, 6144, 23040};
    return units[size];
}

static size_t counts_bytes(enum codelet_size size) {
    return units_of(size) * UNIT * sizeof(uint32_t) + SHARED_BINS * sizeof(uint64_t);
}

static void counts_destroy(void *state) {
    struct counts *counts = state;
    codelet_free(counts->input);
    codelet_free((void *)counts->shared);
    free(counts);
}

static void counts_fill(void *state, size_t unit) {
    struct counts *counts = state;
    generator_fill_words(counts->generator, STREAM_INPUT, unit * (UNIT / GENERATOR_BLOCK),
                         counts->input + unit * UNIT, UNIT);
    /* The shared bins are distributed over the units. */
    const size_t first = unit * SHARED_BINS / counts->units, end = (unit + 1) * SHARED_BINS / counts->units;
    for (size_t bin = first; bin < end; bin++)
        atomic_init(&counts->shared[bin], 0);
}

static void *counts_create(const struct codelet_setup *setup) {
    struct counts *counts = calloc(1, sizeof *counts);
    if (!counts)
        return NULL;
    counts->units = units_of(setup->size);
    counts->generator = setup->generator;
    counts->input = codelet_allocate(counts->units * UNIT * sizeof(uint32_t));
    counts->shared = codelet_allocate(SHARED_BINS * sizeof *counts->shared);
    if (!counts->input || !counts->shared) {
        counts_destroy(counts);
        return NULL;
    }
    codelet_initialise(setup->init, counts->units, counts_fill, counts);
    return counts;
}

static void counts_iterate(void *state, int iteration) {
    struct counts *counts = state;
    const int shift = iteration % 16;
    const uint32_t rare = (uint32_t)iteration % 64;
#pragma omp parallel
    {
        uint32_t own[OWN_BINS] = {0};
#pragma omp for schedule(monotonic : runtime) nowait
        for (size_t unit = 0; unit < counts->units; unit++)
            for (size_t i = unit * UNIT; i < (unit + 1) * UNIT; i++) {
                const uint32_t value = counts->input[i];
                own[value >> shift & (OWN_BINS - 1)]++;
                if (value >> 26 == rare)
                    atomic_fetch_add_explicit(&counts->shared[value & (SHARED_BINS - 1)], 1,
                                              memory_order_relaxed);
            }
#pragma omp critical(histogram_merge)
        for (size_t bin = 0; bin < OWN_BINS; bin++)
            counts->merged[bin] += own[bin];
    }
}

static double counts_checksum(const void *state) {
    const struct counts *counts = state;
    double sum = 0; /* of integers: exact */
    for (size_t bin = 0; bin < OWN_BINS; bin++)
        sum += (double)(counts->merged[bin] * (bin % 97 + 1));
    for (size_t bin = 0; bin < SHARED_BINS; bin++)
        sum += (double)(atomic_load_explicit(&counts->shared[bin], memory_order_relaxed) * (bin % 89 + 1));
    return sum;
}

/* One pass over the input's elements, counting for all iterations at once by arithmetic on the value. */
static double counts_deviation(const void *state, int iterations) {
    const struct counts *counts = state;
    uint64_t *merged = calloc(OWN_BINS, sizeof *merged), *shared = calloc(SHARED_BINS, sizeof *shared);
    double worst = merged && shared ? 0 : DEVIATION_UNKNOWN;
    uint64_t shifts[16] = {0}, rares[64] = {0}; /* how many iterations use each */
    for (int iteration = 0; iteration < iterations; iteration++) {
        shifts[iteration % 16]++;
        rares[iteration % 64]++;
    }
    for (size_t i = 0; i < counts->units * UNIT && worst >= 0; i++) {
        const uint32_t value = generator_word(counts->generator, STREAM_INPUT, i);
        uint32_t rest = value;
        for (int shift = 0; shift < 16; shift++, rest /= 2)
            merged[rest % OWN_BINS] += shifts[shift];
        shared[value % SHARED_BINS] += rares[value / 67108864];
    }
    for (size_t bin = 0; bin < OWN_BINS && worst >= 0; bin++)
        worst = codelet_worse(worst, (double)counts->merged[bin], (double)merged[bin]);
    for (size_t bin = 0; bin < SHARED_BINS && worst >= 0; bin++)
        worst = codelet_worse(worst, (double)atomic_load_explicit(&counts->shared[bin], memory_order_relaxed),
                              (double)shared[bin]);
    free(merged);
    free(shared);
    return worst;
}

const struct codelet histogram = {
    .name = "histogram",
    .family = "reductions",
    .summary =
        "Streams a large input without storing, counting in private bins and now and then in shared ones.",
    .iterations = 16,
    .tolerance = 0,
    CODELET_FUNCTIONS(counts),
};

/* ---- reduction-tree ---- */

enum { PARTS = 128, FAN_IN = 4, BLOCK = 256, STREAM_SLOPES = 2, STREAM_OFFSETS = 3 };

/* An element of a part is the upper bits of a line that wraps around: small enough for the sum of all parts.
 */
enum { DROPPED_BITS = 12 };

struct reduction {
    size_t length;                          /* of each part; a multiple of BLOCK */
    uint32_t *parts;                        /* PARTS x length */
    uint32_t *total;                        /* the sum of all parts */
    uint32_t slopes[PARTS], offsets[PARTS]; /* of each part's line */
    const struct generator *generator;
};

static size_t length_of(enum codelet_size size) {
    static const size_t blocks[SIZE_COUNT] = {16, 96, 640, 2560};
    return blocks[size] * BLOCK;
}

static size_t reduction_bytes(enum codelet_size size) {
    return (PARTS + 1) * length_of(size) * sizeof(uint32_t);
}

static void reduction_destroy(void *state) {
    struct reduction *reduction = state;
    codelet_free(reduction->parts);
    codelet_free(reduction->total);
    free(reduction);
}

static void reduction_fill(void *state, size_t part) {
    struct reduction *reduction = state;
    for (size_t i = part * reduction->length; i < (part + 1) * reduction->length; i++)
        reduction->parts[i] = (uint32_t)part;
    /* The sum's blocks are distributed over the parts. */
    const size_t blocks = reduction->length / BLOCK;
    for (size_t i = part * blocks / PARTS * BLOCK; i < (part + 1) * blocks / PARTS * BLOCK; i++)
        reduction->total[i] = UINT32_MAX;
}

static void *reduction_create(const struct codelet_setup *setup) {
    struct reduction *reduction = calloc(1, sizeof *reduction);
    if (!reduction)
        return NULL;
    reduction->length = length_of(setup->size);
    reduction->generator = setup->generator;
    reduction->parts = codelet_allocate(PARTS * reduction->length * sizeof(uint32_t));
    reduction->total = codelet_allocate(reduction->length * sizeof(uint32_t));
    if (!reduction->parts || !reduction->total) {
        reduction_destroy(reduction);
        return NULL;
    }
    generator_fill_words(setup->generator, STREAM_SLOPES, 0, reduction->slopes, PARTS);
    generator_fill_words(setup->generator, STREAM_OFFSETS, 0, reduction->offsets, PARTS);
    codelet_initialise(setup->init, PARTS, reduction_fill, reduction);
    return reduction;
}

/* Write what a part has to add: its line, a step of the slope an element, further on in each iteration. */
static void write_part(const struct reduction *reduction, size_t part, int iteration) {
    uint32_t *restrict elements = reduction->parts + part * reduction->length;
    const uint32_t slope = reduction->slopes[part];
    uint32_t line = reduction->offsets[part] * (uint32_t)(iteration + 1);
    for (size_t i = 0; i < reduction->length; i++, line += slope)
        elements[i] = line >> DROPPED_BITS;
}

/* Add up one block of all parts: a few parts at a time, each such group by twos. */
static void add_block(const struct reduction *reduction, size_t block) {
    uint32_t sums[BLOCK] = {0};
    for (size_t part = 0; part < PARTS; part += FAN_IN) {
        const uint32_t *first = reduction->parts + part * reduction->length + block * BLOCK;
        const uint32_t *second = first + reduction->length, *third = second + reduction->length;
        const uint32_t *fourth = third + reduction->length;
        for (int i = 0; i < BLOCK; i++)
            sums[i] += (first[i] + second[i]) + (third[i] + fourth[i]);
    }
    memcpy(reduction->total + block * BLOCK, sums, sizeof sums);
}

static void reduction_iterate(void *state, int iteration) {
    const struct reduction *reduction = state;
#pragma omp parallel
    {
#pragma omp for schedule(monotonic : runtime)
        for (size_t part = 0; part < PARTS; part++)
            write_part(reduction, part, iteration);
#pragma omp for schedule(monotonic : runtime)
        for (size_t block = 0; block < reduction->length / BLOCK; block++)
            add_block(reduction, block);
    }
}

static double reduction_checksum(const void *state) {
    const struct reduction *reduction = state;
    double sum = 0; /* of integers: exact */
    for (size_t i = 0; i < reduction->length; i++)
        sum += reduction->total[i];
    return sum;
}

/* Each element of the sum by itself, by a product where the kernel adds the slope up. */
static double reduction_deviation(const void *state, int iterations) {
    const struct reduction *reduction = state;
    uint64_t slopes[PARTS], offsets[PARTS];
    for (size_t part = 0; part < PARTS; part++) {
        slopes[part] = generator_word(reduction->generator, STREAM_SLOPES, part);
        offsets[part] = generator_word(reduction->generator, STREAM_OFFSETS, part) * (uint64_t)iterations;
    }
    double worst = 0;
    for (size_t i = 0; i < reduction->length; i++) {
        uint64_t sum = 0;
        for (size_t part = 0; part < PARTS; part++)
            sum += (offsets[part] + slopes[part] * i) % ((uint64_t)UINT32_MAX + 1) / (1 << DROPPED_BITS);
        worst = codelet_worse(worst, reduction->total[i], (double)sum);
    }
    return worst;
}

const struct codelet reduction_tree = {
    .name = "reduction-tree",
    .family = "reductions",
    .summary = "Writes one large array a part, then adds all of them up: each thread reads what every other "
               "wrote.",
    .iterations = 60,
    .tolerance = 0,
    CODELET_FUNCTIONS(reduction),
};
