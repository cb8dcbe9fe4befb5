/* line_solve.c: block-tridiagonal systems along z, one a grid line.
 *
 * Modelled on z_solve of NAS BT: each line of cells along z is a tridiagonal system of 5 x 5 blocks, solved
 * by block Gaussian elimination forwards and substitution backwards. z is the slowest dimension, so a solve
 * jumps by a whole plane of cells from block to block, and a thread, which owns a range of y, touches a strip
 * of every plane. As in early versions of BT the blocks lie in memory (600 bytes a cell, read once a solve),
 * which puts the codelet between memory-bound and compute-bound. The right-hand side is made from a known
 * solution; each iteration scales it.
 */
#include "codelet.h"

#include <stdlib.h>

enum { B = 5, BLOCK = B * B, ROW = 2 * B + 1, MAX_WIDTH = 64, MAX_DEPTH = 128 };
enum { STREAM_BLOCKS = 1, STREAM_SOLUTION = 2 };

/* Cells are ordered z, y, x, with x fastest. A cell has blocks for its lower neighbour, itself and its upper
 * one. */
struct lines {
    size_t nx, ny, nz;
    double *blocks, *rhs, *x;
    const struct generator *generator;
};

static const struct { size_t nx, ny, nz; } shapes[SIZE_COUNT] = {{12, 64, 32}, {24, 96, 64}, {48, 128, 88}};

static size_t cells_of(enum codelet_size size) { return shapes[size].nx * shapes[size].ny * shapes[size].nz; }

static size_t lines_bytes(enum codelet_size size) {
    return cells_of(size) * (3 * BLOCK + 2 * B) * sizeof(double);
}

static void lines_destroy(void *state) {
    struct lines *lines = state;
    codelet_free(lines->blocks);
    codelet_free(lines->rhs);
    codelet_free(lines->x);
    free(lines);
}

static size_t whole_blocks(size_t count) { return (count + GENERATOR_BLOCK - 1) / GENERATOR_BLOCK; }

/* The known solution in one row of cells along x, all zero outside of the grid. */
static void solution_row(const struct lines *lines, size_t y, size_t z, double *out) {
    const size_t length = lines->nx * B;
    if (z < lines->nz) { /* z - 1 wraps around below the first plane */
        generator_fill_reals(lines->generator, STREAM_SOLUTION, (z * lines->ny + y) * whole_blocks(length),
                             out, length);
        return;
    }
    for (size_t i = 0; i < length; i++)
        out[i] = 0;
}

static double dot(const double *row, const double *vector) {
    double sum = 0;
    for (int i = 0; i < B; i++)
        sum += row[i] * vector[i];
    return sum;
}

static void lines_fill(void *state, size_t y) {
    struct lines *lines = state;
    const size_t length = lines->nx * 3 * BLOCK;
    double solution[3][MAX_WIDTH * B];
    for (size_t z = 0; z < lines->nz; z++) {
        const size_t row = z * lines->ny + y;
        double *blocks = lines->blocks + row * length;
        generator_fill_reals(lines->generator, STREAM_BLOCKS, row * whole_blocks(length), blocks, length);
        for (size_t i = 0; i < length; i++)
            blocks[i] = 0.5 * blocks[i] - 0.25;
        /* Fifteen entries of at most 0.25 stand in a row: this makes it diagonally dominant. */
        for (size_t x = 0; x < lines->nx; x++)
            for (int m = 0; m < B; m++)
                blocks[x * 3 * BLOCK + BLOCK + m * (B + 1)] += 6.0;
        for (size_t neighbour = 0; neighbour < 3; neighbour++)
            solution_row(lines, y, z + neighbour - 1, solution[neighbour]);
        for (size_t x = 0; x < lines->nx; x++)
            for (int m = 0; m < B; m++) {
                const size_t i = (row * lines->nx + x) * B + m;
                lines->rhs[i] = 0;
                lines->x[i] = 0;
                for (int neighbour = 0; neighbour < 3; neighbour++)
                    lines->rhs[i] +=
                        dot(blocks + (x * 3 + neighbour) * BLOCK + m * B, solution[neighbour] + x * B);
            }
    }
}

static void *lines_create(const struct codelet_setup *setup) {
    struct lines *lines = calloc(1, sizeof *lines);
    if (!lines)
        return NULL;
    const size_t cells = cells_of(setup->size);
    lines->nx = shapes[setup->size].nx;
    lines->ny = shapes[setup->size].ny;
    lines->nz = shapes[setup->size].nz;
    lines->generator = setup->generator;
    lines->blocks = codelet_allocate(cells * 3 * BLOCK * sizeof(double));
    lines->rhs = codelet_allocate(cells * B * sizeof(double));
    lines->x = codelet_allocate(cells * B * sizeof(double));
    if (!lines->blocks || !lines->rhs || !lines->x) {
        lines_destroy(lines);
        return NULL;
    }
    codelet_initialise(setup->init, lines->ny, lines_fill, lines);
    return lines;
}

