/* serial_part.c: parallel phases of real size, between which one thread does what cannot be shared.
 *
 * serial-part advances a large array of cells in parallel. Then the first thread alone walks a sample of them
 * in a chain, each link of which needs the one before, and leaves a table of it. A second parallel phase adds
 * the table's numbers to another large array, a third, short one counts the table's marks. The serial walk
 * takes a good part of the time, and reads lines that threads of all nodes have just written: the nearer
 * these are, the sooner it ends. It is modelled on programs that set a time step, renumber, or pack
 * boundaries serially between loops (Amdahl's law).
 *
 * Numbers are integers modulo 2^32, so that sums are exact in any order.
 */
#include "codelet.h"

#include <stdlib.h>

enum { UNIT_CELLS = 1024, SAMPLED = 128, STREAM_CELLS = 1, STREAM_SUMS = 2 };

/* The generator of Numerical Recipes (ch. 7.1): a cell's next value; and a chain's factor. */
#define MULTIPLIER 1664525u
#define INCREMENT 1013904223u
#define LINK 2654435769u

struct parts {
    size_t units;
    uint32_t *cells, *sums; /* UNIT_CELLS a unit */
    uint32_t *table;        /* a number a unit: the chain where it leaves it */
    uint64_t marks;         /* numbers of all tables whose last bit is set */
    const struct generator *generator;
};

static size_t parts_units(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {128, 512, 4096, 16384};
    return units[size];
}

static size_t parts_bytes(enum codelet_size size) {
    return parts_units(size) * (2 * UNIT_CELLS + 1) * sizeof(uint32_t);
}

static void parts_destroy(void *state) {
    struct parts *parts = state;
    codelet_free(parts->cells);
    codelet_free(parts->sums);
    codelet_free(parts->table);
    free(parts);
}

static void parts_fill(void *state, size_t unit) {
    const struct parts *parts = state;
    const size_t first = unit * UNIT_CELLS, block = first / GENERATOR_BLOCK;
    generator_fill_words(parts->generator, STREAM_CELLS, block, parts->cells + first, UNIT_CELLS);
    generator_fill_words(parts->generator, STREAM_SUMS, block, parts->sums + first, UNIT_CELLS);
    parts->table[unit] = 0;
}

static void *parts_create(const struct codelet_setup *setup) {
    struct parts *parts = calloc(1, sizeof *parts);
    if (!parts)
        return NULL;
    parts->units = parts_units(setup->size);
    parts->generator = setup->generator;
    parts->cells = codelet_allocate(parts->units * UNIT_CELLS * sizeof(uint32_t));
    parts->sums = codelet_allocate(parts->units * UNIT_CELLS * sizeof(uint32_t));
    parts->table = codelet_allocate(parts->units * sizeof(uint32_t));
    if (!parts->cells || !parts->sums || !parts->table) {
        parts_destroy(parts);
        return NULL;
    }
    codelet_initialise(setup->init, parts->units, parts_fill, parts);
    return parts;
}

static void advance(const struct parts *parts) {
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = 0; unit < parts->units; unit++)
        for (size_t i = unit * UNIT_CELLS; i < (unit + 1) * UNIT_CELLS; i++)
            parts->cells[i] = parts->cells[i] * MULTIPLIER + INCREMENT;
}

/* Each link's place in its unit depends on the chain: nobody can read ahead. */
static inline size_t place_of(uint32_t chain, size_t unit) { return unit * UNIT_CELLS + (chain >> 22); }

static void walk(const struct parts *parts, int iteration) {
    uint32_t chain = (uint32_t)iteration;
    for (size_t unit = 0; unit < parts->units; unit++) {
        for (int link = 0; link < SAMPLED; link++)
            chain = (chain ^ parts->cells[place_of(chain, unit)]) * LINK + 1;
        parts->table[unit] = chain;
    }
}

static void add_table(const struct parts *parts) {
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = 0; unit < parts->units; unit++)
        for (size_t i = unit * UNIT_CELLS; i < (unit + 1) * UNIT_CELLS; i++)
            parts->sums[i] += parts->table[unit] ^ parts->cells[i];
}

static uint64_t marks_of(const struct parts *parts) {
    uint64_t marks = 0;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime) reduction(+ : marks)
    for (size_t unit = 0; unit < parts->units; unit++)
        marks += parts->table[unit] & 1;
    return marks;
}

static void parts_iterate(void *state, int iteration) {
    struct parts *parts = state;
    advance(parts);
    walk(parts, iteration);
    add_table(parts);
    parts->marks += marks_of(parts);
}

static double parts_checksum(const void *state) {
    const struct parts *parts = state;
    uint64_t sum = parts->marks;
    for (size_t i = 0; i < parts->units * UNIT_CELLS; i++)
        sum += (uint64_t)parts->sums[i] * (i % 31 + 1);
    return (double)(sum >> 11);
}

/* A cell of the generator after so many iterations, by what these multiply by and add together. */
static uint32_t cell_after(const struct parts *parts, size_t i, uint32_t multiplier, uint32_t increment) {
    return generator_word(parts->generator, STREAM_CELLS, i) * multiplier + increment;
}

/* The chains on cells in closed form; then each array cell by cell, all iterations of one after the other. */
static double parts_deviation(const void *state, int iterations) {
    const struct parts *parts = state;
    const size_t count = (size_t)iterations * parts->units;
    uint32_t *tables = malloc((count ? count : 1) * sizeof *tables);
    uint32_t *multipliers = malloc(((size_t)iterations + 1) * sizeof *multipliers);
    uint32_t *increments = malloc(((size_t)iterations + 1) * sizeof *increments);
    double worst = tables && multipliers && increments ? 0 : DEVIATION_UNKNOWN;
    if (worst == 0) {
        uint64_t marks = 0;
        multipliers[0] = 1;
        increments[0] = 0;
        for (int k = 0; k < iterations; k++) {
            multipliers[k + 1] = multipliers[k] * MULTIPLIER;
            increments[k + 1] = increments[k] + multipliers[k] * INCREMENT;
            uint32_t chain = (uint32_t)k;
            for (size_t link = 0; link < parts->units * SAMPLED; link++) {
                const size_t i = place_of(chain, link / SAMPLED);
                chain = (chain ^ cell_after(parts, i, multipliers[k + 1], increments[k + 1])) * LINK + 1;
                tables[(size_t)k * parts->units + link / SAMPLED] = chain;
            }
        }
        for (size_t at = 0; at < count; at++)
            marks += tables[at] % 2;
        worst = codelet_worse(worst, (double)parts->marks, (double)marks);
        for (size_t i = 0; i < parts->units * UNIT_CELLS; i++) {
            uint32_t sum = generator_word(parts->generator, STREAM_SUMS, i), cell = 0;
            for (int k = 0; k < iterations; k++) {
                cell = cell_after(parts, i, multipliers[k + 1], increments[k + 1]);
                sum += tables[(size_t)k * parts->units + i / UNIT_CELLS] ^ cell;
            }
            worst = codelet_worse(worst, parts->cells[i], cell);
            worst = codelet_worse(worst, parts->sums[i], sum);
        }
    }
    free(tables);
    free(multipliers);
    free(increments);
    return worst;
}

const struct codelet serial_part = {
    .name = "serial-part",
    .family = "application",
    .summary = "Advances large arrays in parallel, and between the loops walks a sample of one serially.",
    .iterations = 6,
    .tolerance = 0,
    CODELET_FUNCTIONS(parts),
};
