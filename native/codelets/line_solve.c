/* line_solve.c: block-tridiagonal systems along the axes of a grid, one a grid line.
 *
 * Modelled on x_solve, y_solve and z_solve of NAS BT: each line of cells along an axis is a tridiagonal
 * system of 5 x 5 blocks, solved by block Gaussian elimination forwards and substitution backwards. As in
 * early versions of BT the blocks lie in memory (600 bytes a cell, read once a solve), which puts the
 * codelets between memory-bound and compute-bound. The right-hand side is made from a known solution; each
 * iteration scales it. The three differ in how far a solve jumps from block to block and in who owns the
 * pages.
 *
 * line-solve-x: x is the fastest dimension, so a solve reads and writes consecutive cells, and a thread's
 * lines fill contiguous planes, pages that no other thread touches: streams that hardware prefetches well.
 *
 * line-solve-y: a solve jumps by a row of cells, inside one plane. The thread owns whole planes and their
 * pages here too, but comes back to a page once a line: a plane must stay in cache for its lines to be read
 * once.
 *
 * line-solve-z: z is the slowest dimension, so a solve jumps by a whole plane of cells, and a thread, which
 * owns a range of y, touches a strip of every plane: pages at the edges of strips belong to two threads.
 */
#include "blocks.h"
#include "codelet.h"

#include <stdlib.h>

enum { B = BLOCK_ROWS, BLOCK = B * B, ROW = 2 * B + 1, MAX_WIDTH = 64, MAX_LENGTH = 128 };
enum { STREAM_BLOCKS = 1, STREAM_SOLUTION = 2 };
enum axis { ALONG_X, ALONG_Y, ALONG_Z, AXIS_COUNT };

/* Cells are ordered z, y, x, with x fastest. A cell has blocks for its lower neighbour, itself and its upper
 * one. A unit of work is a plane of lines: of constant z, or of constant y if the lines run along z. */
struct lines {
    enum axis axis;
    size_t nx, ny, nz;
    size_t units, lines_in_unit, length;          /* in units, lines and cells */
    size_t unit_stride, line_stride, cell_stride; /* all in cells */
    double *blocks, *rhs, *x;
    const struct generator *generator;
};

static const struct shape {
    size_t nx, ny, nz;
} shapes[AXIS_COUNT][SIZE_COUNT] = {
    {{12, 6, 32}, {32, 12, 64}, {48, 24, 128}, {64, 48, 176}},
    {{6, 12, 32}, {12, 32, 64}, {24, 48, 128}, {48, 64, 176}},
    {{6, 32, 12}, {12, 64, 32}, {24, 96, 64}, {48, 128, 88}},
};

static size_t cells_of(enum axis axis, enum codelet_size size) {
    const struct shape *shape = &shapes[axis][size];
    return shape->nx * shape->ny * shape->nz;
}

static size_t lines_bytes(enum axis axis, enum codelet_size size) {
    return cells_of(axis, size) * (3 * BLOCK + 2 * B) * sizeof(double);
}

static void lines_destroy(void *state) {
    struct lines *lines = state;
    codelet_free(lines->blocks);
    codelet_free(lines->rhs);
    codelet_free(lines->x);
    free(lines);
}

static size_t whole_blocks(size_t count) { return (count + GENERATOR_BLOCK - 1) / GENERATOR_BLOCK; }

static void no_solution(double *out, size_t cells) {
    for (size_t i = 0; i < cells * B; i++)
        out[i] = 0;
}

/* The known solution in one row of cells along x, all zero outside of the grid. */
static void solution_row(const struct lines *lines, size_t y, size_t z, double *out) {
    const size_t length = lines->nx * B;
    if (y < lines->ny && z < lines->nz) /* -1 wraps around */
        generator_fill_reals(lines->generator, STREAM_SOLUTION, (z * lines->ny + y) * whole_blocks(length),
                             out, length);
    else
        no_solution(out, lines->nx);
}

/* The known solution around one row of cells: that of each cell's lower neighbour on its line, of the cell
 * itself and of its upper neighbour. */
