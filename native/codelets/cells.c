/* cells.c: short-range forces between particles that are binned in a periodic 3-D grid of cells.
 *
 * Modelled on Rodinia's lavaMD and on the linked-cell method of molecular dynamics. A cell holds 16
 * particles. A thread owns rows of cells: it writes the motion of its own particles alone, and reads the
 * particles of the 26 cells around each, those at the edges of its share from other threads. A cell of half a
 * kilobyte is read 27 times, mostly from cache, and each particle meets 432 others with one division each:
 * computing bounds it, not memory.
 */
#include "codelet.h"

#include <stdlib.h>

enum { PER_CELL = 16, REALS_PER_CELL = 4 * PER_CELL, AROUND = 27, STREAM_BODIES = 1 };

static const double SOFTENING = 0.25, FRICTION = 0.5;

struct body {
    double x, y, z, charge; /* within the cell, whose side is 1 and also the forces' reach */
};

struct motion {
    double x, y, z, potential;
};

struct cells {
    size_t n; /* along each axis; a row has n cells */
    struct body *bodies;
    struct motion *motions;
    const struct generator *generator;
};

static size_t cells_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {6, 14, 18, 44};
    return n[size];
}

static size_t cells_bodies(size_t n) { return n * n * n * PER_CELL; }

static size_t cells_bytes(enum codelet_size size) {
    return cells_bodies(cells_n(size)) * (sizeof(struct body) + sizeof(struct motion));
}

static void cells_destroy(void *state) {
    struct cells *cells = state;
    codelet_free(cells->bodies);
    codelet_free(cells->motions);
    free(cells);
}

static void cells_fill(void *state, size_t row) {
    struct cells *cells = state;
    for (size_t cell = row * cells->n; cell < (row + 1) * cells->n; cell++) {
        double reals[REALS_PER_CELL];
        generator_fill_reals(cells->generator, STREAM_BODIES, cell, reals, REALS_PER_CELL);
        for (size_t i = 0; i < PER_CELL; i++) {
            const double *four = reals + 4 * i;
            cells->bodies[cell * PER_CELL + i] = (struct body){four[0], four[1], four[2], four[3]};
            cells->motions[cell * PER_CELL + i] = (struct motion){0, 0, 0, 0};
        }
    }
}

static void *cells_create(const struct codelet_setup *setup) {
    struct cells *cells = calloc(1, sizeof *cells);
    if (!cells)
        return NULL;
    const size_t n = cells->n = cells_n(setup->size);
    cells->generator = setup->generator;
    cells->bodies = codelet_allocate(cells_bodies(n) * sizeof(struct body));
    cells->motions = codelet_allocate(cells_bodies(n) * sizeof(struct motion));
    if (!cells->bodies || !cells->motions) {
        cells_destroy(cells);
        return NULL;
    }
    codelet_initialise(setup->init, n * n, cells_fill, cells);
    return cells;
}

static double time_step_of(int iteration) { return 0.5 + 0.125 * (iteration % 4); }

/* The step from a cell to one of those around it, along one axis: -1, 0 or 1. */
static int step_along(int around, int axis) {
    static const int weights[3] = {1, 3, 9};
    return around / weights[axis] % 3 - 1;
}

static size_t cell_around(size_t n, const size_t at[3], int around) {
    size_t there[3];
    for (int axis = 0; axis < 3; axis++)
        there[axis] = (at[axis] + n + (size_t)step_along(around, axis)) % n;
    return (there[2] * n + there[1]) * n + there[0];
}

/* Add what all bodies of one cell do to the one at `here`, in that cell's coordinates. */
static inline void attract(struct body here, const struct body *bodies, struct motion *sum) {
    struct motion force = *sum;
    for (int i = 0; i < PER_CELL; i++) {
        const double x = bodies[i].x - here.x, y = bodies[i].y - here.y, z = bodies[i].z - here.z;
        const double square = x * x + y * y + z * z;
        const double rest = 1 - square, fade = rest > 0 ? rest : 0; /* a maximum, not a branch */
        const double strength = bodies[i].charge * fade * fade / (square + SOFTENING);
        force.x += strength * x;
        force.y += strength * y;
        force.z += strength * z;
        force.potential += strength;
    }
    *sum = force;
}

static void kick_cell(const struct cells *cells, const size_t at[3], double time_step) {
    const size_t first = cell_around(cells->n, at, AROUND / 2) * PER_CELL;
    struct motion forces[PER_CELL] = {{0, 0, 0, 0}};
    for (int around = 0; around < AROUND; around++) {
        const struct body *bodies = cells->bodies + cell_around(cells->n, at, around) * PER_CELL;
        for (size_t i = 0; i < PER_CELL; i++) {
            struct body here = cells->bodies[first + i];
            here.x -= step_along(around, 0);
            here.y -= step_along(around, 1);
            here.z -= step_along(around, 2);
            attract(here, bodies, &forces[i]);
        }
    }
    for (size_t i = 0; i < PER_CELL; i++) {
        struct motion *motion = &cells->motions[first + i];
        motion->x = FRICTION * motion->x + time_step * forces[i].x;
        motion->y = FRICTION * motion->y + time_step * forces[i].y;
        motion->z = FRICTION * motion->z + time_step * forces[i].z;
        motion->potential = FRICTION * motion->potential + time_step * forces[i].potential;
    }
}

