/* random_pairs.c: counting pairs of normal deviates by size.
 *
 * Modelled on NAS EP. A sequence of pseudo-random numbers is cut into stretches; for each of its share a
 * thread takes the numbers in pairs, keeps those pairs that fall into a circle, makes each a pair of normal
 * deviates by the polar method, and counts it by the larger of the two. Only registers and the first cache
 * are used: the table has one cache line a stretch, where its thread finds the generator's state and leaves
 * the counts. So time is computing, a logarithm and a square root for most pairs, and no placement of threads
 * or pages matters but by the processors' clocks. Stretches are of equal length, but for the pairs rejected.
 *
 * The sequence runs on over all stretches and then over all iterations, as if made serially: each stretch
 * jumps ahead over the others' numbers, by one multiplication.
 */
#include "codelet.h"

#include <stdlib.h>

enum { PAIRS = 4096, ANNULI = 7 };

/* A multiplicative congruential generator modulo 2^64, with the multiplier of Knuth's MMIX. */
static const uint64_t MULTIPLIER = 6364136223846793005u;

struct stretch {
    uint64_t state;          /* before the next iteration's first number */
    uint64_t counts[ANNULI]; /* pairs whose larger deviate is in [annulus, annulus + 1); the last is open */
};

struct pairs {
    size_t stretches;
    struct stretch *table;
    uint64_t seed, jump; /* jump: what leads over all stretches but one */
};

static size_t stretches_of(enum codelet_size size) {
    static const size_t stretches[SIZE_COUNT] = {16, 96, 1024, 2048};
    return stretches[size];
}

static size_t pairs_bytes(enum codelet_size size) { return stretches_of(size) * sizeof(struct stretch); }

static void pairs_destroy(void *state) {
    struct pairs *pairs = state;
    codelet_free(pairs->table);
    free(pairs);
}

/* The multiplier that leads over so many numbers at once: a power, by repeated squaring. */
static uint64_t jump_over(size_t numbers) {
    uint64_t jump = 1;
    for (uint64_t power = MULTIPLIER; numbers; numbers /= 2, power *= power)
        if (numbers % 2)
            jump *= power;
    return jump;
}

static void pairs_fill(void *state, size_t unit) {
    struct pairs *pairs = state;
    pairs->table[unit] = (struct stretch){.state = pairs->seed * jump_over(2 * PAIRS * unit)};
}

static void *pairs_create(const struct codelet_setup *setup) {
    struct pairs *pairs = calloc(1, sizeof *pairs);
    if (!pairs)
        return NULL;
    pairs->stretches = stretches_of(setup->size);
    pairs->seed = generator_hash(setup->generator, 0, 0) | 1; /* odd: the longest period, and never 0 */
    pairs->jump = jump_over(2 * PAIRS * (pairs->stretches - 1));
    pairs->table = codelet_allocate(pairs_bytes(setup->size));
    if (!pairs->table) {
        pairs_destroy(pairs);
        return NULL;
    }
    codelet_initialise(setup->init, pairs->stretches, pairs_fill, pairs);
    return pairs;
}

/* The next number of the sequence, in [-1, 1). */
static double next_number(uint64_t *state) {
    *state *= MULTIPLIER;
    return (double)(int64_t)*state * 0x1p-63;
}

static void count_pairs(struct stretch *stretch, uint64_t jump) {
    struct stretch own = *stretch;
    for (int pair = 0; pair < PAIRS; pair++) {
        const double x = next_number(&own.state), y = next_number(&own.state);
        const double square = x * x + y * y;
        if (square > 1)
            continue;
        const double larger = fmax(fabs(x), fabs(y)) * sqrt(-2 * log(square) / square);
        own.counts[larger < ANNULI ? (int)larger : ANNULI - 1]++;
    }
    own.state *= jump;
    *stretch = own;
}

static void pairs_iterate(void *state, int iteration) {
    const struct pairs *pairs = state;
    (void)iteration;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t stretch = 0; stretch < pairs->stretches; stretch++)
        count_pairs(&pairs->table[stretch], pairs->jump);
}

static double pairs_checksum(const void *state) {
    const struct pairs *pairs = state;
    double sum = 0; /* of integers: exact */
    for (size_t stretch = 0; stretch < pairs->stretches; stretch++)
        for (int annulus = 0; annulus < ANNULI; annulus++)
            sum += (double)(pairs->table[stretch].counts[annulus] * (stretch % 97 + 1) *
                            (uint64_t)(annulus + 1));
    return sum;
}

/* The larger deviate's annulus, without root or logarithm: the deviate is above a bound where the square is
 * below an exponential. */
static int annulus_of(double x, double y, double square) {
    const double exponent = square / (2 * fmax(x * x, y * y));
    int annulus = 0;
    while (annulus < ANNULI - 1 && square <= exp(-(annulus + 1) * (annulus + 1) * exponent))
        annulus++;
    return annulus;
}

/* The sequence once through, number by number, without a jump. */
static double pairs_deviation(const void *state, int iterations) {
    const struct pairs *pairs = state;
    uint64_t(*counts)[ANNULI] = calloc(pairs->stretches, sizeof *counts);
    if (!counts)
        return DEVIATION_UNKNOWN;
    uint64_t number = pairs->seed;
    for (int iteration = 0; iteration < iterations; iteration++)
        for (size_t i = 0; i < pairs->stretches * PAIRS; i++) {
            const double x = next_number(&number), y = next_number(&number);
            if (x * x + y * y <= 1)
                counts[i / PAIRS][annulus_of(x, y, x * x + y * y)]++;
        }
    double worst = 0;
    for (size_t stretch = 0; stretch < pairs->stretches; stretch++)
        for (int annulus = 0; annulus < ANNULI; annulus++)
            worst = codelet_worse(worst, (double)pairs->table[stretch].counts[annulus],
                                  (double)counts[stretch][annulus]);
    free(counts);
    return worst;
}

const struct codelet ep_pairs = {
    .name = "ep-pairs",
    .family = "independent",
    .summary = "Computes normal deviates from pseudo-random pairs and counts them, with hardly any memory "
               "traffic.",
    .iterations = 16,
    .tolerance = 0,
    CODELET_FUNCTIONS(pairs),
};
