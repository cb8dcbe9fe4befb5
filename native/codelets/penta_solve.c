/* penta_solve.c: scalar pentadiagonal systems along x, five a grid line.
 *
 * penta-solve-x is modelled on x_solve of NAS SP. The five components of a cell are decoupled: each is a
 * scalar system over its line, with five bands. Three components share the bands of the flow itself, the
 * other two have those of the waves that run with and against it. The bands are made as the line is solved,
 * from three numbers a cell, and stay in the first cache; so memory holds the right-hand sides and three
 * small arrays to be read and the solution to be written, 104 bytes a cell, all contiguous along the line. A
 * thread owns contiguous planes and shares nothing. Elimination is a chain of dependent operations with a
 * division a cell and wave, so one thread is bound by latency and many are bound by bandwidth. The right-hand
 * side is made from a known solution; each iteration scales it.
 */
#include "codelet.h"

#include <stdlib.h>
#include <string.h>

enum { COMPONENTS = 5, WAVES = 3, REACH = 2, MAX_LENGTH = 128 };
enum { STREAM_FLOW = 1, STREAM_SOUND = 2, STREAM_VISCOSITY = 3, STREAM_SOLUTION = 4 };

static const double DISSIPATION = 0.05, ADVECTION = 0.15, DIFFUSION = 0.1;

/* A wave's speed relative to the flow's, in multiples of the speed of sound; and its components. */
static const struct wave {
    double sound;
    int first, count;
} waves[WAVES] = {{0, 0, 3}, {1, 3, 1}, {-1, 4, 1}};

/* Cells are ordered z, y, x, with x fastest. */
struct penta {
    size_t nx, ny, nz;
    double *flow, *sound, *viscosity; /* one number a cell */
    double *rhs, *x;                  /* five */
    const struct generator *generator;
};

static const struct {
    size_t nx, ny, nz;
} shapes[SIZE_COUNT] = {{24, 16, 32}, {48, 48, 64}, {80, 80, 128}, {120, 120, 200}};

static size_t cells_of(enum codelet_size size) { return shapes[size].nx * shapes[size].ny * shapes[size].nz; }

static size_t penta_bytes(enum codelet_size size) {
    return cells_of(size) * (3 + 2 * COMPONENTS) * sizeof(double);
}

static void penta_destroy(void *state) {
    struct penta *penta = state;
    codelet_free(penta->flow);
    codelet_free(penta->sound);
    codelet_free(penta->viscosity);
    codelet_free(penta->rhs);
    codelet_free(penta->x);
    free(penta);
}

/* Make one component's right-hand side on a line from the solution in x, without any bands: by differences of
 * the solution and of its products with the cells' numbers. */
static void difference_line(const struct penta *penta, size_t first, size_t component) {
    const double sound = component == 3 ? 1 : component == 4 ? -1 : 0;
    double x[MAX_LENGTH + 2 * REACH] = {0}, moved[MAX_LENGTH + 2 * REACH] = {0},
                              spread[MAX_LENGTH + 2 * REACH] = {0};
    for (size_t cell = 0, i = REACH; cell < penta->nx; cell++, i++) {
        x[i] = penta->x[(first + cell) * COMPONENTS + component];
        moved[i] = x[i] * (penta->flow[first + cell] + sound * penta->sound[first + cell]);
        spread[i] = x[i] * penta->viscosity[first + cell];
    }
    for (size_t cell = 0, i = REACH; cell < penta->nx; cell++, i++)
        penta->rhs[(first + cell) * COMPONENTS + component] =
            x[i] + DISSIPATION * (x[i - 2] - 4 * x[i - 1] + 6 * x[i] - 4 * x[i + 1] + x[i + 2]) +
            ADVECTION * (moved[i + 1] - moved[i - 1]) -
            DIFFUSION * (spread[i - 1] - 2 * spread[i] + spread[i + 1]);
}

static void penta_fill(void *state, size_t z) {
    struct penta *penta = state;
    const size_t plane = penta->nx * penta->ny, first = z * plane; /* a multiple of 64: whole blocks */
    const size_t block = first / GENERATOR_BLOCK;
    generator_fill_reals(penta->generator, STREAM_FLOW, block, penta->flow + first, plane);
    generator_fill_reals(penta->generator, STREAM_SOUND, block, penta->sound + first, plane);
    generator_fill_reals(penta->generator, STREAM_VISCOSITY, block, penta->viscosity + first, plane);
    for (size_t cell = first; cell < first + plane; cell++)
        penta->flow[cell] -= 0.5;
    double *x = penta->x + first * COMPONENTS;
    generator_fill_reals(penta->generator, STREAM_SOLUTION, block * COMPONENTS, x, plane * COMPONENTS);
    for (size_t y = 0; y < penta->ny; y++)
        for (size_t component = 0; component < COMPONENTS; component++)
            difference_line(penta, first + y * penta->nx, component);
    memset(x, 0, plane * COMPONENTS * sizeof *x);
}

static void *penta_create(const struct codelet_setup *setup) {
    struct penta *penta = calloc(1, sizeof *penta);
    if (!penta)
        return NULL;
    const size_t cells = cells_of(setup->size);
    penta->nx = shapes[setup->size].nx;
    penta->ny = shapes[setup->size].ny;
    penta->nz = shapes[setup->size].nz;
    penta->generator = setup->generator;
    penta->flow = codelet_allocate(cells * sizeof(double));
    penta->sound = codelet_allocate(cells * sizeof(double));
    penta->viscosity = codelet_allocate(cells * sizeof(double));
    penta->rhs = codelet_allocate(cells * COMPONENTS * sizeof(double));
    penta->x = codelet_allocate(cells * COMPONENTS * sizeof(double));
    if (!penta->flow || !penta->sound || !penta->viscosity || !penta->rhs || !penta->x) {
        penta_destroy(penta);
        return NULL;
    }
    codelet_initialise(setup->init, penta->nz, penta_fill, penta);
    return penta;
}

