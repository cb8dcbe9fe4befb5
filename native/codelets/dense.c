/* dense.c: blocked dense matrix product, C += A B.
 *
 * Modelled on the rank-k updates inside blocked matrix products and factorisations (BLAS dgemm, LU of
 * LINPACK). One iteration adds the product of one panel: PANEL columns of A by PANEL rows of B. Each thread
 * owns rows of C and A; the panel of B is read by all and used again for each row, from a private cache, tile
 * by tile. With 16 operations a loaded element the codelet is bound by the cores, and should hardly react to
 * where its pages are.
 */
#include "codelet.h"

#include <stdlib.h>

enum {
    PANEL = 64,
    TILE_ROWS = 16,
    TILE_COLUMNS = 256,
    UNROLL = 4,
    STREAM_A = 1,
    STREAM_B = 2,
    STREAM_VECTOR = 3
};

struct product {
    size_t n; /* a multiple of TILE_COLUMNS */
    double *a, *b, *c;
    const struct generator *generator;
};

static size_t product_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {512, 1024, 2048};
    return n[size];
}

static size_t matrix_bytes(enum codelet_size size) {
    return product_n(size) * product_n(size) * sizeof(double);
}

static size_t product_bytes(enum codelet_size size) { return 3 * matrix_bytes(size); }

static void product_destroy(void *state) {
    struct product *product = state;
    codelet_free(product->a);
    codelet_free(product->b);
    codelet_free(product->c);
    free(product);
}

static void product_fill(void *state, size_t unit) {
    struct product *product = state;
    const size_t length = TILE_ROWS * product->n, first = unit * length;
    generator_fill_reals(product->generator, STREAM_A, first / GENERATOR_BLOCK, product->a + first, length);
    generator_fill_reals(product->generator, STREAM_B, first / GENERATOR_BLOCK, product->b + first, length);
    for (size_t i = first; i < first + length; i++)
        product->c[i] = 0;
}

static void *product_create(const struct codelet_setup *setup) {
    struct product *product = calloc(1, sizeof *product);
    if (!product)
        return NULL;
    product->n = product_n(setup->size);
    product->generator = setup->generator;
    product->a = codelet_allocate(matrix_bytes(setup->size));
    product->b = codelet_allocate(matrix_bytes(setup->size));
    product->c = codelet_allocate(matrix_bytes(setup->size));
    if (!product->a || !product->b || !product->c) {
        product_destroy(product);
        return NULL;
    }
    codelet_initialise(setup->init, product->n / TILE_ROWS, product_fill, product);
    return product;
}

/* Add UNROLL entries of a row of A, times as many rows of B, to a stretch of a row of C. */
static void add_rows(double *restrict c, const double *restrict a, const double *restrict b, size_t n) {
    const double *restrict b1 = b + n, *restrict b2 = b + 2 * n, *restrict b3 = b + 3 * n;
    const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    for (int column = 0; column < TILE_COLUMNS; column++)
        c[column] += a0 * b[column] + a1 * b1[column] + a2 * b2[column] + a3 * b3[column];
}

static void product_iterate(void *state, int iteration) {
    const struct product *product = state;
    const size_t n = product->n, panel = (size_t)iteration % (n / PANEL) * PANEL;
#pragma omp parallel
#pragma omp for schedule(runtime)
    for (size_t tile = 0; tile < n / TILE_ROWS; tile++)
        for (size_t column = 0; column < n; column += TILE_COLUMNS)
            for (size_t row = tile * TILE_ROWS; row < (tile + 1) * TILE_ROWS; row++)
                for (size_t inner = panel; inner < panel + PANEL; inner += UNROLL)
                    add_rows(product->c + row * n + column, product->a + row * n + inner,
                             product->b + inner * n + column, n);
}

static double product_checksum(const void *state) {
    const struct product *product = state;
    double sum = 0;
    for (size_t i = 0; i < product->n * product->n; i += 8)
        sum += product->c[i];
    return sum;
}

/* Freivalds' check with real weights: C v must be A (D (B v)), where D counts how often each panel was added.
 */
static double product_deviation(const void *state, int iterations) {
    const struct product *product = state;
    const size_t n = product->n, panels = n / PANEL;
    double *bv = malloc(n * sizeof *bv), worst = 0;
    if (!bv)
        return DEVIATION_UNKNOWN;
    for (size_t row = 0; row < n; row++) {
        bv[row] = 0;
        for (size_t column = 0; column < n; column++)
            bv[row] += generator_real(product->generator, STREAM_B, row * n + column) *
                       generator_real(product->generator, STREAM_VECTOR, column);
        const size_t panel = row / PANEL, rounds = (size_t)iterations / panels;
        bv[row] *= (double)(rounds + (panel < (size_t)iterations % panels));
    }
    for (size_t row = 0; row < n; row++) {
        double expected = 0, got = 0;
        for (size_t column = 0; column < n; column++) {
            expected += generator_real(product->generator, STREAM_A, row * n + column) * bv[column];
            got += product->c[row * n + column] * generator_real(product->generator, STREAM_VECTOR, column);
        }
        worst = codelet_worse(worst, got, expected);
    }
    free(bv);
    return worst;
}

const struct codelet matrix_product = {
    .name = "matrix-product",
    .family = "dense",
    .summary = "Multiplies dense matrices block by block from private caches: the cores limit it, hardly the "
               "memory.",
    .iterations = 16,
    .tolerance = 1e-11,
    .working_set_bytes = product_bytes,
    .create = product_create,
    .iterate = product_iterate,
    .checksum = product_checksum,
    .deviation = product_deviation,
    .destroy = product_destroy,
};
