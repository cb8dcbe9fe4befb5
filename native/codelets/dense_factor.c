/* dense_factor.c: LU decomposition of a dense matrix, without pivoting.
 *
 * Modelled on lud of Rodinia and LU of SPLASH-2: blocks of columns are factored from left to right. One
 * iteration scales a kept matrix into the place of the factors and factors it there. Each step has three
 * phases with barriers between them: one thread factors the block on the diagonal; all threads solve the
 * panel below it and the panel to its right; all threads subtract the product of the two panels from what is
 * left, each from rows of its own. The right panel, which several threads have written, is read by all. What
 * is left shrinks, and with it the number of units: with a static schedule, rows change hands from step to
 * step. The early steps are bound by the cores, the late ones by barriers and by the phase of one thread.
 */
#include "codelet.h"

#include <stdlib.h>

enum { BLOCK = 64 };

static double scale_of(int iteration) { return 1.0 + 0.25 * (iteration % 8); }

enum { STRIP = 16, UNROLL = 4, STREAM_A = 1, STREAM_VECTOR = 2 };

struct factors {
    size_t n;   /* a multiple of BLOCK */
    double *a;  /* the matrix; only read after the initialisation */
    double *lu; /* its factors: the diagonal belongs to the upper one, the lower one's is 1 */
    const struct generator *generator;
};

static size_t factors_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {256, 640, 1216, 2432};
    return n[size];
}

static size_t factors_matrix_bytes(enum codelet_size size) {
    return factors_n(size) * factors_n(size) * sizeof(double);
}

static size_t factors_bytes(enum codelet_size size) { return 2 * factors_matrix_bytes(size); }

static void factors_destroy(void *state) {
    struct factors *factors = state;
    codelet_free(factors->a);
    codelet_free(factors->lu);
    free(factors);
}

/* Entries lie in [-0.5, 0.5); with this diagonal the matrix is diagonally dominant. */
static double dominance(size_t n) { return 0.5 * (double)n; }

static void factors_fill(void *state, size_t unit) {
    struct factors *factors = state;
    const size_t n = factors->n, first = unit * STRIP * n, length = STRIP * n;
    generator_fill_reals(factors->generator, STREAM_A, first / GENERATOR_BLOCK, factors->a + first, length);
    for (size_t i = first; i < first + length; i++) {
        factors->a[i] -= 0.5;
        factors->lu[i] = 0;
    }
    for (size_t row = unit * STRIP; row < (unit + 1) * STRIP; row++)
        factors->a[row * n + row] += dominance(n);
}

static void *factors_create(const struct codelet_setup *setup) {
    struct factors *factors = calloc(1, sizeof *factors);
    if (!factors)
        return NULL;
    factors->n = factors_n(setup->size);
    factors->generator = setup->generator;
    factors->a = codelet_allocate(factors_matrix_bytes(setup->size));
    factors->lu = codelet_allocate(factors_matrix_bytes(setup->size));
    if (!factors->a || !factors->lu) {
        factors_destroy(factors);
        return NULL;
    }
    codelet_initialise(setup->init, factors->n / STRIP, factors_fill, factors);
    return factors;
}

static void scale_strip(double *restrict lu, const double *restrict a, size_t length, double scale) {
    for (size_t i = 0; i < length; i++)
        lu[i] = scale * a[i];
}

/* Factor the block whose first element is `corner`; rows are n elements apart. */
static void factor_diagonal(double *corner, size_t n) {
    for (size_t pivot = 0; pivot < BLOCK; pivot++) {
        const double *upper = corner + pivot * n;
        const double inverse = 1.0 / upper[pivot];
        for (size_t row = pivot + 1; row < BLOCK; row++) {
            double *lower = corner + row * n;
            lower[pivot] *= inverse;
            for (size_t column = pivot + 1; column < BLOCK; column++)
                lower[column] -= lower[pivot] * upper[column];
        }
    }
}

/* Divide STRIP rows below the diagonal block, from the right, by its upper triangle. */
static void solve_below(double *restrict rows, const double *restrict corner, size_t n) {
    for (size_t pivot = 0; pivot < BLOCK; pivot++) {
        const double *upper = corner + pivot * n;
        const double inverse = 1.0 / upper[pivot];
        for (size_t row = 0; row < STRIP; row++) {
            double *lower = rows + row * n;
            lower[pivot] *= inverse;
            for (size_t column = pivot + 1; column < BLOCK; column++)
                lower[column] -= lower[pivot] * upper[column];
        }
    }
}

