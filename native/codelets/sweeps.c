/* sweeps.c: Jacobi sweeps between two grids, with more neighbours or more dimensions than jacobi-2d.
 *
 * Each cell of the new grid is a weighted mean of the old cell and its neighbours; then the grids change
 * places. The grids are only read or only written within a sweep, so the threads share nothing but the old
 * cells at their shares' edges, and a sweep has no inner order.
 *
 * jacobi-2d-9 reads the 3 x 3 box around a cell. A thread owns contiguous rows and reads one row of each
 * neighbour; three rows stay in the first cache, so it moves the bytes of jacobi-2d with twice the loads. It
 * is modelled on the 9-point sweeps of image smoothing and of PolyBench's seidel-2d, here between two grids.
 *
 * jacobi-3d-7 reads a cell and its six neighbours along the axes. A thread owns contiguous planes and reads
 * one plane of each neighbour; two planes must stay in cache for a cell to come from memory once. It has
 * little to compute and is bound by bandwidth. It is modelled on Parboil's stencil.
 *
 * jacobi-3d-27 reads the 3 x 3 x 3 box around a cell, in nine rows at a time. It shares planes as jacobi-3d-7
 * does and computes four times as much for the same bytes. It is modelled on the 27-point operators of NAS MG
 * and of HPCG.
 */
#include "codelet.h"

#include <stdlib.h>

#define PI 3.14159265358979323846

enum { AXES = 3 };

/* A slab is what a thread takes at a time: a plane of a 3-D grid, and of a 2-D grid one row (rows is 1). All
 * counts include the border, which no sweep writes. */
struct shape {
    size_t slabs, rows, columns;
};

struct sweep {
    struct shape shape;
    double *front, *back;    /* the current grid and the one to be written next */
    double *wave[AXES];      /* the starting wave along slabs, rows and columns */
    double amplitude, decay; /* the wave's height, and what a sweep leaves of it */
};

static size_t cells_of(const struct shape *shape) { return shape->slabs * shape->rows * shape->columns; }

static size_t sweep_bytes(const struct shape *shape) { return 2 * cells_of(shape) * sizeof(double); }

static void sweep_destroy(void *state) {
    struct sweep *sweep = state;
    codelet_free(sweep->front);
    codelet_free(sweep->back);
    for (int axis = 0; axis < AXES; axis++)
        free(sweep->wave[axis]);
    free(sweep);
}

static double position(size_t i, size_t count) { return count > 1 ? (double)i / (double)(count - 1) : 0; }

/* A grid function that no sweep changes, as it is linear along each axis and the weights are symmetric. */
static double linear(const struct shape *shape, size_t slab, size_t row, size_t column) {
    const double x = position(column, shape->columns), y = position(row, shape->rows),
                 z = position(slab, shape->slabs);
    return 3.0 + x - y + 0.5 * z + 0.5 * x * z - 0.25 * y * z;
}

static void fill_slab(const struct sweep *sweep, size_t slab) {
    const struct shape *shape = &sweep->shape;
    for (size_t row = 0; row < shape->rows; row++) {
        const size_t first = (slab * shape->rows + row) * shape->columns;
        const double height = sweep->amplitude * sweep->wave[0][slab] * sweep->wave[1][row];
        for (size_t column = 0; column < shape->columns; column++) {
            const double value = linear(shape, slab, row, column) + height * sweep->wave[2][column];
            sweep->front[first + column] = value;
            sweep->back[first + column] = value;
        }
    }
}

/* A unit is a slab within the border; the first and the last take the border along. */
static void sweep_fill(void *state, size_t unit) {
    const struct sweep *sweep = state;
    if (unit == 0)
        fill_slab(sweep, 0);
    fill_slab(sweep, unit + 1);
    if (unit + 3 == sweep->shape.slabs)
        fill_slab(sweep, unit + 2);
}

/* Tabulate a sine that is zero on the border; return the mean of two neighbours relative to their middle. */
static double make_wave(double *wave, size_t count, size_t half_waves) {
    if (count == 1) {
        wave[0] = 1;
        return 1;
    }
    const double step = PI * (double)half_waves / (double)(count - 1);
    for (size_t i = 0; i < count; i++)
        wave[i] = sin(step * (double)i);
    return cos(step);
}

