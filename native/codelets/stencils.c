/* stencils.c: stencils on regular grids, in two and in three dimensions.
 *
 * jacobi-2d is a Jacobi sweep of the 5-point Laplace stencil between two grids. A thread's rows are
 * contiguous, and it shares only the rows at its share's edges with its neighbours: bandwidth-bound, with
 * little exchange. It is modelled on the sweeps that open most textbooks on the subject and on PolyBench's
 * jacobi-2d.
 *
 * rhs-3d computes a right-hand side from a grid of 5-component cells: central first and second differences
 * and a fourth-order dissipation along each axis, over a 13-cell star. It is modelled on compute_rhs of NAS
 * BT and SP, here in one pass. A thread owns contiguous planes and reads two planes of each neighbour;
 * several planes must stay in cache for a cell to be read from memory once.
 */
#include "codelet.h"

#include <stdlib.h>

#define PI 3.14159265358979323846

/* ---- jacobi-2d ---- */

struct jacobi {
    size_t n;
    double *front, *back;    /* n x n; the current grid and the one to be written next */
    double *wave_x, *wave_y; /* the starting wave along each axis */
    double amplitude, decay; /* the wave's height, and what a sweep leaves of it */
};

static size_t jacobi_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {320, 1024, 2560, 4864};
    return n[size];
}

static size_t jacobi_bytes(enum codelet_size size) {
    return 2 * jacobi_n(size) * jacobi_n(size) * sizeof(double);
}

static void jacobi_destroy(void *state) {
    struct jacobi *jacobi = state;
    codelet_free(jacobi->front);
    codelet_free(jacobi->back);
    free(jacobi->wave_x);
    free(jacobi->wave_y);
    free(jacobi);
}

/* A grid function that the sweep leaves as it is: each cell is the mean of its four neighbours. */
static double jacobi_harmonic(const struct jacobi *jacobi, size_t row, size_t column) {
    const double x = (double)column / (double)(jacobi->n - 1), y = (double)row / (double)(jacobi->n - 1);
    return 1.0 + x - y + 0.5 * x * y;
}

static void jacobi_fill(void *state, size_t row) {
    struct jacobi *jacobi = state;
    const double left = jacobi_harmonic(jacobi, row, 0);
    const double step = (jacobi_harmonic(jacobi, row, jacobi->n - 1) - left) / (double)(jacobi->n - 1);
    const double height = jacobi->amplitude * jacobi->wave_y[row];
    double *front = jacobi->front + row * jacobi->n, *back = jacobi->back + row * jacobi->n;
    for (int column = 0; column < (int)jacobi->n; column++) {
        front[column] = left + step * column + height * jacobi->wave_x[column];
        back[column] = front[column];
    }
}

static void *jacobi_create(const struct codelet_setup *setup) {
    struct jacobi *jacobi = calloc(1, sizeof *jacobi);
    if (!jacobi)
        return NULL;
    const size_t n = jacobi->n = jacobi_n(setup->size);
    jacobi->front = codelet_allocate(n * n * sizeof(double));
    jacobi->back = codelet_allocate(n * n * sizeof(double));
    jacobi->wave_x = malloc(n * sizeof(double));
    jacobi->wave_y = malloc(n * sizeof(double));
    if (!jacobi->front || !jacobi->back || !jacobi->wave_x || !jacobi->wave_y) {
        jacobi_destroy(jacobi);
        return NULL;
    }
    const uint64_t hash = generator_hash(setup->generator, 0, 0);
    const double step_x = PI * (double)(16 + hash % 32) / (double)(n - 1);
    const double step_y = PI * (double)(16 + hash / 32 % 32) / (double)(n - 1);
    for (size_t i = 0; i < n; i++) {
        jacobi->wave_x[i] = sin(step_x * (double)i);
        jacobi->wave_y[i] = sin(step_y * (double)i);
    }
    jacobi->amplitude = 0.5 + (double)(hash >> 44) * 0x1p-20;
    /* A product of sines is an eigenvector of the sweep, with this eigenvalue. */
    jacobi->decay = 0.5 * (cos(step_x) + cos(step_y));
    codelet_initialise(setup->init, n, jacobi_fill, jacobi);
    return jacobi;
}