static void cells_iterate(void *state, int iteration) {
    const struct cells *cells = state;
    const size_t n = cells->n;
    const double time_step = time_step_of(iteration);
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t row = 0; row < n * n; row++)
        for (size_t column = 0; column < n; column++) {
            const size_t at[3] = {column, row % n, row / n};
            kick_cell(cells, at, time_step);
        }
}

static double cells_checksum(const void *state) {
    const struct cells *cells = state;
    double sum = 0;
    for (size_t i = 0; i < cells_bodies(cells->n); i++)
        sum += cells->motions[i].x + 2 * cells->motions[i].y + 3 * cells->motions[i].z +
               cells->motions[i].potential;
    return sum;
}

/* Both sides of one pair, by Newton's third law; `shift` leads from a's cell to b's. */
static void add_pair(const double *a, const double *b, const double shift[3], struct motion *on_a,
                     struct motion *on_b) {
    const double x = shift[0] + b[0] - a[0], y = shift[1] + b[1] - a[1], z = shift[2] + b[2] - a[2];
    const double fade = 1 - (x * x + y * y + z * z);
    if (fade <= 0)
        return;
    const double weight = fade / (1 + SOFTENING - fade) * fade, to_a = weight * b[3], to_b = weight * a[3];
    on_a->x += to_a * x;
    on_a->y += to_a * y;
    on_a->z += to_a * z;
    on_a->potential += to_a;
    on_b->x -= to_b * x;
    on_b->y -= to_b * y;
    on_b->z -= to_b * z;
    on_b->potential += to_b;
}

/* All pairs of a cell with itself and with half of the cells around it: each pair once. */
static void add_pairs_of_cell(const struct cells *cells, const size_t at[3], struct motion *forces) {
    const size_t here = cell_around(cells->n, at, AROUND / 2);
    double own[REALS_PER_CELL], other[REALS_PER_CELL];
    generator_fill_reals(cells->generator, STREAM_BODIES, here, own, REALS_PER_CELL);
    for (int around = AROUND / 2; around < AROUND; around++) {
        const size_t there = cell_around(cells->n, at, around);
        const double shift[3] = {step_along(around, 0), step_along(around, 1), step_along(around, 2)};
        generator_fill_reals(cells->generator, STREAM_BODIES, there, other, REALS_PER_CELL);
        for (size_t a = 0; a < PER_CELL; a++)
            for (size_t b = here == there ? a + 1 : 0; b < PER_CELL; b++)
                add_pair(own + 4 * a, other + 4 * b, shift, forces + here * PER_CELL + a,
                         forces + there * PER_CELL + b);
    }
    for (size_t a = 0; a < PER_CELL; a++) /* a body meets itself too, at no distance */
        forces[here * PER_CELL + a].potential += own[4 * a + 3] / SOFTENING;
}

/* The forces never change, so the friction's sum over all iterations is one factor. */
static double cells_deviation(const void *state, int iterations) {
    const struct cells *cells = state;
    const size_t n = cells->n;
    struct motion *forces = calloc(cells_bodies(n), sizeof *forces);
    if (!forces)
        return DEVIATION_UNKNOWN;
    for (size_t cell = 0; cell < n * n * n; cell++) {
        const size_t at[3] = {cell % n, cell / n % n, cell / n / n};
        add_pairs_of_cell(cells, at, forces);
    }
    double factor = 0, worst = 0;
    for (int iteration = 0; iteration < iterations; iteration++)
        factor = FRICTION * factor + time_step_of(iteration);
    for (size_t i = 0; i < cells_bodies(n); i++) {
        worst = codelet_worse(worst, cells->motions[i].x, factor * forces[i].x);
        worst = codelet_worse(worst, cells->motions[i].y, factor * forces[i].y);
        worst = codelet_worse(worst, cells->motions[i].z, factor * forces[i].z);
        worst = codelet_worse(worst, cells->motions[i].potential, factor * forces[i].potential);
    }
    free(forces);
    return worst;
}

const struct codelet nbody_cells = {
    .name = "nbody-cells",
    .family = "particles",
    .summary =
        "Computes forces between particles binned in 3-D cells: reads the cells around, writes its own.",
    .iterations = 2,
    .tolerance = 1e-11,
    CODELET_FUNCTIONS(cells),
};
