/* dense.c: dense matrices without a shape of their own: a blocked product and a transposition.
 *
 * matrix-product computes C += A B by blocks. One iteration adds the product of one panel: a few columns
 * of A by as many rows of B. Each thread owns rows of C and A; the panel of B is read by all and used again
 * for each row, from a private cache, tile by tile. With 16 operations a loaded element the codelet is bound
 * by the cores, and should hardly react to where its pages are. It is modelled on the rank-k updates inside
 * blocked matrix products and factorisations (BLAS dgemm, LU of LINPACK).
 *
 * matrix-transpose writes the scaled transpose of one large matrix to another, tile by tile. A thread reads
 * rows of its own from end to end and writes a narrow strip of columns, so two cache lines of every row of
 * the other matrix: with rows placed by their owners, all of a thread's writes but its share go to pages of
 * other threads, a different page with each row. Nothing is used twice, and there is no arithmetic to hide
 * behind: bandwidth between nodes and the reach of the TLB bound it. It is modelled on the transpose of the
 * Parallel Research Kernels and of the HPC Challenge (PTRANS).
 */
#include "codelet.h"

#include <stdlib.h>

/* ---- matrix-product ---- */

enum { TILE_ROWS = 16, TILE_COLUMNS = 256, UNROLL = 4, STREAM_A = 1, STREAM_B = 2, STREAM_VECTOR = 3 };

struct product {
    size_t n;     /* a multiple of TILE_COLUMNS */
    size_t panel; /* columns of A in an iteration; a divisor of n and a multiple of UNROLL */
    double *a, *b, *c;
    const struct generator *generator;
};

static size_t product_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {256, 512, 1024, 2048};
    return n[size];
}

/* Tiny cannot have fewer rows or columns: what makes its iterations short is a narrower panel. */
static size_t product_panel(enum codelet_size size) {
    static const size_t panel[SIZE_COUNT] = {16, 64, 64, 64};
    return panel[size];
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
    product->panel = product_panel(setup->size);
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
    const size_t n = product->n, width = product->panel, panel = (size_t)iteration % (n / width) * width;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t tile = 0; tile < n / TILE_ROWS; tile++)
        for (size_t column = 0; column < n; column += TILE_COLUMNS)
            for (size_t row = tile * TILE_ROWS; row < (tile + 1) * TILE_ROWS; row++)
                for (size_t inner = panel; inner < panel + width; inner += UNROLL)
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
    const size_t n = product->n, panels = n / product->panel;
    double *bv = malloc(n * sizeof *bv), worst = 0;
    if (!bv)
        return DEVIATION_UNKNOWN;
    for (size_t row = 0; row < n; row++) {
        bv[row] = 0;
        for (size_t column = 0; column < n; column++)
            bv[row] += generator_real(product->generator, STREAM_B, row * n + column) *
                       generator_real(product->generator, STREAM_VECTOR, column);
        const size_t panel = row / product->panel, rounds = (size_t)iterations / panels;
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
    CODELET_FUNCTIONS(product),
};

/* ---- matrix-transpose ---- */

enum { TILE = 16, STREAM_ROWS = 4 };

struct transposition {
    size_t n; /* a multiple of TILE */
    double *rows, *columns;
    const struct generator *generator;
};

/* Rows are no multiple of many cache lines apart, so that a tile's lines do not compete for a place in
 * caches. */
static size_t transposition_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {304, 992, 2288, 4624};
    return n[size];
}

static size_t transposition_bytes(enum codelet_size size) {
    return 2 * transposition_n(size) * transposition_n(size) * sizeof(double);
}

static void transposition_destroy(void *state) {
    struct transposition *transposition = state;
    codelet_free(transposition->rows);
    codelet_free(transposition->columns);
    free(transposition);
}

static void transposition_fill(void *state, size_t unit) {
    struct transposition *transposition = state;
    const size_t length = TILE * transposition->n, first = unit * length;
    generator_fill_reals(transposition->generator, STREAM_ROWS, first / GENERATOR_BLOCK,
                         transposition->rows + first, length);
    for (size_t i = first; i < first + length; i++)
        transposition->columns[i] = 0;
}

static void *transposition_create(const struct codelet_setup *setup) {
    struct transposition *transposition = calloc(1, sizeof *transposition);
    if (!transposition)
        return NULL;
    transposition->n = transposition_n(setup->size);
    transposition->generator = setup->generator;
    transposition->rows = codelet_allocate(transposition_bytes(setup->size) / 2);
    transposition->columns = codelet_allocate(transposition_bytes(setup->size) / 2);
    if (!transposition->rows || !transposition->columns) {
        transposition_destroy(transposition);
        return NULL;
    }
    codelet_initialise(setup->init, transposition->n / TILE, transposition_fill, transposition);
    return transposition;
}

static double scale_of(int iteration) { return 1.0 + 0.25 * (iteration % 8); }

static void transpose_tile(double *restrict to, const double *restrict from, size_t n, double scale) {
    for (size_t column = 0; column < TILE; column++)
        for (size_t row = 0; row < TILE; row++)
            to[column * n + row] = scale * from[row * n + column];
}

static void transposition_iterate(void *state, int iteration) {
    const struct transposition *transposition = state;
    const size_t n = transposition->n;
    const double scale = scale_of(iteration);
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t row = 0; row < n; row += TILE)
        for (size_t column = 0; column < n; column += TILE)
            transpose_tile(transposition->columns + column * n + row, transposition->rows + row * n + column,
                           n, scale);
}

static double transposition_checksum(const void *state) {
    const struct transposition *transposition = state;
    double sum = 0; /* of multiples of 2^-22: exact */
    for (size_t i = 0; i < transposition->n * transposition->n; i++)
        sum += transposition->columns[i] * (double)(i % 31 + 1);
    return sum;
}

/* Element by element, along the rows of the source. */
static double transposition_deviation(const void *state, int iterations) {
    const struct transposition *transposition = state;
    const size_t n = transposition->n;
    const double scale = scale_of(iterations - 1);
    double worst = 0;
    for (size_t i = 0; i < n * n; i++)
        worst = codelet_worse(worst, transposition->columns[i % n * n + i / n],
                              scale * generator_real(transposition->generator, STREAM_ROWS, i));
    return worst;
}

const struct codelet matrix_transpose = {
    .name = "matrix-transpose",
    .family = "dense",
    .summary =
        "Transposes a large matrix tile by tile, reading own rows and writing into pages of all threads.",
    .iterations = 60,
    .tolerance = 0,
    CODELET_FUNCTIONS(transposition),
};
