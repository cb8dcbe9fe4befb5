/* locked_merge.c: threads count in tables of their own and merge them into shared ones under a lock.
 *
 * locked-merge counts how often keys occur. In the first phase a unit of work has few keys: a thread counts
 * them by kind on its stack, and adds the counts to a shared table in a critical section. In the second,
 * units are sixteen times as large and the table is wider, so that fewer and longer merges happen; a third,
 * without a lock, looks up for every key how common its kind is. While threads of several nodes take turns,
 * the lock and the table's lines travel between nodes: threads of one node take turns sooner. It is modelled
 * on programs that collect partial results under a lock, as word counts of map and reduce do, or trees and
 * lists of events.
 */
#include "codelet.h"

#include <stdlib.h>

enum { UNIT_KEYS = 256, BLOCK_UNITS = 16, FEW_KINDS = 16, MANY_KINDS = 256, STREAM_KEYS = 1 };

struct merge {
    size_t units;     /* a multiple of BLOCK_UNITS */
    uint32_t *keys;   /* UNIT_KEYS a unit */
    uint32_t *common; /* for every key, the counts of its kinds so far */
    uint64_t few[FEW_KINDS], many[MANY_KINDS];
    const struct generator *generator;
};

static size_t merge_units(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {512, 2048, 8192, 32768};
    return units[size];
}

static size_t merge_bytes(enum codelet_size size) {
    return 2 * merge_units(size) * UNIT_KEYS * sizeof(uint32_t);
}

static void merge_destroy(void *state) {
    struct merge *merge = state;
    codelet_free(merge->keys);
    codelet_free(merge->common);
    free(merge);
}

static void merge_fill(void *state, size_t unit) {
    const struct merge *merge = state;
    const size_t first = unit * UNIT_KEYS;
    generator_fill_words(merge->generator, STREAM_KEYS, first / GENERATOR_BLOCK, merge->keys + first,
                         UNIT_KEYS);
    for (size_t i = first; i < first + UNIT_KEYS; i++)
        merge->common[i] = 0;
}

static void *merge_create(const struct codelet_setup *setup) {
    struct merge *merge = calloc(1, sizeof *merge);
    if (!merge)
        return NULL;
    merge->units = merge_units(setup->size);
    merge->generator = setup->generator;
    merge->keys = codelet_allocate(merge->units * UNIT_KEYS * sizeof(uint32_t));
    merge->common = codelet_allocate(merge->units * UNIT_KEYS * sizeof(uint32_t));
    if (!merge->keys || !merge->common) {
        merge_destroy(merge);
        return NULL;
    }
    codelet_initialise(setup->init, merge->units, merge_fill, merge);
    return merge;
}

/* Kinds differ from iteration to iteration. */
static inline uint32_t kind_of(uint32_t key, int iteration, uint32_t kinds) {
    return (key ^ (uint32_t)iteration * 2654435769u) >> 20 & (kinds - 1);
}

static void count_few(struct merge *merge, int iteration) {
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = 0; unit < merge->units; unit++) {
        uint32_t counts[FEW_KINDS] = {0};
        for (size_t i = unit * UNIT_KEYS; i < (unit + 1) * UNIT_KEYS; i++)
            counts[kind_of(merge->keys[i], iteration, FEW_KINDS)]++;
#pragma omp critical(few)
        for (size_t kind = 0; kind < FEW_KINDS; kind++)
            merge->few[kind] += counts[kind];
    }
}

static void count_many(struct merge *merge, int iteration) {
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t block = 0; block < merge->units / BLOCK_UNITS; block++) {
        uint32_t counts[MANY_KINDS] = {0};
        const size_t first = block * BLOCK_UNITS * UNIT_KEYS;
        for (size_t i = first; i < first + (size_t)BLOCK_UNITS * UNIT_KEYS; i++)
            counts[kind_of(merge->keys[i], iteration, MANY_KINDS)]++;
#pragma omp critical(many)
        for (size_t kind = 0; kind < MANY_KINDS; kind++)
            merge->many[kind] += counts[kind];
    }
}

static void look_up(const struct merge *merge, int iteration) {
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = 0; unit < merge->units; unit++)
        for (size_t i = unit * UNIT_KEYS; i < (unit + 1) * UNIT_KEYS; i++) {
            const uint32_t key = merge->keys[i];
            merge->common[i] += (uint32_t)(merge->few[kind_of(key, iteration, FEW_KINDS)] +
                                           merge->many[kind_of(key, iteration, MANY_KINDS)]);
        }
}

static void merge_iterate(void *state, int iteration) {
    struct merge *merge = state;
    count_few(merge, iteration);
    count_many(merge, iteration);
    look_up(merge, iteration);
}

static double merge_checksum(const void *state) {
    const struct merge *merge = state;
    uint64_t sum = 0;
    for (size_t i = 0; i < merge->units * UNIT_KEYS; i++)
        sum += (uint64_t)merge->common[i] * (i % 31 + 1);
    return (double)(sum >> 11);
}

/* Count the finest kinds once; an iteration only renames them, and coarse counts are sums of fine ones. */
static double merge_deviation(const void *state, int iterations) {
    const struct merge *merge = state;
    const size_t keys = merge->units * UNIT_KEYS;
    uint64_t found[MANY_KINDS] = {0}, few[FEW_KINDS] = {0}, many[MANY_KINDS] = {0};
    uint32_t common[MANY_KINDS] = {0}; /* by the key's own bits */
    for (size_t i = 0; i < keys; i++)
        found[generator_word(merge->generator, STREAM_KEYS, i) >> 20 & (MANY_KINDS - 1)]++;
    for (int iteration = 0; iteration < iterations; iteration++) {
        const uint32_t renamed = (uint32_t)iteration * 2654435769u >> 20 & (MANY_KINDS - 1);
        for (uint32_t bits = 0; bits < MANY_KINDS; bits++) {
            many[bits ^ renamed] += found[bits];
            few[(bits ^ renamed) % FEW_KINDS] += found[bits];
        }
        for (uint32_t bits = 0; bits < MANY_KINDS; bits++)
            common[bits] += (uint32_t)(few[(bits ^ renamed) % FEW_KINDS] + many[bits ^ renamed]);
    }
    double worst = 0;
    for (size_t kind = 0; kind < MANY_KINDS; kind++)
        worst = codelet_worse(worst, (double)merge->many[kind], (double)many[kind]);
    for (size_t kind = 0; kind < FEW_KINDS; kind++)
        worst = codelet_worse(worst, (double)merge->few[kind], (double)few[kind]);
    for (size_t i = 0; i < keys; i++) {
        const uint32_t word = generator_word(merge->generator, STREAM_KEYS, i);
        worst = codelet_worse(worst, merge->common[i], common[word >> 20 & (MANY_KINDS - 1)]);
    }
    return worst;
}

const struct codelet locked_merge = {
    .name = "locked-merge",
    .family = "application",
    .summary = "Counts keys in tables of the threads, which are merged into shared ones under a lock.",
    .iterations = 4,
    .tolerance = 0,
    CODELET_FUNCTIONS(merge),
};