struct neighbourhood {
    double rows[3][(MAX_WIDTH + 2) * B];
    const double *of[3];
};

static void look_around(const struct lines *lines, size_t y, size_t z, struct neighbourhood *solution) {
    for (size_t step = 0; step < 3; step++)
        if (lines->axis == ALONG_X) {
            solution->of[step] = solution->rows[0] + step * B;
        } else {
            solution->of[step] = solution->rows[step];
            solution_row(lines, lines->axis == ALONG_Y ? y + step - 1 : y,
                         lines->axis == ALONG_Z ? z + step - 1 : z, solution->rows[step]);
        }
    if (lines->axis == ALONG_X) {
        no_solution(solution->rows[0], 1);
        solution_row(lines, y, z, solution->rows[0] + B);
        no_solution(solution->rows[0] + (lines->nx + 1) * B, 1);
    }
}

static void fill_row(const struct lines *lines, size_t y, size_t z) {
    const size_t length = lines->nx * 3 * BLOCK, row = z * lines->ny + y;
    double *blocks = lines->blocks + row * length;
    generator_fill_reals(lines->generator, STREAM_BLOCKS, row * whole_blocks(length), blocks, length);
    for (size_t i = 0; i < length; i++)
        blocks[i] = 0.5 * blocks[i] - 0.25;
    /* Fifteen entries of at most 0.25 stand in a row: this makes it diagonally dominant. */
    for (size_t x = 0; x < lines->nx; x++)
        for (size_t m = 0; m < B; m++)
            blocks[x * 3 * BLOCK + BLOCK + m * (B + 1)] += 6.0;
    struct neighbourhood solution;
    look_around(lines, y, z, &solution);
    for (size_t x = 0; x < lines->nx; x++)
        for (size_t m = 0; m < B; m++) {
            const size_t i = (row * lines->nx + x) * B + m;
            lines->rhs[i] = 0;
            lines->x[i] = 0;
            for (size_t step = 0; step < 3; step++)
                lines->rhs[i] +=
                    block_dot(blocks + (x * 3 + step) * BLOCK + m * B, solution.of[step] + x * B);
        }
}

static void lines_fill(void *state, size_t unit) {
    const struct lines *lines = state;
    if (lines->axis == ALONG_Z)
        for (size_t z = 0; z < lines->nz; z++)
            fill_row(lines, unit, z);
    else
        for (size_t y = 0; y < lines->ny; y++)
            fill_row(lines, y, unit);
}

static void lay_out(struct lines *lines, enum axis axis, const struct shape *shape) {
    const size_t row = shape->nx, plane = shape->nx * shape->ny;
    lines->axis = axis;
    lines->nx = shape->nx;
    lines->ny = shape->ny;
    lines->nz = shape->nz;
    lines->units = axis == ALONG_Z ? shape->ny : shape->nz;
    lines->unit_stride = axis == ALONG_Z ? row : plane;
    lines->lines_in_unit = axis == ALONG_X ? shape->ny : shape->nx;
    lines->line_stride = axis == ALONG_X ? row : 1;
    lines->length = axis == ALONG_X ? shape->nx : axis == ALONG_Y ? shape->ny : shape->nz;
    lines->cell_stride = axis == ALONG_X ? 1 : axis == ALONG_Y ? row : plane;
}

