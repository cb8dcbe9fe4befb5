/* reductions.c: a histogram of a large input.
 *
 * Modelled on the parallel histograms of Parboil's histo and of the first phase of NAS IS. Each thread
 * streams its share of the input and counts into bins of its own, which stay in its first cache and are
 * merged at the end; one value in 64 is also counted, atomically, in a larger table of bins that all threads
 * share. So the pattern is a stream of loads without stores to memory, plus a small and steady exchange of
 * cache lines between all threads. Which bits of a value are counted changes with the iteration.
 */
#include "codelet.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { UNIT = 4096, OWN_BINS = 2048, SHARED_BINS = 65536, STREAM_INPUT = 1 };

struct counts {
    size_t units;
    uint32_t *input;
    _Atomic uint64_t *shared;
    uint64_t merged[OWN_BINS];
    const struct generator *generator;
};

static size_t units_of(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {960, 6144, 23040};
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
    /* The shared bins are dealt out over the units. */
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
#pragma omp for schedule(runtime) nowait
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
    .working_set_bytes = counts_bytes,
    .create = counts_create,
    .iterate = counts_iterate,
    .checksum = counts_checksum,
    .deviation = counts_deviation,
    .destroy = counts_destroy,
};