/* Products of sines are eigenvectors of all sweeps here; decay_of() says with which eigenvalue. */
static void *sweep_create(const struct codelet_setup *setup, const struct shape *shape,
                          double (*decay_of)(const double cosine[AXES])) {
    struct sweep *sweep = calloc(1, sizeof *sweep);
    if (!sweep)
        return NULL;
    const size_t counts[AXES] = {shape->slabs, shape->rows, shape->columns};
    sweep->shape = *shape;
    sweep->front = codelet_allocate(cells_of(shape) * sizeof(double));
    sweep->back = codelet_allocate(cells_of(shape) * sizeof(double));
    for (int axis = 0; axis < AXES; axis++)
        sweep->wave[axis] = malloc(counts[axis] * sizeof(double));
    if (!sweep->front || !sweep->back || !sweep->wave[0] || !sweep->wave[1] || !sweep->wave[2]) {
        sweep_destroy(sweep);
        return NULL;
    }
    const uint64_t hash = generator_hash(setup->generator, 0, 0);
    double cosine[AXES];
    for (int axis = 0; axis < AXES; axis++)
        cosine[axis] = make_wave(sweep->wave[axis], counts[axis], 2 + (hash >> 3 * axis) % 8);
    sweep->amplitude = 0.5 + (double)(hash >> 44) * 0x1p-20;
    sweep->decay = decay_of(cosine);
    codelet_initialise(setup->init, shape->slabs - 2, sweep_fill, sweep);
    return sweep;
}

static void exchange_grids(struct sweep *sweep) {
    double *swept = sweep->back;
    sweep->back = sweep->front;
    sweep->front = swept;
}

static double sweep_checksum(const void *state) {
    const struct sweep *sweep = state;
    double sum = 0;
    for (size_t i = 0; i < cells_of(&sweep->shape); i += 7)
        sum += sweep->front[i];
    return sum;
}

/* The closed form: the linear part stays, the wave decays by a known factor a sweep. */
static double sweep_deviation(const void *state, int iterations) {
    const struct sweep *sweep = state;
    const struct shape *shape = &sweep->shape;
    const double amplitude = sweep->amplitude * pow(sweep->decay, iterations);
    const double *got = sweep->front;
    double worst = 0;
    for (size_t slab = 0; slab < shape->slabs; slab++)
        for (size_t row = 0; row < shape->rows; row++) {
            const double height = amplitude * sweep->wave[0][slab] * sweep->wave[1][row];
            for (size_t column = 0; column < shape->columns; column++)
                worst = codelet_worse(worst, *got++,
                                      linear(shape, slab, row, column) + height * sweep->wave[2][column]);
        }
    return worst;
}

/* The cells before and after one, in its row. */
static inline double in_row(const double *cell) { return cell[-1] + cell[1]; }

/* ---- jacobi-2d-9 ---- */

static const struct shape box_2d_shapes[SIZE_COUNT] = {
    {322, 1, 320}, {1040, 1, 1040}, {2500, 1, 2500}, {4800, 1, 4800}};

static size_t box_2d_bytes(enum codelet_size size) { return sweep_bytes(&box_2d_shapes[size]); }

static double box_2d_decay(const double cosine[AXES]) { return 0.25 * (1 + cosine[0]) * (1 + cosine[2]); }

static void *box_2d_create(const struct codelet_setup *setup) {
    return sweep_create(setup, &box_2d_shapes[setup->size], box_2d_decay);
}

static void box_2d_iterate(void *state, int iteration) {
    struct sweep *sweep = state;
    const size_t columns = sweep->shape.columns;
    (void)iteration;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t row = 1; row < sweep->shape.slabs - 1; row++) {
        const double *restrict here = sweep->front + row * columns;
        const double *restrict above = here - columns, *restrict below = here + columns;
        double *restrict next = sweep->back + row * columns;
        for (size_t column = 1; column < columns - 1; column++) {
            const double edges = above[column] + below[column] + in_row(here + column);
            const double corners = in_row(above + column) + in_row(below + column);
            next[column] = 0.25 * here[column] + 0.125 * edges + 0.0625 * corners;
        }
    }
    exchange_grids(sweep);
}

const struct codelet jacobi_2d_9 = {
    .name = "jacobi-2d-9",
    .family = "stencils",
    .summary = "Sweeps a 9-point box over a 2-D grid into another, each thread its own rows and one of each "
               "neighbour.",
    .iterations = 60,
    .tolerance = 1e-12,
    .working_set_bytes = box_2d_bytes,
    .create = box_2d_create,
    .iterate = box_2d_iterate,
    .checksum = sweep_checksum,
    .deviation = sweep_deviation,
    .destroy = sweep_destroy,
};

/* ---- jacobi-3d-7 ---- */

static const struct shape star_3d_shapes[SIZE_COUNT] = {
    {42, 48, 48}, {100, 100, 100}, {168, 160, 160}, {288, 288, 288}};

