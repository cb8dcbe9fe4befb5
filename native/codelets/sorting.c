/* sorting.c: the steps of sorting by counting.
 *
 * is-ranking finds for each key how many are smaller, as the rank phase of NAS IS does. Each thread streams
 * its share of the keys and counts them in a table of its own, which fits its second cache; all tables are
 * added up, each thread reading a part of every other's; and in another stream of the keys each one's rank is
 * looked up in a table shared by all, at random, and written. Nothing but the tables is shared. As in IS, a
 * key changes from iteration to iteration.
 *
 * radix-sort is one pass of a stable sort by one digit of 8 bits, the least significant first, modelled on
 * the parallel radix sort of Blelloch and others (SPAA 1991) and of SPLASH-2. The pairs of a unit are counted
 * by digit, the counts of all units become places, and each pair is written to its place in another array:
 * 256 streams of writes a thread, which together reach all pages, next to other threads' writes. The next
 * iteration sorts the result by the next digit, round and round; by then that digit is in disorder again.
 */
#include "codelet.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ---- is-ranking ---- */

enum { KEY_UNIT = 8192, BINS = 65536, BIN_BLOCK = 512, BIN_BLOCKS = BINS / BIN_BLOCK, STREAM_KEYS = 1 };

struct ranking {
    size_t units;
    uint32_t *keys, *ranks;
    uint32_t *smaller;           /* for each value, how many keys of its block of bins are smaller */
    uint32_t blocks[BIN_BLOCKS]; /* for each block of bins, how many keys are in lower ones */
    uint32_t (*own)[BINS];       /* a table of counts for each thread, first touched by it */
    const struct generator *generator;
};

static size_t ranking_units(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {16, 180, 1280, 4800};
    return units[size];
}

static size_t ranking_bytes(enum codelet_size size) {
    return (2 * ranking_units(size) * KEY_UNIT + BINS) * sizeof(uint32_t);
}

static void ranking_destroy(void *state) {
    struct ranking *ranking = state;
    codelet_free(ranking->keys);
    codelet_free(ranking->ranks);
    codelet_free(ranking->smaller);
    free(ranking->own);
    free(ranking);
}

/* The mean of two uniform numbers: values in the middle are more frequent, as in IS. */
static uint32_t key_of(uint32_t word) { return ((word >> 16) + (word & 0xffff)) / 2; }

static void ranking_fill(void *state, size_t unit) {
    struct ranking *ranking = state;
    const size_t first = unit * KEY_UNIT;
    generator_fill_words(ranking->generator, STREAM_KEYS, first / GENERATOR_BLOCK, ranking->keys + first,
                         KEY_UNIT);
    for (size_t i = first; i < first + KEY_UNIT; i++) {
        ranking->keys[i] = key_of(ranking->keys[i]);
        ranking->ranks[i] = 0;
    }
    /* The shared table is distributed over the units. */
    const size_t end = (unit + 1) * BINS / ranking->units;
    for (size_t bin = unit * BINS / ranking->units; bin < end; bin++)
        ranking->smaller[bin] = 0;
}

static void *ranking_create(const struct codelet_setup *setup) {
    struct ranking *ranking = calloc(1, sizeof *ranking);
    if (!ranking)
        return NULL;
    ranking->units = ranking_units(setup->size);
    ranking->generator = setup->generator;
    ranking->keys = codelet_allocate(ranking->units * KEY_UNIT * sizeof(uint32_t));
    ranking->ranks = codelet_allocate(ranking->units * KEY_UNIT * sizeof(uint32_t));
    ranking->smaller = codelet_allocate(BINS * sizeof(uint32_t));
    ranking->own = aligned_alloc(4096, (size_t)omp_get_max_threads() * sizeof *ranking->own);
    if (!ranking->keys || !ranking->ranks || !ranking->smaller || !ranking->own) {
        ranking_destroy(ranking);
        return NULL;
    }
    codelet_initialise(setup->init, ranking->units, ranking_fill, ranking);
    return ranking;
}

/* Add up the threads' counts of one block of bins, and scan them. */
static void merge_bins(struct ranking *ranking, size_t block, int threads) {
    uint32_t counts[BIN_BLOCK] = {0}, sum = 0;
    uint32_t *smaller = ranking->smaller + block * BIN_BLOCK;
    for (int thread = 0; thread < threads; thread++)
        for (size_t bin = 0; bin < BIN_BLOCK; bin++)
            counts[bin] += ranking->own[thread][block * BIN_BLOCK + bin];
    for (size_t bin = 0; bin < BIN_BLOCK; bin++) {
        smaller[bin] = sum;
        sum += counts[bin];
    }
    ranking->blocks[block] = sum;
}

/* Replace each count by the sum of those before it. */
static void scan_counts(uint32_t *counts, size_t length) {
    uint32_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        const uint32_t count = counts[i];
        counts[i] = sum;
        sum += count;
    }
}

