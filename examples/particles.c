/* particles.c: particles that push each other apart, a program with nested data.
 *
 *     clang -O2 -fopenmp -o particles particles.c -lm
 *     ./particles [CELLS_A_SIDE [STEPS]]
 *
 * The plane, a torus, is cut into cells as wide as the forces reach. A cell points to its particles,
 * allocated by itself, and to its eight neighbours; so a force is found by following pointers twice. All of
 * it is built by the first thread. Each step computes the forces, then moves the particles; every few steps
 * the first thread hands those that have left a cell to the right one.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARTICLES_A_CELL = 4, NEIGHBOURS = 8, STEPS_BETWEEN_SORTS = 5 };

static const double STIFFNESS = 40.0, TIME_STEP = 0.002;

struct particle {
    double x, y; /* in units of a cell's width */
    double speed_x, speed_y;
    double force_x, force_y;
};

struct cell {
    int count, room;
    struct particle *particles;
    struct cell *neighbours[NEIGHBOURS];
};

struct plane {
    long side; /* cells */
    struct cell **cells;
};

static void out_of_memory(void) {
    fprintf(stderr, "particles: out of memory\n");
    exit(1);
}

static void add_particle(struct cell *cell, struct particle particle) {
    if (cell->count == cell->room) {
        cell->room *= 2;
        cell->particles = realloc(cell->particles, (size_t)cell->room * sizeof *cell->particles);
        if (!cell->particles)
            out_of_memory();
    }
    cell->particles[cell->count++] = particle;
}

static struct cell *cell_at(const struct plane *plane, long row, long column) {
    const long side = plane->side;
    return plane->cells[(row + side) % side * side + (column + side) % side];
}

/* A cell with its particles near the corners of a square, each off by a little and at rest. */
static struct cell *new_cell(long row, long column, unsigned *random) {
    struct cell *cell = malloc(sizeof *cell);
    if (!cell)
        out_of_memory();
    cell->count = 0;
    cell->room = 2 * PARTICLES_A_CELL;
    cell->particles = malloc((size_t)cell->room * sizeof *cell->particles);
    if (!cell->particles)
        out_of_memory();
    for (int i = 0; i < PARTICLES_A_CELL; i++) {
        *random = *random * 1664525u + 1013904223u; /* Numerical Recipes' quick generator */
        const double x = (double)column + 0.25 + 0.5 * (i % 2) + 0.2 * ((*random >> 24) / 256.0 - 0.5);
        const double y = (double)row + 0.25 + 0.5 * (i / 2 % 2) + 0.2 * ((*random >> 16 & 255) / 256.0 - 0.5);
        add_particle(cell, (struct particle){.x = x, .y = y});
    }
    return cell;
}

static struct plane *new_plane(long side) {
    struct plane *plane = malloc(sizeof *plane);
    if (!plane)
        out_of_memory();
    plane->side = side;
    plane->cells = malloc((size_t)(side * side) * sizeof *plane->cells);
    if (!plane->cells)
        out_of_memory();
    unsigned random = 1;
    for (long i = 0; i < side * side; i++)
        plane->cells[i] = new_cell(i / side, i % side, &random);
    for (long i = 0; i < side * side; i++) {
        int neighbour = 0;
        for (long step = 0; step < 9; step++)
            if (step != 4) /* the cell itself */
                plane->cells[i]->neighbours[neighbour++] =
                    cell_at(plane, i / side + step / 3 - 1, i % side + step % 3 - 1);
    }
    return plane;
}

/* The shorter way from one coordinate to another on the torus. */
static double apart(double from, double to, double side) {
    const double difference = to - from;
    return difference > side / 2    ? difference - side
           : difference < -side / 2 ? difference + side
                                    : difference;
}

/* Add what one cell's particles do to one particle: a spring that only pushes, within one cell's width. */
static void push(struct particle *particle, const struct cell *cell, double side) {
    for (int i = 0; i < cell->count; i++) {
        const double x = apart(cell->particles[i].x, particle->x, side);
        const double y = apart(cell->particles[i].y, particle->y, side);
        const double square = x * x + y * y;
        if (square >= 1 || square == 0)
            continue; /* out of reach, or the particle itself */
        const double distance = sqrt(square), strength = STIFFNESS * (1 - distance) / distance;
        particle->force_x += strength * x;
        particle->force_y += strength * y;
    }
}

static void compute_forces(struct plane *plane) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < plane->side * plane->side; i++) {
        struct cell *cell = plane->cells[i];
        for (int j = 0; j < cell->count; j++) {
            struct particle *particle = &cell->particles[j];
            particle->force_x = particle->force_y = 0;
            push(particle, cell, (double)plane->side);
            for (int neighbour = 0; neighbour < NEIGHBOURS; neighbour++)
                push(particle, cell->neighbours[neighbour], (double)plane->side);
        }
    }
}

static double wrapped(double position, double side) {
    return position < 0 ? position + side : position >= side ? position - side : position;
}

/* Move all particles; return their kinetic energy. */
static double move_particles(struct plane *plane) {
    double energy = 0;
#pragma omp parallel for schedule(static) reduction(+ : energy)
    for (long i = 0; i < plane->side * plane->side; i++)
        for (int j = 0; j < plane->cells[i]->count; j++) {
            struct particle *particle = &plane->cells[i]->particles[j];
            particle->speed_x += TIME_STEP * particle->force_x;
            particle->speed_y += TIME_STEP * particle->force_y;
            particle->x = wrapped(particle->x + TIME_STEP * particle->speed_x, (double)plane->side);
            particle->y = wrapped(particle->y + TIME_STEP * particle->speed_y, (double)plane->side);
            energy += 0.5 * (particle->speed_x * particle->speed_x + particle->speed_y * particle->speed_y);
        }
    return energy;
}

/* Hand particles that left their cell to the one they are in. */
static void sort_particles(struct plane *plane) {
    for (long i = 0; i < plane->side * plane->side; i++) {
        struct cell *cell = plane->cells[i];
        for (int j = 0; j < cell->count;) {
            struct cell *home = cell_at(plane, (long)cell->particles[j].y, (long)cell->particles[j].x);
            if (home == cell) {
                j++;
                continue;
            }
            add_particle(home, cell->particles[j]);
            cell->particles[j] = cell->particles[--cell->count];
        }
    }
}

int main(int argc, char **argv) {
    const long side = argc > 1 ? atol(argv[1]) : 400;
    const long steps = argc > 2 ? atol(argv[2]) : 8;
    if (side < 3 || side > 5000 || steps < 1) {
        fprintf(stderr, "usage: particles [CELLS_A_SIDE (3 to 5000) [STEPS (from 1)]]\n");
        return 2;
    }
    const double start_s = omp_get_wtime();
    struct plane *plane = new_plane(side);
    const double kernel_start_s = omp_get_wtime();
    double energy = 0;
    for (long step = 1; step <= steps; step++) {
        compute_forces(plane);
        energy = move_particles(plane);
        if (step % STEPS_BETWEEN_SORTS == 0)
            sort_particles(plane);
    }
    const double end_s = omp_get_wtime();
    printf("particles cells=%ld steps=%ld threads=%d energy=%.6e kernel_seconds=%.6f total_seconds=%.6f\n",
           side * side, steps, omp_get_max_threads(), energy, end_s - kernel_start_s, end_s - start_s);
    return 0;
}