/* Divide BLOCK columns to the right of the diagonal block, from the left, by its lower triangle. */
static void solve_right(double *restrict columns, const double *restrict corner, size_t n) {
    for (size_t row = 1; row < BLOCK; row++)
        for (size_t pivot = 0; pivot < row; pivot++) {
            const double factor = corner[row * n + pivot];
            for (size_t column = 0; column < BLOCK; column++)
                columns[row * n + column] -= factor * columns[pivot * n + column];
        }
}

/* Subtract UNROLL entries of a row of the lower panel, times as many rows of the upper one, from BLOCK
 * elements. */
static void subtract_rows(double *restrict rest, const double *restrict lower, const double *restrict upper,
                          size_t n) {
    const double *restrict upper1 = upper + n, *restrict upper2 = upper + 2 * n,
                           *restrict upper3 = upper + 3 * n;
    const double l0 = lower[0], l1 = lower[1], l2 = lower[2], l3 = lower[3];
    for (size_t i = 0; i < BLOCK; i++)
        rest[i] -= l0 * upper[i] + l1 * upper1[i] + l2 * upper2[i] + l3 * upper3[i];
}

/* Update STRIP rows of what is left: `lower` is their part of the panel below, `upper` the panel to the
 * right. */
static void update_strip(double *lower, const double *upper, size_t columns, size_t n) {
    for (size_t column = 0; column < columns; column += BLOCK)
        for (size_t row = 0; row < STRIP; row++)
            for (size_t inner = 0; inner < BLOCK; inner += UNROLL)
                subtract_rows(lower + row * n + BLOCK + column, lower + row * n + inner,
                              upper + inner * n + column, n);
}

static void factors_iterate(void *state, int iteration) {
    const struct factors *factors = state;
    const size_t n = factors->n;
    const double scale = scale_of(iteration);
#pragma omp parallel
    {
#pragma omp for schedule(monotonic : runtime)
        for (size_t strip = 0; strip < n / STRIP; strip++)
            scale_strip(factors->lu + strip * STRIP * n, factors->a + strip * STRIP * n, STRIP * n, scale);
        for (size_t left = n; left > 0; left -= BLOCK) {
            double *corner = factors->lu + (n - left) * (n + 1);
            double *right = corner + BLOCK, *below = corner + BLOCK * n;
            const size_t columns = left - BLOCK, blocks = columns / BLOCK, strips = columns / STRIP;
#pragma omp single
            factor_diagonal(corner, n);
#pragma omp for schedule(monotonic : runtime)
            for (size_t unit = 0; unit < blocks + strips; unit++)
                if (unit < blocks)
                    solve_right(right + unit * BLOCK, corner, n);
                else
                    solve_below(below + (unit - blocks) * STRIP * n, corner, n);
#pragma omp for schedule(monotonic : runtime)
            for (size_t strip = 0; strip < strips; strip++)
                update_strip(below + strip * STRIP * n, right, columns, n);
        }
    }
}

static double factors_checksum(const void *state) {
    const struct factors *factors = state;
    double sum = 0;
    for (size_t i = 0; i < factors->n * factors->n; i += 8)
        sum += factors->lu[i];
    return sum;
}

/* The factors are unique, so that it suffices that L (U v) is the scaled A v for a vector of random numbers.
 */
static double factors_deviation(const void *state, int iterations) {
    const struct factors *factors = state;
    const size_t n = factors->n;
    double *v = malloc(n * sizeof *v), *uv = calloc(n, sizeof *uv), worst = 0;
    if (!v || !uv) {
        free(v);
        free(uv);
        return DEVIATION_UNKNOWN;
    }
    generator_fill_reals(factors->generator, STREAM_VECTOR, 0, v, n);
    for (size_t row = 0; row < n; row++)
        for (size_t column = row; column < n; column++)
            uv[row] += factors->lu[row * n + column] * v[column];
    for (size_t row = 0; row < n; row++) {
        double got = uv[row], expected = dominance(n) * v[row];
        for (size_t column = 0; column < row; column++)
            got += factors->lu[row * n + column] * uv[column];
        for (size_t column = 0; column < n; column++)
            expected += (generator_real(factors->generator, STREAM_A, row * n + column) - 0.5) * v[column];
        worst = codelet_worse(worst, got, scale_of(iterations - 1) * expected);
    }
    free(v);
    free(uv);
    return worst;
}

const struct codelet lu_decomposition = {
    .name = "lu-decomposition",
    .family = "dense",
    .summary =
        "Factors a dense matrix block by block: panels read by all threads, fewer units in every step.",
    .iterations = 2,
    .tolerance = 1e-11,
    CODELET_FUNCTIONS(factors),
};
