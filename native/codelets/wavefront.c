/* wavefront.c: a lower-triangular sweep over a 3-D grid, by wavefronts.
 *
 * lu-wavefront is modelled on the lower sweep (jacld and blts) of NAS LU. A cell of five components needs the
 * results of its lower neighbours along x, y and z: their 5 x 5 blocks, made of the state there, are
 * multiplied with these results, and the cell's own block is solved. Rows of cells along x whose y and z have
 * the same sum do not need each other, so they form a wavefront; a barrier follows each. One parallel region
 * thus holds ny + nz - 1 wavefronts of one row at the corners to the shorter side at most: parallelism grows
 * and shrinks, and a thread's rows lie scattered, one a plane, each next to rows of the wavefronts before. A
 * wavefront reads results that other threads have just written where the shares shift, so cache lines and
 * pages change hands at the edges of shares. Costs: some 400 operations and 120 bytes a cell, and a barrier
 * every few dozen rows. The right-hand side is made from a known solution; each iteration scales it.
 */
#include "blocks.h"
#include "codelet.h"

#include <stdlib.h>

enum { B = BLOCK_ROWS, AXES = 3, MAX_WIDTH = 64 };
enum { STREAM_STATE = 1, STREAM_SOLUTION = 2 };

/* What a neighbour along an axis adds to a cell, besides its state: small enough that errors die out. */
static const double COUPLING = 0.3, DIAGONAL = 4.0, SELF = 0.2;
static const double direction[AXES][B] = {
    {0.10, 0.08, -0.05, 0.02, 0.06}, {0.03, -0.07, 0.09, 0.05, -0.04}, {-0.06, 0.04, 0.01, 0.10, 0.08}};

/* Cells are ordered z, y, x, with x fastest; each has five numbers an array. */
struct sweep {
    size_t nx, ny, nz;
    double *flow, *rhs, *x;
    const struct generator *generator;
};

/* The rows of one wavefront: z from `first` on, and y = number - z. */
struct front {
    const struct sweep *sweep;
    size_t number, first, count;
};

static const struct {
    size_t nx, ny, nz;
} shapes[SIZE_COUNT] = {{12, 32, 32}, {32, 64, 64}, {48, 96, 96}, {64, 192, 200}};

static size_t cells_of(enum codelet_size size) { return shapes[size].nx * shapes[size].ny * shapes[size].nz; }

static size_t sweep_bytes(enum codelet_size size) { return cells_of(size) * 3 * B * sizeof(double); }

static void sweep_destroy(void *state) {
    struct sweep *sweep = state;
    codelet_free(sweep->flow);
    codelet_free(sweep->rhs);
    codelet_free(sweep->x);
    free(sweep);
}

static size_t fronts_of(const struct sweep *sweep) { return sweep->ny + sweep->nz - 1; }

static struct front front_of(const struct sweep *sweep, size_t number) {
    const size_t first = number < sweep->ny ? 0 : number - sweep->ny + 1;
    const size_t end = number < sweep->nz ? number + 1 : sweep->nz;
    return (struct front){sweep, number, first, end - first};
}

/* One row of a stream along x, all zero below the grid. */
static void generate_row(const struct sweep *sweep, uint32_t stream, size_t y, size_t z, double *out) {
    const size_t length = sweep->nx * B, blocks = (length + GENERATOR_BLOCK - 1) / GENERATOR_BLOCK;
    if (y < sweep->ny && z < sweep->nz) /* -1 wraps around */
        generator_fill_reals(sweep->generator, stream, (z * sweep->ny + y) * blocks, out, length);
    else
        for (size_t i = 0; i < length; i++)
            out[i] = 0;
}

/* Make the right-hand side of a row without any block: a block is a multiple of one and an outer product. */
static void multiply_row(double *rhs, size_t nx, double flow[AXES][(MAX_WIDTH + 1) * B],
                         double solution[AXES][(MAX_WIDTH + 1) * B]) {
    for (size_t x = 0; x < nx; x++) {
        const double *own_flow = flow[0] + (x + 1) * B, *own = solution[0] + (x + 1) * B;
        const double along_flow = SELF * block_dot(own_flow, own);
        for (size_t m = 0; m < B; m++)
            rhs[x * B + m] = (DIAGONAL + own_flow[0]) * own[m] + along_flow * own_flow[m];
        for (size_t axis = 0; axis < AXES; axis++) {
            const size_t neighbour = (axis ? x + 1 : x) * B;
            const double along = block_dot(direction[axis], solution[axis] + neighbour);
            for (size_t m = 0; m < B; m++)
                rhs[x * B + m] +=
                    COUPLING * solution[axis][neighbour + m] + along * flow[axis][neighbour + m];
        }
    }
}

