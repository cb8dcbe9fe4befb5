/* heat.c: a step of heat diffusion on a chip.
 *
 * hotspot steps the temperature of a chip in single precision: a cell gains heat from its own power, from its
 * four neighbours and from the air around the chip. Two grids of temperatures change places, and a third
 * grid, of power, is read once a step and never again within it. A thread owns contiguous rows of all three
 * and reads one row of temperatures of each neighbour; three streams and little computing make it bound by
 * bandwidth. The air's temperature changes from step to step. It is modelled on Rodinia's hotspot.
 */
#include "codelet.h"

#include <stdlib.h>

#define PI 3.14159265358979323846

enum { MAX_COLUMNS = 5632, STREAM_STEADY = 1 };

/* A step's exchange with the neighbours along x and y, and with the air; powers of two, so that the power
 * that keeps a given temperature steady is exact. */
static const float ALONG_X = 0x1p-3f, ALONG_Y = 0x1p-4f, WITH_AIR = 0x1p-6f;

static const float AIR = 64.0f;

struct chip {
    size_t n;
    float *front, *back, *power; /* n x n; the present temperatures, the next, and the heat made in a step */
    double *wave_x, *wave_y;     /* the starting disturbance along each axis */
    double amplitude, decay;     /* its height, and what a step leaves of it */
    const struct generator *generator;
};

static size_t chip_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {384, 1152, 2624, MAX_COLUMNS}; /* multiples of GENERATOR_BLOCK */
    return n[size];
}

static size_t chip_array_bytes(enum codelet_size size) { return chip_n(size) * chip_n(size) * sizeof(float); }

static size_t chip_bytes(enum codelet_size size) { return 3 * chip_array_bytes(size); }

static void chip_destroy(void *state) {
    struct chip *chip = state;
    codelet_free(chip->front);
    codelet_free(chip->back);
    codelet_free(chip->power);
    free(chip->wave_x);
    free(chip->wave_y);
    free(chip);
}

/* The neighbours of a row or column, at an edge itself. */
static size_t before(size_t i) { return i > 0 ? i - 1 : 0; }

static size_t after(size_t i, size_t count) { return i + 1 < count ? i + 1 : i; }

/* One row of the temperatures that the power keeps steady while the air's does not change. */
static void steady_row(const struct chip *chip, size_t row, float *out) {
    generator_fill_quanta(chip->generator, STREAM_STEADY, row * chip->n / GENERATOR_BLOCK, out, chip->n);
    for (size_t column = 0; column < chip->n; column++)
        out[column] = 72.0f + 16.0f * out[column];
}

static void chip_fill(void *state, size_t row) {
    const struct chip *chip = state;
    const size_t n = chip->n;
    const double height = chip->amplitude * chip->wave_y[row];
    float steady[MAX_COLUMNS], above[MAX_COLUMNS], below[MAX_COLUMNS];
    steady_row(chip, row, steady);
    steady_row(chip, before(row), above);
    steady_row(chip, after(row, n), below);
    for (size_t column = 0; column < n; column++) {
        const size_t cell = row * n + column;
        const float here = steady[column];
        const float across = steady[before(column)] + steady[after(column, n)] - 2 * here;
        const float down = above[column] + below[column] - 2 * here;
        chip->power[cell] = WITH_AIR * (here - AIR) - ALONG_X * across - ALONG_Y * down;
        chip->front[cell] = here + (float)(height * chip->wave_x[column]);
        chip->back[cell] = 0;
    }
}

