/* multigrid.c: moves between the 3-D grids of a multigrid cycle, modelled on NAS MG.
 *
 * mg-restrict makes a coarse grid from a fine one by full weighting (MG's rprj3): a coarse cell is the mean
 * of the 27 fine cells around it, with weights that halve with each axis they are off by. A thread owns
 * contiguous coarse planes and the fine planes at the same place, and reads one fine plane of its neighbour.
 * Eight bytes are read for each one written, so the loads of the fine grid bound it.
 *
 * mg-prolong adds a coarse grid's trilinear interpolation to a fine one (MG's interp): each coarse cell
 * reaches eight fine ones. The fine grid is read and written in one stream, and the coarse one, an eighth of
 * its size, is read along with it, with one plane of the neighbour. What it adds over the iterations stays
 * within bounds.
 */
#include "codelet.h"

#include <stdlib.h>

enum { COARSE_MAX = 144, STREAM_FINE = 1, STREAM_COARSE = 2 };

struct levels {
    size_t n, planes; /* of the coarse grid, with n x n cells a plane; the fine grid has twice of each */
    double *fine, *coarse;
    const struct generator *generator;
};

static size_t levels_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {24, 56, 96, COARSE_MAX};
    return n[size];
}

static size_t levels_planes(enum codelet_size size) {
    static const size_t planes[SIZE_COUNT] = {32, 64, 144, 208};
    return planes[size];
}

static size_t coarse_bytes(enum codelet_size size) {
    return levels_n(size) * levels_n(size) * levels_planes(size) * sizeof(double);
}

static size_t levels_bytes(enum codelet_size size) { return 9 * coarse_bytes(size); }

static void levels_destroy(void *state) {
    struct levels *levels = state;
    codelet_free(levels->fine);
    codelet_free(levels->coarse);
    free(levels);
}

/* A coarse plane and the two fine planes at its place; n is a multiple of 8: whole blocks. */
static void levels_fill(void *state, size_t plane) {
    struct levels *levels = state;
    const size_t length = levels->n * levels->n, first = plane * length;
    generator_fill_reals(levels->generator, STREAM_COARSE, first / GENERATOR_BLOCK, levels->coarse + first,
                         length);
    generator_fill_reals(levels->generator, STREAM_FINE, 8 * first / GENERATOR_BLOCK,
                         levels->fine + 8 * first, 8 * length);
}

static void *levels_create(const struct codelet_setup *setup) {
    struct levels *levels = calloc(1, sizeof *levels);
    if (!levels)
        return NULL;
    levels->n = levels_n(setup->size);
    levels->planes = levels_planes(setup->size);
    levels->generator = setup->generator;
    levels->fine = codelet_allocate(8 * coarse_bytes(setup->size));
    levels->coarse = codelet_allocate(coarse_bytes(setup->size));
    if (!levels->fine || !levels->coarse) {
        levels_destroy(levels);
        return NULL;
    }
    codelet_initialise(setup->init, levels->planes, levels_fill, levels);
    return levels;
}

static size_t coarse_index(const struct levels *levels, size_t plane, size_t row, size_t column) {
    return (plane * levels->n + row) * levels->n + column;
}

static size_t fine_index(const struct levels *levels, size_t plane, size_t row, size_t column) {
    return (plane * 2 * levels->n + row) * 2 * levels->n + column;
}

static double sum_of_every_eighth(const double *cells, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i += 8)
        sum += cells[i];
    return sum;
}

static double scale_of(int iteration) { return 1.0 + 0.25 * (iteration % 8); }

/* One coarse row from the nine fine rows around `fine`: first across the rows, then along them. */
static void restrict_row(double *restrict coarse, const double *restrict fine, size_t n, double scale) {
    const ptrdiff_t row = 2 * (ptrdiff_t)n, plane = row * row;
    double line[2 * COARSE_MAX];
    for (size_t i = 1; i < 2 * n; i++) {
        const double *at = fine + i;
        const double nearest = at[-row] + at[row] + at[-plane] + at[plane];
        const double diagonal = at[-plane - row] + at[-plane + row] + at[plane - row] + at[plane + row];
        line[i] = 4 * at[0] + 2 * nearest + diagonal;
    }
    for (size_t i = 1; i < n; i++)
        coarse[i] = scale / 64 * (line[2 * i - 1] + 2 * line[2 * i] + line[2 * i + 1]);
}

static void restrict_iterate(void *state, int iteration) {
    const struct levels *levels = state;
    const double scale = scale_of(iteration);
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t plane = 1; plane < levels->planes; plane++)
        for (size_t row = 1; row < levels->n; row++)
            restrict_row(levels->coarse + coarse_index(levels, plane, row, 0),
                         levels->fine + fine_index(levels, 2 * plane, 2 * row, 0), levels->n, scale);
}

static double restrict_checksum(const void *state) {
    const struct levels *levels = state;
    return sum_of_every_eighth(levels->coarse, levels->n * levels->n * levels->planes);
}

/* All 27 cells, each with the product of its weights along the axes. */
static double restrict_expected(const struct levels *levels, size_t plane, size_t row, size_t column) {
    static const double weights[3] = {0.25, 0.5, 0.25};
    double sum = 0;
    for (size_t z = 0; z < 3; z++)
        for (size_t y = 0; y < 3; y++)
            for (size_t x = 0; x < 3; x++)
                sum += weights[z] * weights[y] * weights[x] *
                       generator_real(
                           levels->generator, STREAM_FINE,
                           fine_index(levels, 2 * plane + z - 1, 2 * row + y - 1, 2 * column + x - 1));
    return sum;
}