/* The numbers of one line that its bands are made of, zero beyond its ends: element 1 is the first cell's. */
struct line {
    double speed[WAVES][MAX_LENGTH + 2], viscosity[MAX_LENGTH + 2];
};

static void gather(const struct penta *penta, size_t first, struct line *line) {
    const size_t end = penta->nx + 1;
    for (int wave = 0; wave < WAVES; wave++) {
        for (size_t i = 1; i < end; i++)
            line->speed[wave][i] =
                penta->flow[first + i - 1] + waves[wave].sound * penta->sound[first + i - 1];
        line->speed[wave][0] = line->speed[wave][end] = 0;
    }
    for (size_t i = 1; i < end; i++)
        line->viscosity[i] = penta->viscosity[first + i - 1];
    line->viscosity[0] = line->viscosity[end] = 0;
}

/* One row of a wave's system: weights of the cells from two below to two above; the middle one dominates. */
static inline void make_bands(const struct line *line, int wave, size_t cell, double bands[2 * REACH + 1]) {
    const double *speed = line->speed[wave] + cell + 1, *viscosity = line->viscosity + cell + 1;
    bands[0] = bands[4] = DISSIPATION;
    bands[1] = -4 * DISSIPATION - ADVECTION * speed[-1] - DIFFUSION * viscosity[-1];
    bands[2] = 1.0 + 6 * DISSIPATION + 2 * DIFFUSION * viscosity[0];
    bands[3] = -4 * DISSIPATION + ADVECTION * speed[1] - DIFFUSION * viscosity[1];
}

/* Solve one wave's components on a line of `length` cells: eliminate upwards, so that a row has its own cell
 * and two above it, and substitute downwards. */
static void solve_wave(const struct line *line, int wave, size_t length, double scale, const double *rhs,
                       double *x) {
    const int count = waves[wave].count;
    double next[MAX_LENGTH], after[MAX_LENGTH]; /* a row's weights of the cells above, after elimination */
    for (size_t cell = 0; cell < length; cell++, rhs += COMPONENTS, x += COMPONENTS) {
        double bands[2 * REACH + 1];
        make_bands(line, wave, cell, bands);
        for (int m = 0; m < count; m++)
            x[m] = scale * rhs[m];
        if (cell >= 2) {
            bands[1] -= bands[0] * next[cell - 2];
            bands[2] -= bands[0] * after[cell - 2];
            for (int m = 0; m < count; m++)
                x[m] -= bands[0] * x[m - 2 * COMPONENTS];
        }
        if (cell >= 1) {
            bands[2] -= bands[1] * next[cell - 1];
            bands[3] -= bands[1] * after[cell - 1];
            for (int m = 0; m < count; m++)
                x[m] -= bands[1] * x[m - COMPONENTS];
        }
        const double inverse = 1.0 / bands[2];
        next[cell] = cell + 1 < length ? bands[3] * inverse : 0;
        after[cell] = cell + 2 < length ? bands[4] * inverse : 0;
        for (int m = 0; m < count; m++)
            x[m] *= inverse;
    }
    x -= COMPONENTS; /* the last cell needs no substitution */
    for (size_t cell = length - 1; cell-- > 0;) {
        x -= COMPONENTS;
        for (int m = 0; m < count; m++) {
            x[m] -= next[cell] * x[m + COMPONENTS];
            if (cell + 2 < length)
                x[m] -= after[cell] * x[m + 2 * COMPONENTS];
        }
    }
}

static double scale_of(int iteration) { return 1.0 + 0.5 * (iteration % 4); }

static void penta_iterate(void *state, int iteration) {
    const struct penta *penta = state;
    const double scale = scale_of(iteration);
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t z = 0; z < penta->nz; z++)
        for (size_t y = 0; y < penta->ny; y++) {
            const size_t first = (z * penta->ny + y) * penta->nx;
            struct line line;
            gather(penta, first, &line);
            for (int wave = 0; wave < WAVES; wave++) {
                const size_t element = first * COMPONENTS + (size_t)waves[wave].first;
                solve_wave(&line, wave, penta->nx, scale, penta->rhs + element, penta->x + element);
            }
        }
}

static double penta_checksum(const void *state) {
    const struct penta *penta = state;
    double sum = 0;
    for (size_t i = 0; i < penta->nx * penta->ny * penta->nz * COMPONENTS; i += 8)
        sum += penta->x[i];
    return sum;
}

/* The solution is known before any solving. */
static double penta_deviation(const void *state, int iterations) {
    const struct penta *penta = state;
    const double scale = scale_of(iterations - 1);
    double worst = 0;
    for (size_t i = 0; i < penta->nx * penta->ny * penta->nz * COMPONENTS; i++)
        worst =
            codelet_worse(worst, penta->x[i], scale * generator_real(penta->generator, STREAM_SOLUTION, i));
    return worst;
}

const struct codelet penta_solve_x = {
    .name = "penta-solve-x",
    .family = "line-solve",
    .summary =
        "Solves scalar pentadiagonal systems along contiguous grid lines, each thread planes of its own.",
    .iterations = 12,
    .tolerance = 1e-12,
    CODELET_FUNCTIONS(penta),
};
