/* speckle.c: diffusion that smooths the speckle of an image and keeps its edges.
 *
 * srad diffuses an image with a strength that follows from the image. Each iteration has three phases with
 * barriers between them. The first reads the image for its mean and variance, from sums of integers. The
 * second reads the image around each cell and writes four differences and a diffusion coefficient, with
 * several divisions a cell. The third reads those five arrays, and the coefficient also of the cells below
 * and to the right, and updates the image. The neighbours' indices come from tables that all threads read. A
 * thread owns contiguous rows of six arrays and reads rows of image and of coefficients of its neighbours,
 * newly written by them. It is modelled on Rodinia's srad, after Yu and Acton (2002).
 */
#include "codelet.h"

#include <stdlib.h>

enum { STREAM_IMAGE = 1, QUANTA = 4096 /* a brightness of 1, in the statistic */ };

/* The share of the differences that an iteration takes off, and the least speckle that it looks for. */
static const double RATE = 0.5, LEAST_SPECKLE = 0x1p-10;

struct image {
    size_t n;
    double *brightness, *coefficient;                /* n x n, as those of the next line */
    double *to_north, *to_south, *to_west, *to_east; /* the neighbours' brightness less the cell's own */
    uint32_t *north, *south, *west, *east;           /* the neighbouring row or column of each */
    const struct generator *generator;
};

static size_t image_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {192, 576, 1344, 2816}; /* multiples of GENERATOR_BLOCK */
    return n[size];
}

static size_t image_array_bytes(enum codelet_size size) {
    return image_n(size) * image_n(size) * sizeof(double);
}

static size_t image_bytes(enum codelet_size size) { return 6 * image_array_bytes(size); }

static void image_destroy(void *state) {
    struct image *image = state;
    codelet_free(image->brightness);
    codelet_free(image->coefficient);
    codelet_free(image->to_north);
    codelet_free(image->to_south);
    codelet_free(image->to_west);
    codelet_free(image->to_east);
    free(image->north);
    free(image->south);
    free(image->west);
    free(image->east);
    free(image);
}

static void image_fill(void *state, size_t row) {
    const struct image *image = state;
    const size_t first = row * image->n;
    generator_fill_reals(image->generator, STREAM_IMAGE, first / GENERATOR_BLOCK, image->brightness + first,
                         image->n);
    for (size_t i = first; i < first + image->n; i++) {
        image->brightness[i] += 1;
        image->coefficient[i] = 0;
        image->to_north[i] = 0;
        image->to_south[i] = 0;
        image->to_west[i] = 0;
        image->to_east[i] = 0;
    }
}

static int image_allocate(struct image *image, size_t array_bytes) {
    image->brightness = codelet_allocate(array_bytes);
    image->coefficient = codelet_allocate(array_bytes);
    image->to_north = codelet_allocate(array_bytes);
    image->to_south = codelet_allocate(array_bytes);
    image->to_west = codelet_allocate(array_bytes);
    image->to_east = codelet_allocate(array_bytes);
    image->north = malloc(image->n * sizeof(uint32_t));
    image->south = malloc(image->n * sizeof(uint32_t));
    image->west = malloc(image->n * sizeof(uint32_t));
    image->east = malloc(image->n * sizeof(uint32_t));
    return image->brightness && image->coefficient && image->to_north && image->to_south && image->to_west &&
           image->to_east && image->north && image->south && image->west && image->east;
}

/* The neighbours of a row or column, at an edge itself. */
static size_t before(size_t i) { return i > 0 ? i - 1 : 0; }

static size_t after(size_t i, size_t count) { return i + 1 < count ? i + 1 : i; }