static void *lines_create(enum axis axis, const struct codelet_setup *setup) {
    struct lines *lines = calloc(1, sizeof *lines);
    if (!lines)
        return NULL;
    const size_t cells = cells_of(axis, setup->size);
    lay_out(lines, axis, &shapes[axis][setup->size]);
    lines->generator = setup->generator;
    lines->blocks = codelet_allocate(cells * 3 * BLOCK * sizeof(double));
    lines->rhs = codelet_allocate(cells * B * sizeof(double));
    lines->x = codelet_allocate(cells * B * sizeof(double));
    if (!lines->blocks || !lines->rhs || !lines->x) {
        lines_destroy(lines);
        return NULL;
    }
    codelet_initialise(setup->init, lines->units, lines_fill, lines);
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

/* Solve the line that begins at cell `first`. */
static void solve_line(const struct lines *lines, size_t first, double scale) {
    const size_t stride = lines->cell_stride;
    double upper[MAX_LENGTH][B][B]; /* after elimination; the right-hand side after elimination stands in x */
    for (size_t position = 0; position < lines->length; position++) {
        const size_t cell = first + position * stride;
        const double *lower_block = lines->blocks + cell * 3 * BLOCK;
        double system[B][ROW];
        for (size_t row = 0; row < B; row++) {
            for (size_t column = 0; column < B; column++) {
                system[row][column] = lower_block[BLOCK + row * B + column];
                system[row][B + column] = lower_block[2 * BLOCK + row * B + column];
            }
            system[row][2 * B] = scale * lines->rhs[cell * B + row];
        }
        if (position > 0) {
            const double *below = lines->x + (cell - stride) * B;
            for (size_t row = 0; row < B; row++)
                for (size_t inner = 0; inner < B; inner++) {
                    const double factor = lower_block[row * B + inner];
                    for (size_t column = 0; column < B; column++)
                        system[row][column] -= factor * upper[position - 1][inner][column];
                    system[row][2 * B] -= factor * below[inner];
                }
        }
        eliminate(system);
        for (size_t row = 0; row < B; row++) {
            for (size_t column = 0; column < B; column++)
                upper[position][row][column] = system[row][B + column];
            lines->x[cell * B + row] = system[row][2 * B];
        }
    }
    for (size_t position = lines->length - 1; position-- > 0;) {
        double *x = lines->x + (first + position * stride) * B;
        for (size_t row = 0; row < B; row++)
            x[row] -= block_dot(upper[position][row], x + stride * B);
    }
}

static double scale_of(int iteration) { return 1.0 + 0.5 * (iteration % 4); }

static void lines_iterate(void *state, int iteration) {
    const struct lines *lines = state;
    const double scale = scale_of(iteration);
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = 0; unit < lines->units; unit++)
        for (size_t line = 0; line < lines->lines_in_unit; line++)
            solve_line(lines, unit * lines->unit_stride + line * lines->line_stride, scale);
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

static size_t x_bytes(enum codelet_size size) { return lines_bytes(ALONG_X, size); }

static void *x_create(const struct codelet_setup *setup) { return lines_create(ALONG_X, setup); }

const struct codelet line_solve_x = {
    .name = "line-solve-x",
    .family = "line-solve",
    .summary = "Solves block-tridiagonal systems along contiguous grid lines, each thread planes of its own.",
    .iterations = 6,
    .tolerance = 1e-11,
    .working_set_bytes = x_bytes,
    .create = x_create,
    .iterate = lines_iterate,
    .checksum = lines_checksum,
    .deviation = lines_deviation,
    .destroy = lines_destroy,
};

static size_t y_bytes(enum codelet_size size) { return lines_bytes(ALONG_Y, size); }

static void *y_create(const struct codelet_setup *setup) { return lines_create(ALONG_Y, setup); }

const struct codelet line_solve_y = {
    .name = "line-solve-y",
    .family = "line-solve",
    .summary =
        "Solves block-tridiagonal systems along lines strided inside a plane, each thread planes of its own.",
    .iterations = 6,
    .tolerance = 1e-11,
    .working_set_bytes = y_bytes,
    .create = y_create,
    .iterate = lines_iterate,
    .checksum = lines_checksum,
    .deviation = lines_deviation,
    .destroy = lines_destroy,
};

static size_t z_bytes(enum codelet_size size) { return lines_bytes(ALONG_Z, size); }

static void *z_create(const struct codelet_setup *setup) { return lines_create(ALONG_Z, setup); }

const struct codelet line_solve_z = {
    .name = "line-solve-z",
    .family = "line-solve",
    .summary = "Solves block-tridiagonal systems along the slowest grid dimension, each thread a strip of "
               "every plane.",
    .iterations = 6,
    .tolerance = 1e-11,
    .working_set_bytes = z_bytes,
    .create = z_create,
    .iterate = lines_iterate,
    .checksum = lines_checksum,
    .deviation = lines_deviation,
    .destroy = lines_destroy,
};
