/* vectors.c: what conjugate gradients does with whole vectors.
 *
 * cg-dot is modelled on the dot product p.q and the norm of r in NAS CG: one sweep over two vectors, then one
 * over the second alone, each ending in a sum over all threads. Threads only read, contiguous shares of their
 * own; nothing is written but the sums. So it is bound by the bandwidth of loads, and by two reductions an
 * iteration. The vectors' elements are multiples of 2^-10, so their products and sums are exact.
 *
 * cg-axpy is modelled on the two updates of NAS CG, x += alpha p and r -= alpha q, in one loop. Four arrays
 * are streamed, contiguous shares of them a thread: two are read, two are read and written in place, so half
 * as much is stored as loaded and no line is fetched only to be overwritten. alpha goes up and down with the
 * iteration, by powers of two: x and r stay bounded and exact.
 */
#include "codelet.h"

#include <stdlib.h>

enum { UNIT = 4096 };

/* ---- cg-dot ---- */

enum { STREAM_LEFT = 1, STREAM_RIGHT = 2, LANES = 4 };

static const double GRAIN = 0x1p-10;

/* Both sums add up over the iterations, in multiples of GRAIN * GRAIN and modulo 2^64. */
struct dot {
    size_t units;
    double *left, *right;
    uint64_t products, squares;
    const struct generator *generator;
};

static size_t dot_units(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {24, 240, 1280, 5120};
    return units[size];
}

static size_t dot_bytes(enum codelet_size size) { return 2 * dot_units(size) * UNIT * sizeof(double); }

static void dot_destroy(void *state) {
    struct dot *dot = state;
    codelet_free(dot->left);
    codelet_free(dot->right);
    free(dot);
}

static void fill_grains(const struct generator *generator, uint32_t stream, size_t unit, double *out) {
    generator_fill_reals(generator, stream, unit * (UNIT / GENERATOR_BLOCK), out, UNIT);
    for (int i = 0; i < UNIT; i++)
        out[i] = (int)(out[i] / GRAIN) * GRAIN;
}

static void dot_fill(void *state, size_t unit) {
    struct dot *dot = state;
    fill_grains(dot->generator, STREAM_LEFT, unit, dot->left + unit * UNIT);
    fill_grains(dot->generator, STREAM_RIGHT, unit, dot->right + unit * UNIT);
}

static void *dot_create(const struct codelet_setup *setup) {
    struct dot *dot = calloc(1, sizeof *dot);
    if (!dot)
        return NULL;
    dot->units = dot_units(setup->size);
    dot->generator = setup->generator;
    dot->left = codelet_allocate(dot->units * UNIT * sizeof(double));
    dot->right = codelet_allocate(dot->units * UNIT * sizeof(double));
    if (!dot->left || !dot->right) {
        dot_destroy(dot);
        return NULL;
    }
    codelet_initialise(setup->init, dot->units, dot_fill, dot);
    return dot;
}

