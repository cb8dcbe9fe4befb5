/* dense_solve.c: a triangular system with many right-hand sides.
 *
 * Modelled on the triangular solves of BLAS (dtrsm) inside blocked factorisations: L X = B is solved by
 * forward substitution in blocks. A thread owns columns of X and B, a narrow panel at a time, which lies in
 * one piece and stays in its second cache. L is only read, and streamed as a whole by every thread for each
 * of its panels, in the same order, with eight operations for each of its elements. So one large matrix is
 * read by all nodes all the time, and the time depends on where its pages are. All panels cost the same.
 */
#include "codelet.h"

#include <stdlib.h>

static double scale_of(int iteration) { return 1.0 + 0.25 * (iteration % 8); }

enum {
    BLOCK = 64,
    WIDTH = 4,
    PANELS = 96,
    BLOCK_ELEMENTS = BLOCK * BLOCK,
    STREAM_L = 1,
    STREAM_B = 2,
    STREAM_WEIGHTS = 3
};

/* Keeps the solution from growing with the number of rows, though no row is dominated by it. */
static const double DIAGONAL = 32.0;

struct substitution {
    size_t n;  /* a multiple of BLOCK */
    double *l; /* blocks of the lower triangle, row of blocks by row of blocks, each in one piece */
    double *b; /* right-hand sides: panels of n rows of WIDTH */
    double *x; /* solutions, likewise */
    const struct generator *generator;
};

static size_t substitution_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {256, 1024, 2048, 4096};
    return n[size];
}

/* Blocks in the first `rows` rows of blocks of the triangle. */
static size_t blocks_above(size_t rows) { return rows * (rows + 1) / 2; }

static size_t triangle_bytes(enum codelet_size size) {
    return blocks_above(substitution_n(size) / BLOCK) * BLOCK_ELEMENTS * sizeof(double);
}

static size_t panels_bytes(enum codelet_size size) {
    return substitution_n(size) * WIDTH * PANELS * sizeof(double);
}

static size_t substitution_bytes(enum codelet_size size) {
    return triangle_bytes(size) + 2 * panels_bytes(size);
}

static void substitution_destroy(void *state) {
    struct substitution *substitution = state;
    codelet_free(substitution->l);
    codelet_free(substitution->b);
    codelet_free(substitution->x);
    free(substitution);
}

/* Element (row, column) of L is number row * n + column of its stream; a block's row is one block of it. */
static void fill_block(const struct substitution *substitution, size_t block_row, size_t block_column) {
    double *block = substitution->l + (blocks_above(block_row) + block_column) * BLOCK_ELEMENTS;
    for (size_t row = 0; row < BLOCK; row++) {
        const size_t first = (block_row * BLOCK + row) * substitution->n + block_column * BLOCK;
        generator_fill_reals(substitution->generator, STREAM_L, first / GENERATOR_BLOCK, block + row * BLOCK,
                             BLOCK);
        for (size_t column = 0; column < BLOCK; column++)
            block[row * BLOCK + column] -= 0.5;
        if (block_row == block_column)
            block[row * BLOCK + row] += DIAGONAL;
    }
}

static void substitution_fill(void *state, size_t panel) {
    struct substitution *substitution = state;
    const size_t length = substitution->n * WIDTH, first = panel * length;
    generator_fill_reals(substitution->generator, STREAM_B, first / GENERATOR_BLOCK, substitution->b + first,
                         length);
    for (size_t i = first; i < first + length; i++)
        substitution->x[i] = 0;
    /* The blocks of L are distributed over the panels. */
    const size_t rows = substitution->n / BLOCK, blocks = blocks_above(rows);
    size_t block = 0;
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column <= row; column++, block++)
            if (block >= panel * blocks / PANELS && block < (panel + 1) * blocks / PANELS)
                fill_block(substitution, row, column);
}

static void *substitution_create(const struct codelet_setup *setup) {
    struct substitution *substitution = calloc(1, sizeof *substitution);
    if (!substitution)
        return NULL;
    substitution->n = substitution_n(setup->size);
    substitution->generator = setup->generator;
    substitution->l = codelet_allocate(triangle_bytes(setup->size));
    substitution->b = codelet_allocate(panels_bytes(setup->size));
    substitution->x = codelet_allocate(panels_bytes(setup->size));
    if (!substitution->l || !substitution->b || !substitution->x) {
        substitution_destroy(substitution);
        return NULL;
    }
    codelet_initialise(setup->init, PANELS, substitution_fill, substitution);
    return substitution;
}

