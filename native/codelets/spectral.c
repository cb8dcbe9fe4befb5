/* spectral.c: the two kinds of data movement in a fast Fourier transform.
 *
 * fft-pass is modelled on the butterflies of NAS FT, in place. One iteration is one radix-2 pass over
 * all data: a butterfly joins two elements half a block apart, and blocks begin with the whole array and
 * halve from pass to pass. In the early passes a thread therefore works on two ranges that lie far apart,
 * most often one or both on other threads' pages; in the late ones it works on its own contiguous share.
 * After PASSES passes, blocks would fit into caches; inverse passes then lead back to the start, with the
 * same accesses in reverse order, and so on.
 *
 * fft-transpose is modelled on the global transposition of NAS FT between the 1-D passes along two axes: the
 * first and the last axis of a complex 3-D array change places, by way of tiles that fit the first cache. A
 * thread writes contiguous planes of its own. For eight of them it reads two cache lines of each row of the
 * array, so that its reads take an equal part of what each other thread wrote in the iteration before. Every
 * thread thus exchanges data with every other, and no placement makes both the reads and the writes local.
 */
#include "codelet.h"

#include <stdlib.h>

#define PI 3.14159265358979323846

/* ---- fft-pass ---- */

enum { MOST_PASSES = 10, CHUNK = 512, STREAM_SIGNAL = 1, RE = 0, IM = 1 };

typedef double complex_number[2];

struct spectrum {
    size_t n;   /* a multiple of 2^passes * CHUNK */
    int passes; /* forwards, before they are undone */
    complex_number *z;
    complex_number *steps; /* passes x CHUNK: twiddle factors of each pass, relative to a chunk's first */
    const struct generator *generator;
};

static size_t spectrum_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {(size_t)3 << 15, (size_t)1 << 20, (size_t)3 << 21, (size_t)11 << 21};
    return n[size];
}

static int spectrum_passes(enum codelet_size size) {
    static const int passes[SIZE_COUNT] = {6, MOST_PASSES, MOST_PASSES, MOST_PASSES};
    return passes[size];
}

static size_t spectrum_bytes(enum codelet_size size) { return spectrum_n(size) * sizeof(complex_number); }

static void spectrum_destroy(void *state) {
    struct spectrum *spectrum = state;
    codelet_free(spectrum->z);
    free(spectrum->steps);
    free(spectrum);
}

static void spectrum_fill(void *state, size_t unit) {
    struct spectrum *spectrum = state;
    const size_t first = unit * CHUNK;
    double *z = &spectrum->z[first][RE];
    generator_fill_reals(spectrum->generator, STREAM_SIGNAL, 2 * first / GENERATOR_BLOCK, z,
                         (size_t)2 * CHUNK);
    for (int i = 0; i < 2 * CHUNK; i++)
        z[i] -= 0.5;
}

static void turn(complex_number out, double angle) {
    out[RE] = cos(angle);
    out[IM] = sin(angle);
}

static void *spectrum_create(const struct codelet_setup *setup) {
    struct spectrum *spectrum = calloc(1, sizeof *spectrum);
    if (!spectrum)
        return NULL;
    spectrum->n = spectrum_n(setup->size);
    spectrum->passes = spectrum_passes(setup->size);
    spectrum->generator = setup->generator;
    spectrum->z = codelet_allocate(spectrum_bytes(setup->size));
    spectrum->steps = malloc((size_t)spectrum->passes * CHUNK * sizeof(complex_number));
    if (!spectrum->z || !spectrum->steps) {
        spectrum_destroy(spectrum);
        return NULL;
    }
    for (int pass = 0; pass < spectrum->passes; pass++)
        for (int i = 0; i < CHUNK; i++)
            turn(spectrum->steps[pass * CHUNK + i], -PI * i / (double)(spectrum->n >> (pass + 1)));
    codelet_initialise(setup->init, spectrum->n / CHUNK, spectrum_fill, spectrum);
    return spectrum;
}

/* Butterflies of decimation in frequency: the sum, and the difference turned by the twiddle factor. */
static void forward_chunk(double *restrict low, double *restrict high, const double *restrict steps,
                          const complex_number first) {
    for (int i = 0; i < 2 * CHUNK; i += 2) {
        const double re = first[RE] * steps[i + RE] - first[IM] * steps[i + IM];
        const double im = first[RE] * steps[i + IM] + first[IM] * steps[i + RE];
        const double difference_re = low[i + RE] - high[i + RE], difference_im = low[i + IM] - high[i + IM];
        low[i + RE] += high[i + RE];
        low[i + IM] += high[i + IM];
        high[i + RE] = difference_re * re - difference_im * im;
        high[i + IM] = difference_re * im + difference_im * re;
    }
}