/* Several sums at once: one would wait for each addition before the next. */
static inline double dot_unit(const double *left, const double *right) {
    double sums[LANES] = {0};
    for (int i = 0; i < UNIT; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            sums[lane] += left[i + lane] * right[i + lane];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static void dot_iterate(void *state, int iteration) {
    struct dot *dot = state;
    double products = 0, squares = 0;
    (void)iteration;
#pragma omp parallel
    {
#pragma omp for schedule(monotonic : runtime) reduction(+ : products)
        for (size_t unit = 0; unit < dot->units; unit++)
            products += dot_unit(dot->left + unit * UNIT, dot->right + unit * UNIT);
#pragma omp for schedule(monotonic : runtime) reduction(+ : squares)
        for (size_t unit = 0; unit < dot->units; unit++)
            squares += dot_unit(dot->right + unit * UNIT, dot->right + unit * UNIT);
    }
    dot->products += (uint64_t)(products / (GRAIN * GRAIN));
    dot->squares += (uint64_t)(squares / (GRAIN * GRAIN));
}

static double dot_checksum(const void *state) {
    const struct dot *dot = state;
    return (double)(dot->products % 1000003 * 1000 + dot->squares % 1000003);
}

/* Sums of integers, for all iterations at once. */
static double dot_deviation(const void *state, int iterations) {
    const struct dot *dot = state;
    uint64_t products = 0, squares = 0;
    for (size_t i = 0; i < dot->units * UNIT; i++) {
        const uint64_t left = (uint64_t)(generator_real(dot->generator, STREAM_LEFT, i) * 1024);
        const uint64_t right = (uint64_t)(generator_real(dot->generator, STREAM_RIGHT, i) * 1024);
        products += left * right;
        squares += right * right;
    }
    const double off = codelet_worse(0, (double)(dot->products - products * (uint64_t)iterations), 0);
    return codelet_worse(off, (double)(dot->squares - squares * (uint64_t)iterations), 0);
}

const struct codelet cg_dot = {
    .name = "cg-dot",
    .family = "vectors",
    .summary = "Reads two vectors for a dot product and one again for a norm, writing nothing but the sums.",
    .iterations = 60,
    .tolerance = 0,
    CODELET_FUNCTIONS(dot),
};

/* ---- cg-axpy ---- */

enum { STREAM_X = 1, STREAM_R = 2, STREAM_P = 3, STREAM_Q = 4 };

struct axpy {
    size_t units;
    double *x, *r, *p, *q;
    const struct generator *generator;
};

static size_t axpy_units(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {16, 120, 768, 2560};
    return units[size];
}

static size_t axpy_bytes(enum codelet_size size) { return 4 * axpy_units(size) * UNIT * sizeof(double); }

static void axpy_destroy(void *state) {
    struct axpy *axpy = state;
    codelet_free(axpy->x);
    codelet_free(axpy->r);
    codelet_free(axpy->p);
    codelet_free(axpy->q);
    free(axpy);
}

static void axpy_fill(void *state, size_t unit) {
    struct axpy *axpy = state;
    const size_t first = unit * UNIT, block = first / GENERATOR_BLOCK;
    generator_fill_reals(axpy->generator, STREAM_X, block, axpy->x + first, UNIT);
    generator_fill_reals(axpy->generator, STREAM_R, block, axpy->r + first, UNIT);
    generator_fill_reals(axpy->generator, STREAM_P, block, axpy->p + first, UNIT);
    generator_fill_reals(axpy->generator, STREAM_Q, block, axpy->q + first, UNIT);
}

static void *axpy_create(const struct codelet_setup *setup) {
    struct axpy *axpy = calloc(1, sizeof *axpy);
    if (!axpy)
        return NULL;
    axpy->units = axpy_units(setup->size);
    axpy->generator = setup->generator;
    axpy->x = codelet_allocate(axpy->units * UNIT * sizeof(double));
    axpy->r = codelet_allocate(axpy->units * UNIT * sizeof(double));
    axpy->p = codelet_allocate(axpy->units * UNIT * sizeof(double));
    axpy->q = codelet_allocate(axpy->units * UNIT * sizeof(double));
    if (!axpy->x || !axpy->r || !axpy->p || !axpy->q) {
        axpy_destroy(axpy);
        return NULL;
    }
    codelet_initialise(setup->init, axpy->units, axpy_fill, axpy);
    return axpy;
}

/* Four in a row add up to zero. */
static double alpha_of(int iteration) {
    static const double alphas[4] = {0.5, 0.25, -0.5, -0.25};
    return alphas[iteration % 4];
}

static void axpy_iterate(void *state, int iteration) {
    const struct axpy *axpy = state;
    const double alpha = alpha_of(iteration);
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = 0; unit < axpy->units; unit++) {
        double *restrict x = axpy->x + unit * UNIT, *restrict r = axpy->r + unit * UNIT;
        const double *restrict p = axpy->p + unit * UNIT, *restrict q = axpy->q + unit * UNIT;
        for (int i = 0; i < UNIT; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
    }
}

static double axpy_checksum(const void *state) {
    const struct axpy *axpy = state;
    double sum = 0;
    for (size_t i = 0; i < axpy->units * UNIT; i += 8)
        sum += axpy->x[i] + 0.5 * axpy->r[i];
    return sum;
}

/* One update by the sum of all alphas instead of one an iteration. */
static double axpy_deviation(const void *state, int iterations) {
    const struct axpy *axpy = state;
    static const double sums[4] = {0, 0.5, 0.75, 0.25}; /* of the first alphas */
    const double alpha = sums[iterations % 4];
    double worst = 0;
    for (size_t i = 0; i < axpy->units * UNIT; i++) {
        const double p = generator_real(axpy->generator, STREAM_P, i);
        const double q = generator_real(axpy->generator, STREAM_Q, i);
        worst = codelet_worse(worst, axpy->x[i], generator_real(axpy->generator, STREAM_X, i) + alpha * p);
        worst = codelet_worse(worst, axpy->r[i], generator_real(axpy->generator, STREAM_R, i) - alpha * q);
    }
    return worst;
}

const struct codelet cg_axpy = {
    .name = "cg-axpy",
    .family = "vectors",
    .summary =
        "Updates two vectors in place from two others, streaming four arrays, each thread its own share.",
    .iterations = 40,
    .tolerance = 0,
    CODELET_FUNCTIONS(axpy),
};
