/* smoother.c: the smoothing step of a multigrid cycle.
 *
 * mg-smooth adds to one grid a 27-point stencil of another, whose coefficient depends on the number of axes a
 * neighbour is off by, as psinv of NAS MG does. Sums over the four nearest and the four diagonal cells next
 * to a line are kept along it, so that each is made once and used three times. Two grids are read and a third
 * is written; a thread owns contiguous planes and reads one plane of each neighbour, and three planes of the
 * stencil's grid must stay in cache for a cell to be read from memory once.
 */
#include "codelet.h"

#include <stdlib.h>

enum { SMOOTH_MAX = 240, STREAM_SOLUTION = 1, STREAM_RESIDUAL = 2 };

/* By the number of axes that a neighbour is off by. */
static const double coefficients[4] = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 1.0 / 128};

struct smoother {
    size_t n, planes; /* a plane has n x n cells */
    double *solution, *residual, *smoothed;
    const struct generator *generator;
};

static size_t smoother_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {40, 80, 160, SMOOTH_MAX};
    return n[size];
}

static size_t smoother_planes(enum codelet_size size) {
    static const size_t planes[SIZE_COUNT] = {32, 80, 144, 240};
    return planes[size];
}

static size_t smoother_array_bytes(enum codelet_size size) {
    return smoother_n(size) * smoother_n(size) * smoother_planes(size) * sizeof(double);
}

static size_t smoother_bytes(enum codelet_size size) { return 3 * smoother_array_bytes(size); }

static void smoother_destroy(void *state) {
    struct smoother *smoother = state;
    codelet_free(smoother->solution);
    codelet_free(smoother->residual);
    codelet_free(smoother->smoothed);
    free(smoother);
}

static void smoother_fill(void *state, size_t plane) {
    struct smoother *smoother = state;
    const size_t length = smoother->n * smoother->n, first = plane * length, block = first / GENERATOR_BLOCK;
    generator_fill_reals(smoother->generator, STREAM_SOLUTION, block, smoother->solution + first, length);
    generator_fill_reals(smoother->generator, STREAM_RESIDUAL, block, smoother->residual + first, length);
    for (size_t i = first; i < first + length; i++)
        smoother->smoothed[i] = 0;
}

static void *smoother_create(const struct codelet_setup *setup) {
    struct smoother *smoother = calloc(1, sizeof *smoother);
    if (!smoother)
        return NULL;
    smoother->n = smoother_n(setup->size);
    smoother->planes = smoother_planes(setup->size);
    smoother->generator = setup->generator;
    smoother->solution = codelet_allocate(smoother_array_bytes(setup->size));
    smoother->residual = codelet_allocate(smoother_array_bytes(setup->size));
    smoother->smoothed = codelet_allocate(smoother_array_bytes(setup->size));
    if (!smoother->solution || !smoother->residual || !smoother->smoothed) {
        smoother_destroy(smoother);
        return NULL;
    }
    codelet_initialise(setup->init, smoother->planes, smoother_fill, smoother);
    return smoother;
}

static double scale_of(int iteration) { return 1.0 + 0.25 * (iteration % 8); }

/* One row that begins at `first`. */
static void smooth_row(const struct smoother *smoother, size_t first, double scale) {
    const size_t n = smoother->n;
    const ptrdiff_t row = (ptrdiff_t)n, plane = row * row;
    const double *restrict residual = smoother->residual + first;
    const double *restrict solution = smoother->solution + first;
    double *restrict smoothed = smoother->smoothed + first;
    double nearest[SMOOTH_MAX], diagonal[SMOOTH_MAX]; /* sums over the four cells of a kind at the line */
    for (size_t i = 0; i < n; i++) {
        const double *at = residual + i;
        nearest[i] = at[-row] + at[row] + at[-plane] + at[plane];
        diagonal[i] = at[-plane - row] + at[-plane + row] + at[plane - row] + at[plane + row];
    }
    for (size_t i = 1; i < n - 1; i++)
        smoothed[i] =
            solution[i] + scale * (coefficients[0] * residual[i] +
                                   coefficients[1] * (residual[i - 1] + residual[i + 1] + nearest[i]) +
                                   coefficients[2] * (nearest[i - 1] + nearest[i + 1] + diagonal[i]) +
                                   coefficients[3] * (diagonal[i - 1] + diagonal[i + 1]));
}

static void smoother_iterate(void *state, int iteration) {
    const struct smoother *smoother = state;
    const size_t n = smoother->n;
    const double scale = scale_of(iteration);
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t plane = 1; plane < smoother->planes - 1; plane++)
        for (size_t row = 1; row < n - 1; row++)
            smooth_row(smoother, (plane * n + row) * n, scale);
}

static double smoother_checksum(const void *state) {
    const struct smoother *smoother = state;
    double sum = 0;
    for (size_t i = 0; i < smoother->n * smoother->n * smoother->planes; i += 8)
        sum += smoother->smoothed[i];
    return sum;
}

/* Of the 27 cells around one, each has the coefficient of its distance. */
static double smoother_expected(const double *residual, size_t n, size_t cell) {
    const size_t corner = cell - (n + 1) * n - 1;
    double sum = 0;
    for (size_t z = 0; z < 3; z++)
        for (size_t y = 0; y < 3; y++)
            for (size_t x = 0; x < 3; x++)
                sum += coefficients[(z != 1) + (y != 1) + (x != 1)] * residual[corner + (z * n + y) * n + x];
    return sum;
}

/* Cell by cell, from a residual made anew. */
static double smoother_deviation(const void *state, int iterations) {
    const struct smoother *smoother = state;
    const size_t n = smoother->n, cells = n * n * smoother->planes;
    const double scale = scale_of(iterations - 1);
    double *residual = malloc(cells * sizeof *residual);
    if (!residual)
        return DEVIATION_UNKNOWN;
    generator_fill_reals(smoother->generator, STREAM_RESIDUAL, 0, residual, cells);
    double worst = 0;
    for (size_t cell = 0; cell < cells; cell++) {
        const size_t column = cell % n, row = cell / n % n, plane = cell / n / n;
        const int inside = plane > 0 && plane < smoother->planes - 1 && row > 0 && row < n - 1 &&
                           column > 0 && column < n - 1;
        const double expected = inside ? generator_real(smoother->generator, STREAM_SOLUTION, cell) +
                                             scale * smoother_expected(residual, n, cell)
                                       : 0;
        worst = codelet_worse(worst, smoother->smoothed[cell], expected);
    }
    free(residual);
    return worst;
}

const struct codelet mg_smooth = {
    .name = "mg-smooth",
    .family = "multigrid",
    .summary =
        "Applies a 27-point stencil over a 3-D grid, keeping partial sums along lines; reads two grids, "
        "writes one.",
    .iterations = 16,
    .tolerance = 1e-14,
    CODELET_FUNCTIONS(smoother),
};
