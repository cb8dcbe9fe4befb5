/* barrier_pipeline.c: two triangular systems solved level by level, with a barrier after each level.
 *
 * barrier-pipeline solves with a sparse lower triangular matrix and then with an upper one, as an incomplete
 * factorisation is applied. Rows are in levels: a row needs rows of the level before it alone, so that the
 * rows of a level are solved in parallel and all threads wait before the next. Levels are narrow, most of
 * them, and a few are wide. An iteration is one region for each of both solutions, with 768 barriers, after
 * one of real size that scales all rows. Between two barriers there is little to do: what a barrier costs
 * decides, and threads of one node wait less for each other. It is modelled on level-scheduled triangular
 * solvers and on the hyperplanes of NPB's LU.
 *
 * Numbers are integers modulo 2^32, so that the systems have exact solutions.
 */
#include "codelet.h"

#include <stdlib.h>

enum {
    UNIT_ROWS = 16,
    ENTRIES = 4,
    LEVELS = 768,
    CYCLE = 16,
    STREAM_ROWS = 1,
    STREAM_LOWER = 2,
    STREAM_UPPER = 3
};

#define SCALE 2654435769u /* odd, so that it has an inverse */

struct levels {
    size_t first[LEVELS + 1]; /* each level's first row */
    uint32_t *rows;           /* the right sides, then the solution */
    uint32_t *lower, *upper;  /* ENTRIES entries a row, in the level before and behind it */
    const struct generator *generator;
};

/* Of sixteen levels one is eight times as wide as the narrowest, two four times, four twice. */
static size_t level_units(enum codelet_size size, size_t level) {
    static const size_t units[SIZE_COUNT] = {1, 4, 16, 64};
    static const size_t times[CYCLE] = {1, 1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1};
    return units[size] * times[level % CYCLE];
}

static size_t all_rows(enum codelet_size size) {
    size_t rows = 0;
    for (size_t level = 0; level < LEVELS; level++)
        rows += level_units(size, level) * UNIT_ROWS;
    return rows;
}

static size_t levels_bytes(enum codelet_size size) {
    return all_rows(size) * (1 + 2 * ENTRIES) * sizeof(uint32_t);
}

static void levels_destroy(void *state) {
    struct levels *levels = state;
    codelet_free(levels->rows);
    codelet_free(levels->lower);
    codelet_free(levels->upper);
    free(levels);
}

static void levels_fill(void *state, size_t unit) {
    const struct levels *levels = state;
    const struct generator *generator = levels->generator;
    const size_t row = unit * GENERATOR_BLOCK, entry = row * ENTRIES, block = entry / GENERATOR_BLOCK;
    generator_fill_words(generator, STREAM_ROWS, unit, levels->rows + row, GENERATOR_BLOCK);
    generator_fill_words(generator, STREAM_LOWER, block, levels->lower + entry, GENERATOR_BLOCK * ENTRIES);
    generator_fill_words(generator, STREAM_UPPER, block, levels->upper + entry, GENERATOR_BLOCK * ENTRIES);
}

static void *levels_create(const struct codelet_setup *setup) {
    struct levels *levels = calloc(1, sizeof *levels);
    if (!levels)
        return NULL;
    for (size_t level = 0; level < LEVELS; level++)
        levels->first[level + 1] = levels->first[level] + level_units(setup->size, level) * UNIT_ROWS;
    const size_t rows = levels->first[LEVELS];
    levels->generator = setup->generator;
    levels->rows = codelet_allocate(rows * sizeof(uint32_t));
    levels->lower = codelet_allocate(rows * ENTRIES * sizeof(uint32_t));
    levels->upper = codelet_allocate(rows * ENTRIES * sizeof(uint32_t));
    if (!levels->rows || !levels->lower || !levels->upper) {
        levels_destroy(levels);
        return NULL;
    }
    codelet_initialise(setup->init, rows / GENERATOR_BLOCK, levels_fill, levels);
    return levels;
}

/* An entry's word says both which row of a level it is in, by the upper half, and its value. */
static inline size_t column_of(uint32_t entry, size_t first, size_t end) {
    return first + ((size_t)(entry >> 16) * (end - first) >> 16);
}