static void *image_create(const struct codelet_setup *setup) {
    struct image *image = calloc(1, sizeof *image);
    if (!image)
        return NULL;
    image->n = image_n(setup->size);
    image->generator = setup->generator;
    if (!image_allocate(image, image_array_bytes(setup->size))) {
        image_destroy(image);
        return NULL;
    }
    for (size_t i = 0; i < image->n; i++) {
        image->north[i] = image->west[i] = (uint32_t)before(i);
        image->south[i] = image->east[i] = (uint32_t)after(i, image->n);
    }
    codelet_initialise(setup->init, image->n, image_fill, image);
    return image;
}

/* The image's variance relative to its squared mean, from sums of whole quanta. */
static double speckle_of(size_t cells, int64_t sum, int64_t squares) {
    const double mean = (double)sum / (double)cells;
    const double variance = (double)squares / (double)cells - mean * mean;
    return fmax(variance / (mean * mean), LEAST_SPECKLE);
}

static void weigh_row(const struct image *image, size_t row, double speckle) {
    const size_t n = image->n;
    const double *north = image->brightness + image->north[row] * n;
    const double *south = image->brightness + image->south[row] * n;
    const double *here = image->brightness + row * n;
    for (size_t column = 0; column < n; column++) {
        const size_t cell = row * n + column;
        const double own = here[column];
        const double to_north = north[column] - own, to_south = south[column] - own;
        const double to_west = here[image->west[column]] - own, to_east = here[image->east[column]] - own;
        const double gradient =
            (to_north * to_north + to_south * to_south + to_west * to_west + to_east * to_east) / (own * own);
        const double laplacian = (to_north + to_south + to_west + to_east) / own;
        const double scale = 1 + 0.25 * laplacian;
        const double variation = (0.5 * gradient - 0.0625 * laplacian * laplacian) / (scale * scale);
        const double coefficient = 1 / (1 + (variation - speckle) / (speckle * (1 + speckle)));
        image->coefficient[cell] = coefficient < 0 ? 0 : coefficient > 1 ? 1 : coefficient;
        image->to_north[cell] = to_north;
        image->to_south[cell] = to_south;
        image->to_west[cell] = to_west;
        image->to_east[cell] = to_east;
    }
}

static void diffuse_row(const struct image *image, size_t row) {
    const size_t n = image->n, first = row * n;
    const double *here = image->coefficient + first;
    const double *south = image->coefficient + image->south[row] * n;
    for (size_t column = 0; column < n; column++) {
        const size_t cell = first + column;
        const double flow = here[column] * (image->to_north[cell] + image->to_west[cell]) +
                            south[column] * image->to_south[cell] +
                            here[image->east[column]] * image->to_east[cell];
        image->brightness[cell] += 0.25 * RATE * flow;
    }
}

static void image_iterate(void *state, int iteration) {
    const struct image *image = state;
    const size_t n = image->n;
    int64_t sum = 0, squares = 0;
    (void)iteration;
#pragma omp parallel
    {
#pragma omp for schedule(monotonic : runtime) reduction(+ : sum, squares)
        for (size_t row = 0; row < n; row++)
            for (size_t column = 0; column < n; column++) {
                const int64_t quanta = (int64_t)(image->brightness[row * n + column] * QUANTA);
                sum += quanta;
                squares += quanta * quanta;
            }
        const double speckle = speckle_of(n * n, sum, squares);
#pragma omp for schedule(monotonic : runtime)
        for (size_t row = 0; row < n; row++)
            weigh_row(image, row, speckle);
#pragma omp for schedule(monotonic : runtime)
        for (size_t row = 0; row < n; row++)
            diffuse_row(image, row);
    }
}

static double image_checksum(const void *state) {
    const struct image *image = state;
    double sum = 0;
    for (size_t i = 0; i < image->n * image->n; i += 7)
        sum += image->brightness[i];
    return sum;
}

/* The same image in another layout, column after column, diffused by what flows through the sides of cells.
 */
struct plain {
    size_t n;
    double *brightness, *coefficient, *change;
};