/* What undoes forward_chunk(). */
static void inverse_chunk(double *restrict low, double *restrict high, const double *restrict steps,
                          const complex_number first) {
    for (int i = 0; i < 2 * CHUNK; i += 2) {
        const double re = first[RE] * steps[i + RE] - first[IM] * steps[i + IM];
        const double im = first[RE] * steps[i + IM] + first[IM] * steps[i + RE];
        const double difference_re = high[i + RE] * re + high[i + IM] * im;
        const double difference_im = high[i + IM] * re - high[i + RE] * im;
        high[i + RE] = 0.5 * (low[i + RE] - difference_re);
        high[i + IM] = 0.5 * (low[i + IM] - difference_im);
        low[i + RE] = 0.5 * (low[i + RE] + difference_re);
        low[i + IM] = 0.5 * (low[i + IM] + difference_im);
    }
}

static void spectrum_iterate(void *state, int iteration) {
    const struct spectrum *spectrum = state;
    const int passes = spectrum->passes, step = iteration % (2 * passes), inverse = step >= passes;
    const int pass = inverse ? 2 * passes - 1 - step : step;
    const size_t half = spectrum->n >> (pass + 1);
    const double *steps = spectrum->steps[pass * CHUNK];
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t chunk = 0; chunk < spectrum->n / 2 / CHUNK; chunk++) {
        const size_t block = chunk * CHUNK / half, offset = chunk * CHUNK % half;
        double *low = spectrum->z[block * 2 * half + offset];
        complex_number first;
        turn(first, -PI * (double)offset / (double)half);
        if (inverse)
            inverse_chunk(low, low + 2 * half, steps, first);
        else
            forward_chunk(low, low + 2 * half, steps, first);
    }
}

static double spectrum_checksum(const void *state) {
    const struct spectrum *spectrum = state;
    double sum = 0;
    for (size_t i = 0; i < spectrum->n; i += 4)
        sum += fabs(spectrum->z[i][RE]) + fabs(spectrum->z[i][IM]);
    return sum;
}

/* One frequency of `count` numbers by the definition of the transform. */
static void frequency_of(const complex_number *z, size_t count, size_t frequency, double scale,
                         complex_number out) {
    out[RE] = out[IM] = 0;
    for (size_t i = 0; i < count; i++) {
        complex_number turned;
        turn(turned, -2 * PI * (double)(i * frequency % count) / (double)count);
        out[RE] += scale * (z[i][RE] * turned[RE] - z[i][IM] * turned[IM]);
        out[IM] += scale * (z[i][RE] * turned[IM] + z[i][IM] * turned[RE]);
    }
}

static double energy_of(const complex_number *z, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += z[i][RE] * z[i][RE] + z[i][IM] * z[i][IM];
    return sum;
}

/* After d passes, block b holds numbers whose transform is every 2^d-th frequency of the signal's, from the
 * frequency that is b with its d bits reversed. Some frequencies are compared through the definition of the
 * transform; the energy (Parseval) covers all elements. */
static double spectrum_deviation(const void *state, int iterations) {
    const struct spectrum *spectrum = state;
    const size_t n = spectrum->n;
    const int passes = spectrum->passes, step = iterations % (2 * passes);
    const int depth = step <= passes ? step : 2 * passes - step;
    const size_t blocks = (size_t)1 << depth, length = n >> depth;
    complex_number *signal = malloc(n * sizeof *signal);
    if (!signal)
        return DEVIATION_UNKNOWN;
    for (size_t i = 0; i < n; i++)
        for (size_t part = RE; part <= IM; part++)
            signal[i][part] = generator_real(spectrum->generator, STREAM_SIGNAL, 2 * i + part) - 0.5;

    double worst = codelet_worse(0, energy_of(spectrum->z, n) / (double)blocks, energy_of(signal, n));
    for (uint64_t sample = 0; sample < 3; sample++) {
        const uint64_t hash = generator_hash(spectrum->generator, 0, sample);
        const size_t block = hash % blocks, inner = (hash >> 20) % length;
        size_t reversed = 0;
        for (int bit = 0; bit < depth; bit++)
            reversed |= (block >> bit & 1) << (depth - 1 - bit);
        complex_number expected, got;
        const double scale = 1 / sqrt((double)n); /* frequencies of noise grow with the root of n */
        frequency_of((const complex_number *)signal, n, inner * blocks + reversed, scale, expected);
        frequency_of((const complex_number *)(spectrum->z + block * length), length, inner, scale, got);
        worst = codelet_worse(worst, got[RE], expected[RE]);
        worst = codelet_worse(worst, got[IM], expected[IM]);
    }
    free(signal);
    return worst;
}

const struct codelet fft_pass = {
    .name = "fft-pass",
    .family = "spectral",
    .summary = "Joins pairs of elements at distances from half the array down, so that threads work on "
               "others' pages.",
    .iterations = 3 * MOST_PASSES, /* ends where the check sees most, tiny too: after all forward passes */
    .tolerance = 1e-11,
    CODELET_FUNCTIONS(spectrum),
};

/* ---- fft-transpose ---- */

enum { TILE = 8, STREAM_CUBE = 2 };

struct cube {
    size_t n;                     /* cells along each axis, a multiple of TILE */
    complex_number *front, *back; /* the present array and the one to be written next */
    const struct generator *generator;
};

/* Odd multiples of TILE, so that the rows of a tile do not meet in the same sets of a cache. */
static size_t cube_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {40, 72, 136, 216};
    return n[size];
}