static void jacobi_iterate(void *state, int iteration) {
    struct jacobi *jacobi = state;
    const size_t n = jacobi->n;
    (void)iteration;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t row = 1; row < n - 1; row++) {
        const double *restrict here = jacobi->front + row * n;
        const double *restrict above = here - n, *restrict below = here + n;
        double *restrict next = jacobi->back + row * n;
        for (size_t column = 1; column < n - 1; column++)
            next[column] = 0.25 * (above[column] + below[column] + here[column - 1] + here[column + 1]);
    }
    double *swept = jacobi->back;
    jacobi->back = jacobi->front;
    jacobi->front = swept;
}

static double jacobi_checksum(const void *state) {
    const struct jacobi *jacobi = state;
    double sum = 0;
    for (size_t i = 0; i < jacobi->n * jacobi->n; i += 8)
        sum += jacobi->front[i];
    return sum;
}

/* The closed form: the harmonic part stays, the wave decays by a known factor a sweep. */
static double jacobi_deviation(const void *state, int iterations) {
    const struct jacobi *jacobi = state;
    const double height = jacobi->amplitude * pow(jacobi->decay, iterations);
    double worst = 0;
    for (size_t row = 1; row < jacobi->n - 1; row++)
        for (size_t column = 1; column < jacobi->n - 1; column++) {
            const double wave = height * jacobi->wave_x[column] * jacobi->wave_y[row];
            worst = codelet_worse(worst, jacobi->front[row * jacobi->n + column],
                                  jacobi_harmonic(jacobi, row, column) + wave);
        }
    return worst;
}

const struct codelet jacobi_2d = {
    .name = "jacobi-2d",
    .family = "stencils",
    .summary =
        "Sweeps a 5-point stencil over a 2-D grid, each thread its own rows, sharing only rows at the edges.",
    .iterations = 60,
    .tolerance = 1e-10,
    CODELET_FUNCTIONS(jacobi),
};

/* ---- rhs-3d ---- */

enum { COMPONENTS = 5, REACH = 2, STREAM_U = 1, STREAM_FORCING = 2 };

static const double DIFFUSION = 0.1, DISSIPATION = 0.05, ADVECTION = 0.3;

struct rhs {
    size_t n, planes; /* a plane has n x n cells */
    double *u, *forcing, *rhs;
    const struct generator *generator;
};

static size_t rhs_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {24, 48, 96, 144};
    return n[size];
}

static size_t rhs_planes(enum codelet_size size) {
    static const size_t planes[SIZE_COUNT] = {28, 60, 96, 144};
    return planes[size];
}

static size_t rhs_array_bytes(enum codelet_size size) {
    return rhs_n(size) * rhs_n(size) * rhs_planes(size) * COMPONENTS * sizeof(double);
}

static size_t rhs_bytes(enum codelet_size size) { return 3 * rhs_array_bytes(size); }

static void rhs_destroy(void *state) {
    struct rhs *rhs = state;
    codelet_free(rhs->u);
    codelet_free(rhs->forcing);
    codelet_free(rhs->rhs);
    free(rhs);
}

static void rhs_fill(void *state, size_t plane) {
    struct rhs *rhs = state;
    const size_t length = rhs->n * rhs->n * COMPONENTS,
                 first = plane * length; /* n is a multiple of 8: whole blocks */
    generator_fill_reals(rhs->generator, STREAM_U, first / GENERATOR_BLOCK, rhs->u + first, length);
    generator_fill_reals(rhs->generator, STREAM_FORCING, first / GENERATOR_BLOCK, rhs->forcing + first,
                         length);
    for (size_t i = first; i < first + length; i++)
        rhs->rhs[i] = 0;
}

static void *rhs_create(const struct codelet_setup *setup) {
    struct rhs *rhs = calloc(1, sizeof *rhs);
    if (!rhs)
        return NULL;
    rhs->n = rhs_n(setup->size);
    rhs->planes = rhs_planes(setup->size);
    rhs->generator = setup->generator;
    rhs->u = codelet_allocate(rhs_array_bytes(setup->size));
    rhs->forcing = codelet_allocate(rhs_array_bytes(setup->size));
    rhs->rhs = codelet_allocate(rhs_array_bytes(setup->size));
    if (!rhs->u || !rhs->forcing || !rhs->rhs) {
        rhs_destroy(rhs);
        return NULL;
    }
    codelet_initialise(setup->init, rhs->planes, rhs_fill, rhs);
    return rhs;
}