static double restrict_deviation(const void *state, int iterations) {
    const struct levels *levels = state;
    const double scale = scale_of(iterations - 1);
    double worst = 0;
    for (size_t plane = 0; plane < levels->planes; plane++)
        for (size_t row = 0; row < levels->n; row++)
            for (size_t column = 0; column < levels->n; column++) {
                const size_t cell = coarse_index(levels, plane, row, column);
                const double expected = plane && row && column
                                            ? scale * restrict_expected(levels, plane, row, column)
                                            : generator_real(levels->generator, STREAM_COARSE, cell);
                worst = codelet_worse(worst, levels->coarse[cell], expected);
            }
    return worst;
}

const struct codelet mg_restrict = {
    .name = "mg-restrict",
    .family = "multigrid",
    .summary = "Averages a fine 3-D grid to a coarse one: reads 8 bytes for each written, and a neighbour's "
               "edge plane.",
    .iterations = 20,
    .tolerance = 1e-14,
    .working_set_bytes = levels_bytes,
    .create = levels_create,
    .iterate = restrict_iterate,
    .checksum = restrict_checksum,
    .deviation = restrict_deviation,
    .destroy = levels_destroy,
};

/* How many times the interpolation has been added after that many iterations: never none, and never more than
 * three times; all values are multiples of powers of two, so that nothing is lost in adding and taking away.
 */
static double times_added(int iterations) { return iterations ? scale_of(iterations) : 0; }

/* Add one interpolated row to a fine one. A fine row between coarse ones takes the mean of those next to it;
 * where it lies on one, that row is given twice. */
static void prolong_row(double *restrict fine, const double *const coarse_rows[4], size_t n, double times) {
    double line[COARSE_MAX];
    for (size_t i = 0; i < n; i++)
        line[i] = coarse_rows[0][i] + coarse_rows[1][i] + coarse_rows[2][i] + coarse_rows[3][i];
    for (size_t i = 0; i + 1 < n; i++) {
        fine[2 * i] += times * 0.25 * line[i];
        fine[2 * i + 1] += times * 0.125 * (line[i] + line[i + 1]);
    }
}

static void prolong_plane(const struct levels *levels, size_t plane, double times) {
    for (size_t z = 0; z < 2; z++)
        for (size_t row = 0; row < 2 * (levels->n - 1); row++) {
            const double *const coarse_rows[4] = {
                levels->coarse + coarse_index(levels, plane, row / 2, 0),
                levels->coarse + coarse_index(levels, plane, (row + 1) / 2, 0),
                levels->coarse + coarse_index(levels, plane + z, row / 2, 0),
                levels->coarse + coarse_index(levels, plane + z, (row + 1) / 2, 0),
            };
            prolong_row(levels->fine + fine_index(levels, 2 * plane + z, row, 0), coarse_rows, levels->n,
                        times);
        }
}

static void prolong_iterate(void *state, int iteration) {
    const struct levels *levels = state;
    const double times = times_added(iteration + 1) - times_added(iteration);
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t plane = 0; plane < levels->planes - 1; plane++)
        prolong_plane(levels, plane, times);
}

static double prolong_checksum(const void *state) {
    const struct levels *levels = state;
    return sum_of_every_eighth(levels->fine, 8 * levels->n * levels->n * levels->planes);
}

/* The weight of a coarse cell along one axis: 1 where it lies, and falling to 0 at the next one's place. */
static double hat(size_t fine, size_t coarse) { return 1 - fabs(0.5 * (double)fine - (double)coarse); }

static double prolong_expected(const struct levels *levels, size_t plane, size_t row, size_t column) {
    double sum = 0;
    for (size_t z = plane / 2; z <= (plane + 1) / 2; z++)
        for (size_t y = row / 2; y <= (row + 1) / 2; y++)
            for (size_t x = column / 2; x <= (column + 1) / 2; x++)
                sum += hat(plane, z) * hat(row, y) * hat(column, x) *
                       generator_real(levels->generator, STREAM_COARSE, coarse_index(levels, z, y, x));
    return sum;
}

static double prolong_deviation(const void *state, int iterations) {
    const struct levels *levels = state;
    const size_t n = 2 * levels->n, planes = 2 * levels->planes;
    const double times = times_added(iterations);
    double worst = 0;
    for (size_t plane = 0; plane < planes; plane++)
        for (size_t row = 0; row < n; row++)
            for (size_t column = 0; column < n; column++) {
                const size_t cell = fine_index(levels, plane, row, column);
                double expected = generator_real(levels->generator, STREAM_FINE, cell);
                if (plane < planes - 2 && row < n - 2 && column < n - 2)
                    expected += times * prolong_expected(levels, plane, row, column);
                worst = codelet_worse(worst, levels->fine[cell], expected);
            }
    return worst;
}

const struct codelet mg_prolong = {
    .name = "mg-prolong",
    .family = "multigrid",
    .summary =
        "Adds a coarse 3-D grid's interpolation to a fine one: a stream read and written, with a small "
        "one read.",
    .iterations = 12,
    .tolerance = 1e-14,
    .working_set_bytes = levels_bytes,
    .create = levels_create,
    .iterate = prolong_iterate,
    .checksum = prolong_checksum,
    .deviation = prolong_deviation,
    .destroy = levels_destroy,
};