static size_t cube_array_bytes(enum codelet_size size) {
    return cube_n(size) * cube_n(size) * cube_n(size) * sizeof(complex_number);
}

static size_t cube_bytes(enum codelet_size size) { return 2 * cube_array_bytes(size); }

static void cube_destroy(void *state) {
    struct cube *cube = state;
    codelet_free(cube->front);
    codelet_free(cube->back);
    free(cube);
}

/* A unit is TILE planes by TILE rows of what is written, in full length. */
static size_t cube_units(const struct cube *cube) { return cube->n / TILE * (cube->n / TILE); }

static double *unit_of(const struct cube *cube, complex_number *array, size_t unit) {
    const size_t across = cube->n / TILE, plane = unit / across * TILE, row = unit % across * TILE;
    return array[(plane * cube->n + row) * cube->n];
}

/* As many rows as a unit has, in the order of the array, and the unit's own ones to be written next. */
static void cube_fill(void *state, size_t unit) {
    struct cube *cube = state;
    const size_t count = (size_t)TILE * TILE * cube->n * 2, first = unit * count;
    double *front = &cube->front[0][RE] + first, *back = unit_of(cube, cube->back, unit);
    generator_fill_reals(cube->generator, STREAM_CUBE, first / GENERATOR_BLOCK, front, count);
    for (size_t i = 0; i < count; i++)
        front[i] -= 0.5;
    for (size_t plane = 0; plane < TILE; plane++)
        for (size_t i = 0; i < TILE * cube->n * 2; i++)
            back[plane * cube->n * cube->n * 2 + i] = 0;
}

static void *cube_create(const struct codelet_setup *setup) {
    struct cube *cube = calloc(1, sizeof *cube);
    if (!cube)
        return NULL;
    cube->n = cube_n(setup->size);
    cube->generator = setup->generator;
    cube->front = codelet_allocate(cube_array_bytes(setup->size));
    cube->back = codelet_allocate(cube_array_bytes(setup->size));
    if (!cube->front || !cube->back) {
        cube_destroy(cube);
        return NULL;
    }
    codelet_initialise(setup->init, cube_units(cube), cube_fill, cube);
    return cube;
}

/* By how much the array exceeds its beginning after that many iterations: never by 1 again, and by a power of
 * two, so that nothing is lost. A check sees by it what was transposed, and how often. */
static double magnitude(int iterations) { return iterations ? 2 << iterations % 4 : 1; }

static void transpose_tile(double *restrict to, const double *restrict from, size_t plane, double factor) {
    for (size_t i = 0; i < TILE; i++)
        for (size_t j = 0; j < TILE; j++) {
            to[i * plane + 2 * j + RE] = factor * from[j * plane + 2 * i + RE];
            to[i * plane + 2 * j + IM] = factor * from[j * plane + 2 * i + IM];
        }
}

static void transpose_unit(const struct cube *cube, size_t unit, double factor) {
    const size_t row = cube->n * 2, plane = cube->n * row, across = cube->n / TILE;
    const double *from = &cube->front[0][RE] + unit % across * TILE * row + unit / across * TILE * 2;
    double *to = unit_of(cube, cube->back, unit);
    for (size_t y = 0; y < TILE; y++)
        for (size_t z = 0; z < cube->n; z += TILE)
            transpose_tile(to + y * row + 2 * z, from + z * plane + y * row, plane, factor);
}

static void cube_iterate(void *state, int iteration) {
    struct cube *cube = state;
    const double factor = magnitude(iteration + 1) / magnitude(iteration);
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = 0; unit < cube_units(cube); unit++)
        transpose_unit(cube, unit, factor);
    complex_number *transposed = cube->back;
    cube->back = cube->front;
    cube->front = transposed;
}

static double cube_checksum(const void *state) {
    const struct cube *cube = state;
    double sum = 0;
    for (size_t i = 0; i < cube->n * cube->n * cube->n; i += 4)
        sum += fabs(cube->front[i][RE]) + fabs(cube->front[i][IM]);
    return sum;
}

/* Cell by cell: two transpositions cancel out. */
static double cube_deviation(const void *state, int iterations) {
    const struct cube *cube = state;
    const size_t n = cube->n;
    const double scale = magnitude(iterations);
    double worst = 0;
    for (size_t i = 0; i < n * n * n; i++) {
        const size_t x = i % n, y = i / n % n, z = i / n / n;
        const size_t source = iterations % 2 ? (x * n + y) * n + z : i;
        for (size_t part = RE; part <= IM; part++) {
            const double begun = generator_real(cube->generator, STREAM_CUBE, 2 * source + part) - 0.5;
            worst = codelet_worse(worst, cube->front[i][part], scale * begun);
        }
    }
    return worst;
}

const struct codelet fft_transpose = {
    .name = "fft-transpose",
    .family = "spectral",
    .summary = "Transposes a complex 3-D array in tiles, each thread reading a part of what each other one "
               "wrote.",
    .iterations = 11, /* odd: ends transposed */
    .tolerance = 0,
    CODELET_FUNCTIONS(cube),
};