static void *chip_create(const struct codelet_setup *setup) {
    struct chip *chip = calloc(1, sizeof *chip);
    if (!chip)
        return NULL;
    const size_t n = chip->n = chip_n(setup->size);
    chip->generator = setup->generator;
    chip->front = codelet_allocate(chip_array_bytes(setup->size));
    chip->back = codelet_allocate(chip_array_bytes(setup->size));
    chip->power = codelet_allocate(chip_array_bytes(setup->size));
    chip->wave_x = malloc(n * sizeof(double));
    chip->wave_y = malloc(n * sizeof(double));
    if (!chip->front || !chip->back || !chip->power || !chip->wave_x || !chip->wave_y) {
        chip_destroy(chip);
        return NULL;
    }
    const uint64_t hash = generator_hash(setup->generator, 0, 0);
    const double step_x = PI * (double)(16 + hash % 16) / (double)n;
    const double step_y = PI * (double)(16 + hash / 16 % 16) / (double)n;
    /* Where edges pass no heat, products of cosines at the cells' centres are eigenvectors of a step. */
    for (size_t i = 0; i < n; i++) {
        chip->wave_x[i] = cos(step_x * ((double)i + 0.5));
        chip->wave_y[i] = cos(step_y * ((double)i + 0.5));
    }
    chip->amplitude = 4 + (double)(hash >> 44) * 0x1p-18;
    chip->decay = 1 - (double)WITH_AIR - 2 * (double)ALONG_X * (1 - cos(step_x)) -
                  2 * (double)ALONG_Y * (1 - cos(step_y));
    codelet_initialise(setup->init, n, chip_fill, chip);
    return chip;
}

/* How much warmer the air is than AIR. */
static int warmer(int iteration) { return iteration % 4; }

static inline float stepped(float here, float power, float across, float down, float air) {
    return here +
           (power + ALONG_X * (across - 2 * here) + ALONG_Y * (down - 2 * here) + WITH_AIR * (air - here));
}

static void chip_iterate(void *state, int iteration) {
    struct chip *chip = state;
    const size_t n = chip->n, last = n - 1;
    const float air = AIR + (float)warmer(iteration);
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t row = 0; row < n; row++) {
        const float *restrict here = chip->front + row * n, *restrict power = chip->power + row * n;
        const float *restrict above = chip->front + before(row) * n;
        const float *restrict below = chip->front + after(row, n) * n;
        float *restrict next = chip->back + row * n;
        next[0] = stepped(here[0], power[0], here[0] + here[1], above[0] + below[0], air);
        for (size_t i = 1; i < last; i++)
            next[i] = stepped(here[i], power[i], here[i - 1] + here[i + 1], above[i] + below[i], air);
        next[last] =
            stepped(here[last], power[last], here[last - 1] + here[last], above[last] + below[last], air);
    }
    float *done = chip->back;
    chip->back = chip->front;
    chip->front = done;
}

static double chip_checksum(const void *state) {
    const struct chip *chip = state;
    double sum = 0;
    for (size_t i = 0; i < chip->n * chip->n; i += 7)
        sum += (double)chip->front[i];
    return sum;
}

/* The closed form: the steady part, the decayed wave, and what the changing air adds to all cells alike. */
static double chip_deviation(const void *state, int iterations) {
    const struct chip *chip = state;
    const double amplitude = chip->amplitude * pow(chip->decay, iterations);
    double added = 0, worst = 0;
    float steady[MAX_COLUMNS];
    for (int iteration = 0; iteration < iterations; iteration++)
        added += (double)WITH_AIR * (warmer(iteration) - added);
    for (size_t row = 0; row < chip->n; row++) {
        steady_row(chip, row, steady);
        for (size_t column = 0; column < chip->n; column++) {
            const double wave = amplitude * chip->wave_x[column] * chip->wave_y[row];
            worst = codelet_worse(worst, (double)chip->front[row * chip->n + column],
                                  (double)steady[column] + wave + added);
        }
    }
    return worst;
}

const struct codelet hotspot = {
    .name = "hotspot",
    .family = "stencils",
    .summary =
        "Steps a grid of temperatures into another, with a third grid of power, each thread its own rows.",
    .iterations = 60,
    .tolerance = 1e-5,
    CODELET_FUNCTIONS(chip),
};