static size_t star_3d_bytes(enum codelet_size size) { return sweep_bytes(&star_3d_shapes[size]); }

static double star_3d_decay(const double cosine[AXES]) {
    return 0.25 * (1 + cosine[0] + cosine[1] + cosine[2]);
}

static void *star_3d_create(const struct codelet_setup *setup) {
    return sweep_create(setup, &star_3d_shapes[setup->size], star_3d_decay);
}

static void star_3d_iterate(void *state, int iteration) {
    struct sweep *sweep = state;
    const size_t rows = sweep->shape.rows, columns = sweep->shape.columns, plane = rows * columns;
    (void)iteration;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t slab = 1; slab < sweep->shape.slabs - 1; slab++)
        for (size_t row = 1; row < rows - 1; row++) {
            const double *restrict here = sweep->front + slab * plane + row * columns;
            const double *restrict above = here - columns, *restrict below = here + columns;
            const double *restrict behind = here - plane, *restrict before = here + plane;
            double *restrict next = sweep->back + slab * plane + row * columns;
            for (size_t column = 1; column < columns - 1; column++)
                next[column] =
                    0.25 * here[column] + 0.125 * (in_row(here + column) + above[column] + below[column] +
                                                   behind[column] + before[column]);
        }
    exchange_grids(sweep);
}

const struct codelet jacobi_3d_7 = {
    .name = "jacobi-3d-7",
    .family = "stencils",
    .summary = "Sweeps a 7-point star over a 3-D grid into another, each thread its planes and one of each "
               "neighbour.",
    .iterations = 60,
    .tolerance = 1e-12,
    .working_set_bytes = star_3d_bytes,
    .create = star_3d_create,
    .iterate = star_3d_iterate,
    .checksum = sweep_checksum,
    .deviation = sweep_deviation,
    .destroy = sweep_destroy,
};

/* ---- jacobi-3d-27 ---- */

static const struct shape box_3d_shapes[SIZE_COUNT] = {
    {34, 54, 54}, {96, 100, 100}, {192, 152, 152}, {320, 270, 270}};

static size_t box_3d_bytes(enum codelet_size size) { return sweep_bytes(&box_3d_shapes[size]); }

static double box_3d_decay(const double cosine[AXES]) {
    return 0.125 * (1 + cosine[0]) * (1 + cosine[1]) * (1 + cosine[2]);
}

static void *box_3d_create(const struct codelet_setup *setup) {
    return sweep_create(setup, &box_3d_shapes[setup->size], box_3d_decay);
}

/* The weighted mean of the 27 cells around one; the strides lead to the next row and to the next plane. */
static inline double mean_of_box(const double *cell, ptrdiff_t row, ptrdiff_t plane) {
    const double faces = in_row(cell) + cell[-row] + cell[row] + cell[-plane] + cell[plane];
    const double edges = in_row(cell - row) + in_row(cell + row) + in_row(cell - plane) +
                         in_row(cell + plane) + cell[-plane - row] + cell[-plane + row] + cell[plane - row] +
                         cell[plane + row];
    const double corners = in_row(cell - plane - row) + in_row(cell - plane + row) +
                           in_row(cell + plane - row) + in_row(cell + plane + row);
    return 0.125 * cell[0] + 0.0625 * faces + 0.03125 * edges + 0.015625 * corners;
}

static void box_3d_iterate(void *state, int iteration) {
    struct sweep *sweep = state;
    const size_t rows = sweep->shape.rows, columns = sweep->shape.columns, plane = rows * columns;
    (void)iteration;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t slab = 1; slab < sweep->shape.slabs - 1; slab++)
        for (size_t row = 1; row < rows - 1; row++) {
            const double *restrict here = sweep->front + slab * plane + row * columns;
            double *restrict next = sweep->back + slab * plane + row * columns;
            for (size_t column = 1; column < columns - 1; column++)
                next[column] = mean_of_box(here + column, (ptrdiff_t)columns, (ptrdiff_t)plane);
        }
    exchange_grids(sweep);
}

const struct codelet jacobi_3d_27 = {
    .name = "jacobi-3d-27",
    .family = "stencils",
    .summary =
        "Sweeps a 27-point box over a 3-D grid into another: the bytes of a star with more to compute.",
    .iterations = 40,
    .tolerance = 1e-12,
    .working_set_bytes = box_3d_bytes,
    .create = box_3d_create,
    .iterate = box_3d_iterate,
    .checksum = sweep_checksum,
    .deviation = sweep_deviation,
    .destroy = sweep_destroy,
};