static void ranking_iterate(void *state, int iteration) {
    struct ranking *ranking = state;
    ranking->keys[(size_t)iteration % (ranking->units * KEY_UNIT)] ^= BINS / 2;
#pragma omp parallel
    {
        uint32_t *own = ranking->own[omp_get_thread_num()];
        memset(own, 0, sizeof *ranking->own);
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < ranking->units; unit++)
            for (size_t i = unit * KEY_UNIT; i < (unit + 1) * KEY_UNIT; i++)
                own[ranking->keys[i]]++;
#pragma omp for schedule(monotonic : runtime)
        for (size_t block = 0; block < BIN_BLOCKS; block++)
            merge_bins(ranking, block, omp_get_num_threads());
#pragma omp single
        scan_counts(ranking->blocks, BIN_BLOCKS);
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < ranking->units; unit++)
            for (size_t i = unit * KEY_UNIT; i < (unit + 1) * KEY_UNIT; i++) {
                const uint32_t key = ranking->keys[i];
                ranking->ranks[i] = ranking->blocks[key / BIN_BLOCK] + ranking->smaller[key];
            }
    }
}

static double ranking_checksum(const void *state) {
    const struct ranking *ranking = state;
    double sum = 0; /* of integers: exact */
    for (size_t i = 0; i < ranking->units * KEY_UNIT; i += 8)
        sum += ranking->ranks[i];
    return sum;
}

/* The key at a place after that many iterations: changed if its turn has come an odd number of times. */
static uint32_t key_after(const struct ranking *ranking, size_t place, size_t iterations) {
    const size_t count = ranking->units * KEY_UNIT;
    const size_t turns = iterations / count + (place < iterations % count);
    const uint32_t key = key_of(generator_word(ranking->generator, STREAM_KEYS, place));
    return turns % 2 ? (key + BINS / 2) % BINS : key;
}

/* Counted from above: all keys but those that are not smaller. */
static double ranking_deviation(const void *state, int iterations) {
    const struct ranking *ranking = state;
    const size_t count = ranking->units * KEY_UNIT;
    uint32_t *not_smaller = calloc(BINS, sizeof *not_smaller);
    if (!not_smaller)
        return DEVIATION_UNKNOWN;
    for (size_t i = 0; i < count; i++)
        not_smaller[key_after(ranking, i, (size_t)iterations)]++;
    for (size_t bin = BINS - 1; bin > 0; bin--)
        not_smaller[bin - 1] += not_smaller[bin];
    double worst = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t key = key_after(ranking, i, (size_t)iterations);
        worst = codelet_worse(worst, ranking->ranks[i], (double)(count - not_smaller[key]));
    }
    free(not_smaller);
    return worst;
}

const struct codelet is_ranking = {
    .name = "is-ranking",
    .family = "sorting",
    .summary =
        "Counts keys in a table a thread, adds the tables up, and looks up each key's rank in what all "
        "share.",
    .iterations = 16,
    .tolerance = 0,
    CODELET_FUNCTIONS(ranking),
};

/* ---- radix-sort ---- */

/* Places are made for 16 digits together: a cache line of a unit's counts. */
enum { PAIR_UNIT = 8192, DIGITS = 256, DIGIT_BITS = 8, DIGIT_GROUP = 16, KEY_DIGITS = 4, STREAM_PAIRS = 2 };

struct pair {
    uint32_t key, origin; /* origin: the pair's place in the beginning */
};

struct radix {
    size_t units;
    struct pair *front, *back; /* the present order, and the next */
    uint32_t (
        *places)[DIGITS];    /* for each unit and digit: first its count, then the place relative to starts */
    uint32_t starts[DIGITS]; /* where the pairs with each digit begin */
    const struct generator *generator;
};

static size_t radix_units(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {16, 96, 640, 2400};
    return units[size];
}

static size_t radix_bytes(enum codelet_size size) {
    return radix_units(size) * (2 * PAIR_UNIT * sizeof(struct pair) + DIGITS * sizeof(uint32_t));
}

static void radix_destroy(void *state) {
    struct radix *radix = state;
    codelet_free(radix->front);
    codelet_free(radix->back);
    codelet_free(radix->places);
    free(radix);
}

static void radix_fill(void *state, size_t unit) {
    struct radix *radix = state;
    uint32_t keys[PAIR_UNIT];
    const size_t first = unit * PAIR_UNIT;
    generator_fill_words(radix->generator, STREAM_PAIRS, first / GENERATOR_BLOCK, keys, PAIR_UNIT);
    for (size_t i = 0; i < PAIR_UNIT; i++) {
        radix->front[first + i] = (struct pair){keys[i], (uint32_t)(first + i)};
        radix->back[first + i] = (struct pair){0, 0};
    }
    for (size_t digit = 0; digit < DIGITS; digit++)
        radix->places[unit][digit] = 0;
}