static double plain_speckle(const struct plain *plain) {
    const double cells = (double)(plain->n * plain->n);
    double mean = 0, deviations = 0;
    for (size_t i = 0; i < plain->n * plain->n; i++)
        mean += (double)(int)(plain->brightness[i] * QUANTA);
    mean /= cells;
    for (size_t i = 0; i < plain->n * plain->n; i++)
        deviations += pow((double)(int)(plain->brightness[i] * QUANTA) - mean, 2);
    return fmax(deviations / cells / pow(mean, 2), LEAST_SPECKLE);
}

/* The coefficient from the mean of the neighbours, which leaves a single quotient of the two variations. */
static double plain_coefficient(const struct plain *plain, size_t row, size_t column, double speckle) {
    const size_t n = plain->n;
    const double *here = plain->brightness + column * n + row;
    const double around[4] = {row > 0 ? here[-1] : *here, row < n - 1 ? here[1] : *here,
                              column > 0 ? *(here - n) : *here, column < n - 1 ? here[n] : *here};
    const double mean = (around[0] + around[1] + around[2] + around[3]) / 4;
    double spread = -pow(mean - *here, 2);
    for (int i = 0; i < 4; i++)
        spread += pow(around[i] - *here, 2) / 2;
    return fmin(1, (speckle + pow(speckle, 2)) / (pow(speckle, 2) + spread / pow(mean, 2)));
}

/* Let brightness flow between a cell and its next one in a column or row. */
static void plain_flow(const struct plain *plain, size_t cell, size_t next) {
    const double flow = plain->coefficient[next] * (plain->brightness[next] - plain->brightness[cell]);
    plain->change[cell] += flow;
    plain->change[next] -= flow;
}

static void plain_step(const struct plain *plain) {
    const size_t n = plain->n;
    const double speckle = plain_speckle(plain);
    for (size_t column = 0; column < n; column++)
        for (size_t row = 0; row < n; row++) {
            plain->coefficient[column * n + row] = plain_coefficient(plain, row, column, speckle);
            plain->change[column * n + row] = 0;
        }
    for (size_t column = 0; column < n; column++)
        for (size_t row = 0; row < n; row++) {
            if (row + 1 < n)
                plain_flow(plain, column * n + row, column * n + row + 1);
            if (column + 1 < n)
                plain_flow(plain, column * n + row, (column + 1) * n + row);
        }
    for (size_t i = 0; i < n * n; i++)
        plain->brightness[i] += RATE / 4 * plain->change[i];
}

/* Start from the generator and take all the steps; return how far the codelet's image is from the result. */
static double plain_deviation(const struct plain *plain, const struct image *image, int iterations) {
    const size_t n = plain->n;
    double worst = 0;
    for (size_t row = 0; row < n; row++)
        for (size_t column = 0; column < n; column++)
            plain->brightness[column * n + row] =
                1 + generator_real(image->generator, STREAM_IMAGE, row * n + column);
    for (int iteration = 0; iteration < iterations; iteration++)
        plain_step(plain);
    for (size_t row = 0; row < n; row++)
        for (size_t column = 0; column < n; column++)
            worst = codelet_worse(worst, image->brightness[row * n + column],
                                  plain->brightness[column * n + row]);
    return worst;
}

static double image_deviation(const void *state, int iterations) {
    const struct image *image = state;
    const size_t n = image->n;
    struct plain plain = {.n = n};
    plain.brightness = malloc(n * n * sizeof(double));
    plain.coefficient = malloc(n * n * sizeof(double));
    plain.change = malloc(n * n * sizeof(double));
    double worst = DEVIATION_UNKNOWN;
    if (plain.brightness && plain.coefficient && plain.change)
        worst = plain_deviation(&plain, image, iterations);
    free(plain.brightness);
    free(plain.coefficient);
    free(plain.change);
    return worst;
}

const struct codelet srad = {
    .name = "srad",
    .family = "stencils",
    .summary = "Smooths an image in three phases: a statistic, differences to neighbours found by index, an "
               "update.",
    .iterations = 20,
    .tolerance = 1e-9,
    CODELET_FUNCTIONS(image),
};
