/* sparse.c: sparse matrix-vector product in compressed rows, y = d + d * A x.
 *
 * Modelled on the matrix-vector product that fills NAS CG, in the damped form of a PageRank step, which keeps
 * the vector bounded for any number of iterations. Each thread streams the values and column numbers of its
 * rows, once an iteration, and gathers x at random: x is shared by all, does not fit into a private cache,
 * and was written by all threads in the iteration before. Rows are uneven, as in real matrices (2 to 52
 * entries, 16 on average).
 */
#include "codelet.h"

#include <stdlib.h>
#include <string.h>

enum { UNIT = 64, SCALE = 2, PER_ROW = SCALE * UNEVEN_GROUP_ENTRIES / UNEVEN_GROUP };
enum { STREAM_VALUES = 1, STREAM_COLUMNS = 2, STREAM_X = 3 };

static const double DAMPING = 0.5;

struct sparse {
    size_t rows;
    double *values;
    uint32_t *columns, *starts; /* row r has entries starts[r] up to starts[r + 1] */
    double *x, *y;              /* the current vector, and the one to be written next */
    const struct generator *generator;
};

static size_t rows_of(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {112, 1152, 7168, 26880};
    return units[size] * UNIT;
}

static size_t sparse_bytes(enum codelet_size size) {
    const size_t rows = rows_of(size);
    return rows * PER_ROW * (sizeof(double) + sizeof(uint32_t)) + (rows + 1) * sizeof(uint32_t) +
           2 * rows * sizeof(double);
}

static void sparse_destroy(void *state) {
    struct sparse *sparse = state;
    codelet_free(sparse->values);
    codelet_free(sparse->columns);
    codelet_free(sparse->starts);
    codelet_free(sparse->x);
    codelet_free(sparse->y);
    free(sparse);
}

/* Map 32 random bits to 0 .. limit - 1. */
static uint32_t below(uint32_t random, size_t limit) { return (uint32_t)((uint64_t)random * limit >> 32); }

static void sparse_fill(void *state, size_t unit) {
    struct sparse *sparse = state;
    const size_t first_row = unit * UNIT, first = first_row * PER_ROW, count = UNIT * PER_ROW;
    generator_fill_reals(sparse->generator, STREAM_VALUES, first / GENERATOR_BLOCK, sparse->values + first,
                         count);
    generator_fill_words(sparse->generator, STREAM_COLUMNS, first / GENERATOR_BLOCK, sparse->columns + first,
                         count);
    for (size_t i = first; i < first + count; i++)
        sparse->columns[i] = below(sparse->columns[i], sparse->rows);
    size_t start = first;
    for (size_t row = first_row; row < first_row + UNIT; row++) {
        const uint32_t length = SCALE * generator_uneven_length(sparse->generator, row);
        /* A row's sum is near 1, and never above 1.5: damped by a half, the step contracts. */
        const double share = 1.0 / length;
        sparse->starts[row] = (uint32_t)start;
        for (size_t end = start + length; start < end; start++)
            sparse->values[start] = (0.5 + sparse->values[start]) * share;
        sparse->y[row] = 0;
    }
    if (start == sparse->rows * PER_ROW)
        sparse->starts[sparse->rows] = (uint32_t)start;
    generator_fill_reals(sparse->generator, STREAM_X, unit, sparse->x + first_row, UNIT);
}

static void *sparse_create(const struct codelet_setup *setup) {
    struct sparse *sparse = calloc(1, sizeof *sparse);
    if (!sparse)
        return NULL;
    const size_t rows = sparse->rows = rows_of(setup->size);
    sparse->generator = setup->generator;
    sparse->values = codelet_allocate(rows * PER_ROW * sizeof(double));
    sparse->columns = codelet_allocate(rows * PER_ROW * sizeof(uint32_t));
    sparse->starts = codelet_allocate((rows + 1) * sizeof(uint32_t));
    sparse->x = codelet_allocate(rows * sizeof(double));
    sparse->y = codelet_allocate(rows * sizeof(double));
    if (!sparse->values || !sparse->columns || !sparse->starts || !sparse->x || !sparse->y) {
        sparse_destroy(sparse);
        return NULL;
    }
    codelet_initialise(setup->init, rows / UNIT, sparse_fill, sparse);
    return sparse;
}

