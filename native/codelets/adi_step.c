/* adi_step.c: the pointwise steps around the line solves of an implicit flow solver.
 *
 * adi-step is modelled on txinvr, tzetar and add of NAS SP. In a first sweep each cell multiplies its
 * right-hand side by the inverse of a 5 x 5 block, known in closed form from the cell's speeds; in a second
 * sweep, after a barrier, each cell multiplies the result by another block and adds it to the solution. Cells
 * do not look at each other: a thread streams its own planes of seven arrays, reading most of them, writing
 * one in the first sweep, updating another in the second. Some 90 operations and two divisions a cell, for
 * 260 bytes, leave one thread between computing and bandwidth, and many bound by bandwidth. A static schedule
 * lets a thread meet its own planes again in the second sweep; another schedule hands what one thread has
 * just written to another. The step's weight goes up and down with the iteration, so the solution stays
 * bounded.
 */
#include "blocks.h"
#include "codelet.h"

#include <stdlib.h>

enum { B = BLOCK_ROWS, AXES = 3 };
enum { STREAM_SOUND = 1, STREAM_RHS = 2, STREAM_SOLUTION = 3, STREAM_VELOCITY = 4 /* and 5 and 6 */ };

static const double DENSITY = 1.5, COUPLING = 0.25;

struct adi {
    size_t plane, planes; /* cells in a plane */
    double *velocity[AXES], *sound;
    double *rhs, *update, *solution; /* five numbers a cell */
    const struct generator *generator;
};

static const struct { size_t side, planes; } shapes[SIZE_COUNT] = {{16, 48}, {40, 64}, {72, 128}, {112, 176}};

static size_t cells_of(enum codelet_size size) {
    return shapes[size].side * shapes[size].side * shapes[size].planes;
}

static size_t adi_bytes(enum codelet_size size) {
    return cells_of(size) * (AXES + 1 + 3 * B) * sizeof(double);
}

static void adi_destroy(void *state) {
    struct adi *adi = state;
    for (int axis = 0; axis < AXES; axis++)
        codelet_free(adi->velocity[axis]);
    codelet_free(adi->sound);
    codelet_free(adi->rhs);
    codelet_free(adi->update);
    codelet_free(adi->solution);
    free(adi);
}

static void adi_fill(void *state, size_t plane) {
    struct adi *adi = state;
    const size_t cells = adi->plane, first = plane * cells; /* a multiple of 64: whole blocks */
    const size_t block = first / GENERATOR_BLOCK;
    for (uint32_t axis = 0; axis < AXES; axis++)
        generator_fill_reals(adi->generator, STREAM_VELOCITY + axis, block, adi->velocity[axis] + first,
                             cells);
    generator_fill_reals(adi->generator, STREAM_SOUND, block, adi->sound + first, cells);
    generator_fill_reals(adi->generator, STREAM_RHS, block * B, adi->rhs + first * B, cells * B);
    generator_fill_reals(adi->generator, STREAM_SOLUTION, block * B, adi->solution + first * B, cells * B);
    for (size_t i = first * B; i < (first + cells) * B; i++)
        adi->update[i] = 0;
}

static void *adi_create(const struct codelet_setup *setup) {
    struct adi *adi = calloc(1, sizeof *adi);
    if (!adi)
        return NULL;
    const size_t cells = cells_of(setup->size);
    adi->plane = shapes[setup->size].side * shapes[setup->size].side;
    adi->planes = shapes[setup->size].planes;
    adi->generator = setup->generator;
    for (int axis = 0; axis < AXES; axis++)
        adi->velocity[axis] = codelet_allocate(cells * sizeof(double));
    adi->sound = codelet_allocate(cells * sizeof(double));
    adi->rhs = codelet_allocate(cells * B * sizeof(double));
    adi->update = codelet_allocate(cells * B * sizeof(double));
    adi->solution = codelet_allocate(cells * B * sizeof(double));
    if (!adi->velocity[0] || !adi->velocity[1] || !adi->velocity[2] || !adi->sound || !adi->rhs ||
        !adi->update || !adi->solution) {
        adi_destroy(adi);
        return NULL;
    }
    codelet_initialise(setup->init, adi->planes, adi_fill, adi);
    return adi;
}

/* What a cell's blocks are made of: density, momenta and energy; and how the pressure feels them. */
struct vectors {
    double conserved[B], pressure[B];
};

static inline struct vectors vectors_of(double u, double v, double w) {
    const double energy = 0.5 * (u * u + v * v + w * w);
    return (struct vectors){{1, u, v, w, energy},
                            {COUPLING * energy, COUPLING * u, COUPLING * v, COUPLING * w, COUPLING}};
}