/* Subtract two rows of a block of L, times a block of the panel, from two rows of the panel. */
static void subtract_two_rows(double *restrict x, const double *restrict l, const double *restrict solved) {
    double a0 = x[0], a1 = x[1], a2 = x[2], a3 = x[3], b0 = x[4], b1 = x[5], b2 = x[6], b3 = x[7];
    for (size_t inner = 0; inner < BLOCK; inner++) {
        const double *restrict s = solved + inner * WIDTH;
        const double la = l[inner], lb = l[BLOCK + inner];
        a0 -= la * s[0];
        a1 -= la * s[1];
        a2 -= la * s[2];
        a3 -= la * s[3];
        b0 -= lb * s[0];
        b1 -= lb * s[1];
        b2 -= lb * s[2];
        b3 -= lb * s[3];
    }
    x[0] = a0, x[1] = a1, x[2] = a2, x[3] = a3, x[4] = b0, x[5] = b1, x[6] = b2, x[7] = b3;
}

/* Solve the rows of a block of the panel with a block of L on the diagonal. */
static void solve_block(double *restrict x, const double *restrict l) {
    for (size_t row = 0; row < BLOCK; row++) {
        for (size_t inner = 0; inner < row; inner++)
            for (size_t column = 0; column < WIDTH; column++)
                x[row * WIDTH + column] -= l[row * BLOCK + inner] * x[inner * WIDTH + column];
        const double inverse = 1.0 / l[row * BLOCK + row];
        for (size_t column = 0; column < WIDTH; column++)
            x[row * WIDTH + column] *= inverse;
    }
}

static void solve_panel(const struct substitution *substitution, size_t panel, double scale) {
    const size_t length = substitution->n * WIDTH;
    double *x = substitution->x + panel * length;
    const double *b = substitution->b + panel * length;
    for (size_t i = 0; i < length; i++)
        x[i] = scale * b[i];
    const double *l = substitution->l;
    for (size_t row = 0; row < substitution->n; row += BLOCK) {
        for (size_t inner = 0; inner < row; inner += BLOCK, l += BLOCK_ELEMENTS)
            for (size_t pair = 0; pair < BLOCK; pair += 2)
                subtract_two_rows(x + (row + pair) * WIDTH, l + pair * BLOCK, x + inner * WIDTH);
        solve_block(x + row * WIDTH, l);
        l += BLOCK_ELEMENTS;
    }
}

static void substitution_iterate(void *state, int iteration) {
    const struct substitution *substitution = state;
    const double scale = scale_of(iteration);
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t panel = 0; panel < PANELS; panel++)
        solve_panel(substitution, panel, scale);
}

static double substitution_checksum(const void *state) {
    const struct substitution *substitution = state;
    double sum = 0;
    for (size_t i = 0; i < substitution->n * WIDTH * PANELS; i += 4)
        sum += substitution->x[i];
    return sum;
}

/* L (X v) must be the scaled B v, for a vector v of random numbers. */
static double substitution_deviation(const void *state, int iterations) {
    const struct substitution *substitution = state;
    const struct generator *generator = substitution->generator;
    const size_t n = substitution->n;
    double *xv = calloc(n, sizeof *xv), *bv = calloc(n, sizeof *bv);
    double worst = xv && bv ? 0 : DEVIATION_UNKNOWN;
    for (size_t i = 0; i < n * WIDTH * PANELS && worst >= 0; i++) {
        const size_t row = i / WIDTH % n, column = i / (WIDTH * n) * WIDTH + i % WIDTH;
        const double weight = generator_real(generator, STREAM_WEIGHTS, column);
        xv[row] += substitution->x[i] * weight;
        bv[row] += generator_real(generator, STREAM_B, i) * weight;
    }
    for (size_t row = 0; row < n && worst >= 0; row++) {
        double product = DIAGONAL * xv[row];
        for (size_t column = 0; column <= row; column++)
            product += (generator_real(generator, STREAM_L, row * n + column) - 0.5) * xv[column];
        worst = codelet_worse(worst, product, scale_of(iterations - 1) * bv[row]);
    }
    free(xv);
    free(bv);
    return worst;
}

const struct codelet triangular_solve = {
    .name = "triangular-solve",
    .family = "dense",
    .summary = "Solves many right-hand sides by forward substitution: all threads stream one shared matrix.",
    .iterations = 2,
    .tolerance = 1e-11,
    CODELET_FUNCTIONS(substitution),
};