static void front_fill(void *state, size_t unit) {
    const struct front *front = state;
    const struct sweep *sweep = front->sweep;
    const size_t z = front->first + unit, y = front->number - z;
    const size_t length = sweep->nx * B, first = (z * sweep->ny + y) * length;
    /* This row, that below along y and that below along z, each behind an empty cell. */
    double flow[AXES][(MAX_WIDTH + 1) * B] = {{0}}, solution[AXES][(MAX_WIDTH + 1) * B] = {{0}};
    for (size_t axis = 0; axis < AXES; axis++) {
        const size_t row_y = axis == 1 ? y - 1 : y, row_z = axis == 2 ? z - 1 : z;
        generate_row(sweep, STREAM_STATE, row_y, row_z, flow[axis] + B);
        generate_row(sweep, STREAM_SOLUTION, row_y, row_z, solution[axis] + B);
    }
    multiply_row(sweep->rhs + first, sweep->nx, flow, solution);
    for (size_t i = 0; i < length; i++) {
        sweep->flow[first + i] = flow[0][B + i];
        sweep->x[first + i] = 0;
    }
}

static void *sweep_create(const struct codelet_setup *setup) {
    struct sweep *sweep = calloc(1, sizeof *sweep);
    if (!sweep)
        return NULL;
    const size_t bytes = cells_of(setup->size) * B * sizeof(double);
    sweep->nx = shapes[setup->size].nx;
    sweep->ny = shapes[setup->size].ny;
    sweep->nz = shapes[setup->size].nz;
    sweep->generator = setup->generator;
    sweep->flow = codelet_allocate(bytes);
    sweep->rhs = codelet_allocate(bytes);
    sweep->x = codelet_allocate(bytes);
    if (!sweep->flow || !sweep->rhs || !sweep->x) {
        sweep_destroy(sweep);
        return NULL;
    }
    /* Each wavefront is distributed as in the kernel. */
    for (size_t number = 0; number < fronts_of(sweep); number++) {
        struct front front = front_of(sweep, number);
        codelet_initialise(setup->init, front.count, front_fill, &front);
    }
    return sweep;
}

/* Subtract from `result` what the cell's lower neighbour along an axis adds to it. */
static inline void subtract_neighbour(const double *flow, const double *neighbour, int axis, double *result) {
    double block[B][B];
    for (int m = 0; m < B; m++)
        for (int n = 0; n < B; n++)
            block[m][n] = direction[axis][n] * flow[m] + (m == n ? COUPLING : 0);
    for (int m = 0; m < B; m++)
        result[m] -= block_dot(block[m], neighbour);
}

/* Symmetric and positive definite: elimination needs no pivoting. */
static inline void solve_own(const double *flow, double *result) {
    double block[B][B];
    for (int m = 0; m < B; m++)
        for (int n = 0; n < B; n++)
            block[m][n] = SELF * flow[m] * flow[n] + (m == n ? DIAGONAL + flow[0] : 0);
    block_solve(block, result);
}

static void sweep_row(const struct sweep *sweep, size_t y, size_t z, double scale) {
    const size_t row = sweep->nx * B, plane = sweep->ny * row, first = z * plane + y * row;
    for (size_t cell = first; cell < first + row; cell += B) {
        const double *flow = sweep->flow + cell;
        double *x = sweep->x + cell, result[B];
        for (int m = 0; m < B; m++)
            result[m] = scale * sweep->rhs[cell + (size_t)m];
        if (z > 0)
            subtract_neighbour(flow - plane, x - plane, 2, result);
        if (y > 0)
            subtract_neighbour(flow - row, x - row, 1, result);
        if (cell > first)
            subtract_neighbour(flow - B, x - B, 0, result);
        solve_own(flow, result);
        for (int m = 0; m < B; m++)
            x[m] = result[m];
    }
}

static double scale_of(int iteration) { return 1.0 + 0.5 * (iteration % 4); }

static void sweep_iterate(void *state, int iteration) {
    const struct sweep *sweep = state;
    const double scale = scale_of(iteration);
    const size_t fronts = fronts_of(sweep);
#pragma omp parallel
    for (size_t number = 0; number < fronts; number++) {
        const struct front front = front_of(sweep, number);
#pragma omp for schedule(monotonic : runtime)
        for (size_t z = front.first; z < front.first + front.count; z++)
            sweep_row(sweep, number - z, z, scale);
    }
}

static double sweep_checksum(const void *state) {
    const struct sweep *sweep = state;
    double sum = 0;
    for (size_t i = 0; i < sweep->nx * sweep->ny * sweep->nz * B; i += 8)
        sum += sweep->x[i];
    return sum;
}

/* The solution is known before any solving. */
static double sweep_deviation(const void *state, int iterations) {
    const struct sweep *sweep = state;
    const double scale = scale_of(iterations - 1);
    double worst = 0, solution[MAX_WIDTH * B];
    for (size_t z = 0; z < sweep->nz; z++)
        for (size_t y = 0; y < sweep->ny; y++) {
            generate_row(sweep, STREAM_SOLUTION, y, z, solution);
            const double *x = sweep->x + (z * sweep->ny + y) * sweep->nx * B;
            for (size_t i = 0; i < sweep->nx * B; i++)
                worst = codelet_worse(worst, x[i], scale * solution[i]);
        }
    return worst;
}

const struct codelet lu_wavefront = {
    .name = "lu-wavefront",
    .family = "wavefront",
    .summary = "Sweeps a 3-D grid by diagonal wavefronts of rows that grow and shrink, a barrier after each.",
    .iterations = 4,
    .tolerance = 1e-12,
    CODELET_FUNCTIONS(sweep),
};