static double time_step_of(int iteration) { return 0.5 + 0.125 * (iteration % 4); }

/* What one axis adds to a component; `stride` leads to the next cell along the axis. Component 0 acts as the
 * speed. */
static inline double along_axis(const double *u, ptrdiff_t stride, double speed) {
    const double second = u[stride] - 2 * u[0] + u[-stride];
    const double fourth = u[2 * stride] - 4 * u[stride] + 6 * u[0] - 4 * u[-stride] + u[-2 * stride];
    return DIFFUSION * second - DISSIPATION * fourth - speed * (u[stride] - u[-stride]);
}

static void rhs_iterate(void *state, int iteration) {
    const struct rhs *rhs = state;
    const size_t n = rhs->n;
    const ptrdiff_t along_x = COMPONENTS, along_y = along_x * (ptrdiff_t)n, along_z = along_y * (ptrdiff_t)n;
    const double time_step = time_step_of(iteration);
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t plane = REACH; plane < rhs->planes - REACH; plane++)
        for (size_t row = REACH; row < n - REACH; row++)
            for (size_t column = REACH; column < n - REACH; column++) {
                const size_t cell = ((plane * n + row) * n + column) * COMPONENTS;
                const double *u = rhs->u + cell;
                const double speed = 0.5 * ADVECTION * u[0];
                for (int m = 0; m < COMPONENTS; m++)
                    rhs->rhs[cell + m] =
                        time_step * (rhs->forcing[cell + m] + along_axis(u + m, along_x, speed) +
                                     along_axis(u + m, along_y, speed) + along_axis(u + m, along_z, speed));
            }
}

static double rhs_checksum(const void *state) {
    const struct rhs *rhs = state;
    double sum = 0;
    for (size_t i = 0; i < rhs->n * rhs->n * rhs->planes * COMPONENTS; i += 8)
        sum += rhs->rhs[i];
    return sum;
}

/* One table of 13 weights instead of three sums of differences, on elements from the generator. */
static double rhs_expected(const struct rhs *rhs, size_t index, double speed) {
    const ptrdiff_t n = (ptrdiff_t)rhs->n;
    const ptrdiff_t strides[3] = {COMPONENTS, n * COMPONENTS, n * n * COMPONENTS};
    const double weights[5] = {-DISSIPATION, DIFFUSION + 4 * DISSIPATION + 0.5 * ADVECTION * speed,
                               -2 * DIFFUSION - 6 * DISSIPATION,
                               DIFFUSION + 4 * DISSIPATION - 0.5 * ADVECTION * speed, -DISSIPATION};
    double sum = generator_real(rhs->generator, STREAM_FORCING, index) +
                 3 * weights[REACH] * generator_real(rhs->generator, STREAM_U, index);
    for (int axis = 0; axis < 3; axis++)
        for (ptrdiff_t step = -REACH; step <= REACH; step++)
            if (step)
                sum += weights[step + REACH] *
                       generator_real(rhs->generator, STREAM_U, index + (size_t)(step * strides[axis]));
    return sum;
}

static double rhs_deviation(const void *state, int iterations) {
    const struct rhs *rhs = state;
    const double time_step = time_step_of(iterations - 1);
    double worst = 0;
    for (size_t plane = 0; plane < rhs->planes; plane++)
        for (size_t row = 0; row < rhs->n; row++)
            for (size_t column = 0; column < rhs->n; column++) {
                const int inside = plane >= REACH && plane < rhs->planes - REACH && row >= REACH &&
                                   row < rhs->n - REACH && column >= REACH && column < rhs->n - REACH;
                const size_t cell = ((plane * rhs->n + row) * rhs->n + column) * COMPONENTS;
                const double speed = generator_real(rhs->generator, STREAM_U, cell);
                for (size_t i = cell; i < cell + COMPONENTS; i++)
                    worst = codelet_worse(worst, rhs->rhs[i],
                                          inside ? time_step * rhs_expected(rhs, i, speed) : 0.0);
            }
    return worst;
}

const struct codelet rhs_3d = {
    .name = "rhs-3d",
    .family = "stencils",
    .summary =
        "Reads a 13-cell star of 5-component cells in a 3-D grid, each thread its own planes and two of each "
        "neighbour.",
    .iterations = 12,
    .tolerance = 1e-13,
    CODELET_FUNCTIONS(rhs),
};