static inline struct vectors cell_vectors(const struct adi *adi, size_t cell) {
    return vectors_of(adi->velocity[0][cell], adi->velocity[1][cell], adi->velocity[2][cell]);
}

/* update = inverse block * rhs. The block is an outer product plus a diagonal, whose inverse is one too
 * (Sherman and Morrison); all terms are positive. */
static void invert_plane(const struct adi *adi, size_t plane) {
    for (size_t cell = plane * adi->plane; cell < (plane + 1) * adi->plane; cell++) {
        const struct vectors vectors = cell_vectors(adi, cell);
        const double *rhs = adi->rhs + cell * B;
        double *update = adi->update + cell * B;
        const double diagonal = DENSITY + adi->sound[cell], inverse = 1 / diagonal;
        const double factor =
            block_dot(vectors.pressure, rhs) / (diagonal + block_dot(vectors.pressure, vectors.conserved));
        for (int m = 0; m < B; m++)
            update[m] = inverse * (rhs[m] - factor * vectors.conserved[m]);
    }
}

/* solution += weight * block * update; the block is an outer product plus a diagonal here too. */
static void add_plane(const struct adi *adi, size_t plane, double weight) {
    for (size_t cell = plane * adi->plane; cell < (plane + 1) * adi->plane; cell++) {
        const struct vectors vectors = cell_vectors(adi, cell);
        const double *update = adi->update + cell * B;
        double *solution = adi->solution + cell * B;
        const double product = block_dot(vectors.conserved, update), sound = adi->sound[cell];
        for (int m = 0; m < B; m++)
            solution[m] += weight * (sound * update[m] + product * vectors.pressure[m]);
    }
}

/* The weights of four iterations in a row add up to zero. */
static double weight_of(int iteration) {
    static const double weights[4] = {1, 0.5, -1, -0.5};
    return weights[iteration % 4];
}

static void adi_iterate(void *state, int iteration) {
    const struct adi *adi = state;
    const double weight = weight_of(iteration);
#pragma omp parallel
    {
#pragma omp for schedule(monotonic : runtime)
        for (size_t plane = 0; plane < adi->planes; plane++)
            invert_plane(adi, plane);
#pragma omp for schedule(monotonic : runtime)
        for (size_t plane = 0; plane < adi->planes; plane++)
            add_plane(adi, plane, weight);
    }
}

static double adi_checksum(const void *state) {
    const struct adi *adi = state;
    double sum = 0;
    for (size_t i = 0; i < adi->plane * adi->planes * B; i += 8)
        sum += adi->solution[i];
    return sum;
}

/* The outer product of two vectors, and `diagonal` along the diagonal. */
static void make_block(const double *column, const double *row, double diagonal, double block[B][B]) {
    for (int m = 0; m < B; m++)
        for (int n = 0; n < B; n++)
            block[m][n] = column[m] * row[n] + (m == n ? diagonal : 0);
}

/* What one step of weight 1 adds to a cell: both blocks written out, and the first solved by elimination. */
static void expected_step(const struct adi *adi, size_t cell, double step[B]) {
    double speed[AXES], block[B][B], solved[B];
    for (uint32_t axis = 0; axis < AXES; axis++)
        speed[axis] = generator_real(adi->generator, STREAM_VELOCITY + axis, cell);
    const struct vectors vectors = vectors_of(speed[0], speed[1], speed[2]);
    const double sound = generator_real(adi->generator, STREAM_SOUND, cell);
    for (size_t m = 0; m < B; m++)
        solved[m] = generator_real(adi->generator, STREAM_RHS, cell * B + m);
    make_block(vectors.conserved, vectors.pressure, DENSITY + sound, block);
    block_solve(block, solved);
    make_block(vectors.pressure, vectors.conserved, sound, block);
    for (int m = 0; m < B; m++)
        step[m] = block_dot(block[m], solved);
}

static double adi_deviation(const void *state, int iterations) {
    const struct adi *adi = state;
    double weight = 0, worst = 0;
    for (int iteration = 0; iteration < iterations % 4; iteration++)
        weight += weight_of(iteration);
    for (size_t cell = 0; cell < adi->plane * adi->planes; cell++) {
        double step[B];
        expected_step(adi, cell, step);
        for (size_t m = 0; m < B; m++)
            worst = codelet_worse(worst, adi->solution[cell * B + m],
                                  generator_real(adi->generator, STREAM_SOLUTION, cell * B + m) +
                                      weight * step[m]);
    }
    return worst;
}

const struct codelet adi_step = {
    .name = "adi-step",
    .family = "line-solve",
    .summary =
        "Inverts a small block at each cell, then adds another times the result, streaming seven arrays.",
    .iterations = 12,
    .tolerance = 1e-11,
    CODELET_FUNCTIONS(adi),
};