static void sparse_iterate(void *state, int iteration) {
    struct sparse *sparse = state;
    (void)iteration;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = 0; unit < sparse->rows / UNIT; unit++)
        for (size_t row = unit * UNIT; row < (unit + 1) * UNIT; row++) {
            double sum = 0;
            for (uint32_t i = sparse->starts[row]; i < sparse->starts[row + 1]; i++)
                sum += sparse->values[i] * sparse->x[sparse->columns[i]];
            sparse->y[row] = DAMPING + DAMPING * sum;
        }
    double *product = sparse->y;
    sparse->y = sparse->x;
    sparse->x = product;
}

static double sparse_checksum(const void *state) {
    const struct sparse *sparse = state;
    double sum = 0;
    for (size_t row = 0; row < sparse->rows; row += 8)
        sum += sparse->x[row];
    return sum;
}

/* The transposed matrix, made from the generator by a counting sort: entries in order of their columns. */
struct transposed {
    size_t rows;
    uint32_t *row, *column_start;
    double *value, *x, *y;
};

static void transposed_free(struct transposed *matrix) {
    free(matrix->row);
    free(matrix->column_start);
    free(matrix->value);
    free(matrix->x);
    free(matrix->y);
}

static int transposed_make(struct transposed *matrix, const struct sparse *sparse) {
    const size_t rows = sparse->rows;
    matrix->rows = rows;
    matrix->row = malloc(rows * PER_ROW * sizeof(uint32_t));
    matrix->column_start = calloc(rows + 2, sizeof(uint32_t));
    matrix->value = malloc(rows * PER_ROW * sizeof(double));
    matrix->x = malloc(rows * sizeof(double));
    matrix->y = malloc(rows * sizeof(double));
    if (!matrix->row || !matrix->column_start || !matrix->value || !matrix->x || !matrix->y) {
        transposed_free(matrix);
        return 0;
    }
    const struct generator *generator = sparse->generator;
    uint32_t *start = matrix->column_start + 1; /* shifted by one while the columns are filled */
    for (size_t i = 0; i < rows * PER_ROW; i++)
        start[below(generator_word(generator, STREAM_COLUMNS, i), rows) + 1]++;
    for (size_t column = 0; column < rows; column++)
        start[column + 1] += start[column];
    for (size_t row = 0; row < rows; row++) {
        const size_t first = SCALE * generator_uneven_start(generator, row);
        const uint32_t length = SCALE * generator_uneven_length(generator, row);
        for (size_t i = first; i < first + length; i++) {
            const uint32_t place = start[below(generator_word(generator, STREAM_COLUMNS, i), rows)]++;
            matrix->row[place] = (uint32_t)row;
            matrix->value[place] = (0.5 + generator_real(generator, STREAM_VALUES, i)) / length;
        }
    }
    for (size_t row = 0; row < rows; row++)
        matrix->x[row] = generator_real(generator, STREAM_X, row);
    return 1;
}

/* Scatter by columns where the kernel gathers by rows. */
static double sparse_deviation(const void *state, int iterations) {
    const struct sparse *sparse = state;
    struct transposed matrix = {0};
    if (!transposed_make(&matrix, sparse))
        return DEVIATION_UNKNOWN;
    for (int iteration = 0; iteration < iterations; iteration++) {
        memset(matrix.y, 0, matrix.rows * sizeof(double));
        for (size_t column = 0; column < matrix.rows; column++)
            for (uint32_t i = matrix.column_start[column]; i < matrix.column_start[column + 1]; i++)
                matrix.y[matrix.row[i]] += matrix.value[i] * matrix.x[column];
        for (size_t row = 0; row < matrix.rows; row++)
            matrix.x[row] = DAMPING * (1.0 + matrix.y[row]);
    }
    double worst = 0;
    for (size_t row = 0; row < matrix.rows; row++)
        worst = codelet_worse(worst, sparse->x[row], matrix.x[row]);
    transposed_free(&matrix);
    return worst;
}

const struct codelet spmv_csr = {
    .name = "spmv-csr",
    .family = "sparse",
    .summary =
        "Streams a sparse matrix row by row and gathers, at random, from one vector shared by all threads.",
    .iterations = 30,
    .tolerance = 1e-12,
    CODELET_FUNCTIONS(sparse),
};
