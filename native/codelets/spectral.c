/* spectral.c: passes of a fast Fourier transform in place.
 *
 * Modelled on the butterflies of NAS FT, without its transpositions. One iteration is one radix-2 pass over
 * all data: a butterfly joins two elements half a block apart, and blocks begin with the whole array and
 * halve from pass to pass. In the early passes a thread therefore works on two ranges that lie far apart,
 * most often one or both on other threads' pages; in the late ones it works on its own contiguous share.
 * After PASSES passes, blocks would fit into caches; inverse passes then lead back to the start, with the
 * same accesses in reverse order, and so on.
 */
#include "codelet.h"

#include <stdlib.h>

#define PI 3.14159265358979323846

enum { PASSES = 10, CHUNK = 512, STREAM_SIGNAL = 1, RE = 0, IM = 1 };

typedef double complex_number[2];

struct spectrum {
    size_t n; /* a multiple of 2^PASSES * CHUNK */
    complex_number *z;
    complex_number *steps; /* PASSES x CHUNK: twiddle factors of each pass, relative to a chunk's first */
    const struct generator *generator;
};

static size_t spectrum_n(enum codelet_size size) {
    static const size_t n[SIZE_COUNT] = {(size_t)1 << 20, (size_t)3 << 21, (size_t)11 << 21};
    return n[size];
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
    spectrum->generator = setup->generator;
    spectrum->z = codelet_allocate(spectrum_bytes(setup->size));
    spectrum->steps = malloc((size_t)PASSES * CHUNK * sizeof(complex_number));
    if (!spectrum->z || !spectrum->steps) {
        spectrum_destroy(spectrum);
        return NULL;
    }
    for (int pass = 0; pass < PASSES; pass++)
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
    const int step = iteration % (2 * PASSES), inverse = step >= PASSES;
    const int pass = inverse ? 2 * PASSES - 1 - step : step;
    const size_t half = spectrum->n >> (pass + 1);
    const double *steps = spectrum->steps[pass * CHUNK];
#pragma omp parallel
#pragma omp for schedule(runtime)
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
    const int step = iterations % (2 * PASSES), depth = step <= PASSES ? step : 2 * PASSES - step;
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
    .iterations = 3 * PASSES, /* ends where the check sees most: after all forward passes */
    .tolerance = 1e-11,
    .working_set_bytes = spectrum_bytes,
    .create = spectrum_create,
    .iterate = spectrum_iterate,
    .checksum = spectrum_checksum,
    .deviation = spectrum_deviation,
    .destroy = spectrum_destroy,
};