/* Turn [M | U r] into [I | M^-1 U  M^-1 r] by Gauss-Jordan elimination; dominance makes pivoting unnecessary.
 */
static void eliminate(double system[B][ROW]) {
    for (int pivot = 0; pivot < B; pivot++) {
        const double inverse = 1.0 / system[pivot][pivot];
        for (int column = pivot + 1; column < ROW; column++)
            system[pivot][column] *= inverse;
        for (int row = 0; row < B; row++) {
            if (row == pivot)
                continue;
            const double factor = system[row][pivot];
            for (int column = pivot + 1; column < ROW; column++)
                system[row][column] -= factor * system[pivot][column];
        }
    }
}

/* Solve the line that begins at cell `first` of the lowest plane. */
static void solve_line(const struct lines *lines, size_t first, double scale) {
    const size_t plane = lines->nx * lines->ny;
    double upper[MAX_DEPTH][B]
                [B]; /* the eliminated upper blocks; the eliminated right-hand side stands in x */
    for (size_t z = 0; z < lines->nz; z++) {
        const size_t cell = first + z * plane;
        const double *lower_block = lines->blocks + cell * 3 * BLOCK;
        double system[B][ROW];
        for (int row = 0; row < B; row++) {
            for (int column = 0; column < B; column++) {
                system[row][column] = lower_block[BLOCK + row * B + column];
                system[row][B + column] = lower_block[2 * BLOCK + row * B + column];
            }
            system[row][2 * B] = scale * lines->rhs[cell * B + row];
        }
        if (z > 0) {
            const double *below = lines->x + (cell - plane) * B;
            for (int row = 0; row < B; row++)
                for (int inner = 0; inner < B; inner++) {
                    const double factor = lower_block[row * B + inner];
                    for (int column = 0; column < B; column++)
                        system[row][column] -= factor * upper[z - 1][inner][column];
                    system[row][2 * B] -= factor * below[inner];
                }
        }
        eliminate(system);
        for (int row = 0; row < B; row++) {
            for (int column = 0; column < B; column++)
                upper[z][row][column] = system[row][B + column];
            lines->x[cell * B + row] = system[row][2 * B];
        }
    }
    for (size_t z = lines->nz - 1; z-- > 0;) {
        double *x = lines->x + (first + z * plane) * B;
        for (int row = 0; row < B; row++)
            x[row] -= dot(upper[z][row], x + plane * B);
    }
}

static double scale_of(int iteration) { return 1.0 + 0.5 * (iteration % 4); }

static void lines_iterate(void *state, int iteration) {
    const struct lines *lines = state;
    const double scale = scale_of(iteration);
#pragma omp parallel
#pragma omp for schedule(runtime)
    for (size_t y = 0; y < lines->ny; y++)
        for (size_t x = 0; x < lines->nx; x++)
            solve_line(lines, y * lines->nx + x, scale);
}

static double lines_checksum(const void *state) {
    const struct lines *lines = state;
    double sum = 0;
    for (size_t i = 0; i < lines->nx * lines->ny * lines->nz * B; i += 8)
        sum += lines->x[i];
    return sum;
}

/* The solution is known before any solving. */
static double lines_deviation(const void *state, int iterations) {
    const struct lines *lines = state;
    const double scale = scale_of(iterations - 1);
    double worst = 0, solution[MAX_WIDTH * B];
    for (size_t z = 0; z < lines->nz; z++)
        for (size_t y = 0; y < lines->ny; y++) {
            solution_row(lines, y, z, solution);
            const double *x = lines->x + (z * lines->ny + y) * lines->nx * B;
            for (size_t i = 0; i < lines->nx * B; i++)
                worst = codelet_worse(worst, x[i], scale * solution[i]);
        }
    return worst;
}

const struct codelet line_solve_z = {
    .name = "line-solve-z",
    .family = "line-solve",
    .summary = "Solves block-tridiagonal systems along the slowest grid dimension, each thread a strip of "
               "every plane.",
    .iterations = 6,
    .tolerance = 1e-11,
    .working_set_bytes = lines_bytes,
    .create = lines_create,
    .iterate = lines_iterate,
    .checksum = lines_checksum,
    .deviation = lines_deviation,
    .destroy = lines_destroy,
};