static void *radix_create(const struct codelet_setup *setup) {
    struct radix *radix = calloc(1, sizeof *radix);
    if (!radix)
        return NULL;
    radix->units = radix_units(setup->size);
    radix->generator = setup->generator;
    radix->front = codelet_allocate(radix->units * PAIR_UNIT * sizeof(struct pair));
    radix->back = codelet_allocate(radix->units * PAIR_UNIT * sizeof(struct pair));
    radix->places = codelet_allocate(radix->units * sizeof *radix->places);
    if (!radix->front || !radix->back || !radix->places) {
        radix_destroy(radix);
        return NULL;
    }
    codelet_initialise(setup->init, radix->units, radix_fill, radix);
    return radix;
}

static uint32_t digit_of(uint32_t key, int shift) { return key >> shift & (DIGITS - 1); }

static void count_unit(struct radix *radix, size_t unit, int shift) {
    const struct pair *pairs = radix->front + unit * PAIR_UNIT;
    uint32_t counts[DIGITS] = {0};
    for (size_t i = 0; i < PAIR_UNIT; i++)
        counts[digit_of(pairs[i].key, shift)]++;
    memcpy(radix->places[unit], counts, sizeof counts);
}

/* Turn all units' counts of some digits into places, and leave each digit's total in starts. */
static void place_digits(struct radix *radix, size_t first) {
    uint32_t sums[DIGIT_GROUP] = {0};
    for (size_t unit = 0; unit < radix->units; unit++)
        for (size_t i = 0; i < DIGIT_GROUP; i++) {
            const uint32_t count = radix->places[unit][first + i];
            radix->places[unit][first + i] = sums[i];
            sums[i] += count;
        }
    memcpy(radix->starts + first, sums, sizeof sums);
}

static void scatter_unit(const struct radix *radix, size_t unit, int shift) {
    const struct pair *pairs = radix->front + unit * PAIR_UNIT;
    uint32_t places[DIGITS];
    for (size_t digit = 0; digit < DIGITS; digit++)
        places[digit] = radix->starts[digit] + radix->places[unit][digit];
    for (size_t i = 0; i < PAIR_UNIT; i++)
        radix->back[places[digit_of(pairs[i].key, shift)]++] = pairs[i];
}

static void radix_iterate(void *state, int iteration) {
    struct radix *radix = state;
    const int shift = iteration % KEY_DIGITS * DIGIT_BITS;
#pragma omp parallel
    {
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < radix->units; unit++)
            count_unit(radix, unit, shift);
#pragma omp for schedule(monotonic : runtime)
        for (size_t digit = 0; digit < DIGITS; digit += DIGIT_GROUP)
            place_digits(radix, digit);
#pragma omp single
        scan_counts(radix->starts, DIGITS);
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < radix->units; unit++)
            scatter_unit(radix, unit, shift);
    }
    struct pair *sorted = radix->back;
    radix->back = radix->front;
    radix->front = sorted;
}

static double radix_checksum(const void *state) {
    const struct radix *radix = state;
    double sum = 0; /* of integers: exact */
    for (size_t i = 0; i < radix->units * PAIR_UNIT; i += 8)
        sum += radix->front[i].key;
    return sum;
}

/* By which the pairs are in order after that many passes: the latest digit counts most, then those before it;
 * among equals the origin decides. Digits that no pass has sorted by do not count. */
static uint64_t order_of(struct pair pair, int passes) {
    const int latest = (passes - 1) % KEY_DIGITS, sorted = passes < KEY_DIGITS ? passes : KEY_DIGITS;
    uint64_t order = 0;
    for (int i = 0; i < sorted; i++)
        order =
            order * DIGITS + pair.key / (UINT32_C(1) << (latest + KEY_DIGITS - i) % KEY_DIGITS * 8) % DIGITS;
    return order << 32 | pair.origin;
}

/* Without sorting: pairs that all are the generator's, in strictly rising order, as many as there were, are
 * the same pairs in order. Returns how many are not. */
static double radix_deviation(const void *state, int iterations) {
    const struct radix *radix = state;
    const size_t count = radix->units * PAIR_UNIT;
    double wrong = 0;
    uint64_t previous = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pair pair = radix->front[i];
        const uint64_t order = order_of(pair, iterations);
        const int risen = i == 0 || order > previous;
        wrong += !risen || pair.origin >= count ||
                 pair.key != generator_word(radix->generator, STREAM_PAIRS, pair.origin);
        previous = order;
    }
    return wrong;
}

const struct codelet radix_sort = {
    .name = "radix-sort",
    .family = "sorting",
    .summary =
        "Sorts pairs by one digit of their keys, scattering each share over all pages of another array.",
    .iterations = 12,
    .tolerance = 0,
    CODELET_FUNCTIONS(radix),
};