/* What a row's entries make of the solved rows from `first` to `end`. */
static inline uint32_t known_part(const uint32_t *restrict entries, const uint32_t *restrict rows,
                                  size_t first, size_t end) {
    uint32_t sum = 0;
    for (int entry = 0; entry < ENTRIES; entry++)
        sum += entries[entry] * rows[column_of(entries[entry], first, end)];
    return sum;
}

/* Solve a level by the rows of another; all threads of the team call it, and leave it together. */
static void solve_level(const struct levels *levels, const uint32_t *entries, size_t level, size_t by) {
    const size_t first = levels->first[by], end = levels->first[by + 1];
    const size_t units = levels->first[level + 1] / UNIT_ROWS;
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = levels->first[level] / UNIT_ROWS; unit < units; unit++)
        for (size_t row = unit * UNIT_ROWS; row < (unit + 1) * UNIT_ROWS; row++)
            levels->rows[row] -= known_part(entries + row * ENTRIES, levels->rows, first, end);
}

static void levels_iterate(void *state, int iteration) {
    const struct levels *levels = state;
    const size_t units = levels->first[LEVELS] / UNIT_ROWS;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = 0; unit < units; unit++)
        for (size_t row = unit * UNIT_ROWS; row < (unit + 1) * UNIT_ROWS; row++)
            levels->rows[row] = levels->rows[row] * SCALE + (uint32_t)iteration;
#pragma omp parallel
    for (size_t level = 1; level < LEVELS; level++)
        solve_level(levels, levels->lower, level, level - 1);
#pragma omp parallel
    for (size_t level = LEVELS - 1; level-- > 0;)
        solve_level(levels, levels->upper, level, level + 1);
}

static double levels_checksum(const void *state) {
    const struct levels *levels = state;
    uint64_t sum = 0;
    for (size_t row = 0; row < levels->first[LEVELS]; row++)
        sum += (uint64_t)levels->rows[row] * (row % 31 + 1);
    return (double)(sum >> 11);
}

/* Multiply a level by the triangular matrix, whose entries come from the generator. */
static void multiply_level(const struct levels *levels, uint32_t *rows, uint32_t stream, size_t level,
                           size_t by) {
    for (size_t row = levels->first[level]; row < levels->first[level + 1]; row++)
        for (size_t entry = row * ENTRIES; entry < (row + 1) * ENTRIES; entry++) {
            const uint32_t word = generator_word(levels->generator, stream, entry);
            rows[row] += word * rows[column_of(word, levels->first[by], levels->first[by + 1])];
        }
}

static uint32_t inverse_of(uint32_t odd) {
    uint32_t inverse = odd; /* right in its last three bits; each step doubles them */
    for (int step = 0; step < 4; step++)
        inverse *= 2 - odd * inverse;
    return inverse;
}

/* Multiply the solution by both matrices, once for each iteration, and compare with the first right sides. */
static double levels_deviation(const void *state, int iterations) {
    const struct levels *levels = state;
    const size_t count = levels->first[LEVELS];
    uint32_t *rows = malloc(count * sizeof *rows);
    if (!rows)
        return DEVIATION_UNKNOWN;
    for (size_t row = 0; row < count; row++)
        rows[row] = levels->rows[row];
    for (int iteration = iterations; iteration-- > 0;) {
        for (size_t level = 0; level < LEVELS - 1; level++)
            multiply_level(levels, rows, STREAM_UPPER, level, level + 1);
        for (size_t level = LEVELS - 1; level > 0; level--)
            multiply_level(levels, rows, STREAM_LOWER, level, level - 1);
        for (size_t row = 0; row < count; row++)
            rows[row] = (rows[row] - (uint32_t)iteration) * inverse_of(SCALE);
    }
    double worst = 0;
    for (size_t row = 0; row < count; row++)
        worst = codelet_worse(worst, rows[row], generator_word(levels->generator, STREAM_ROWS, row));
    free(rows);
    return worst;
}

const struct codelet barrier_pipeline = {
    .name = "barrier-pipeline",
    .family = "application",
    .summary =
        "Solves two triangular systems level by level, with a barrier after each of hundreds of levels.",
    .iterations = 3,
    .tolerance = 0,
    CODELET_FUNCTIONS(levels),
};
