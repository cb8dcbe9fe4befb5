/* generator.c: reproducible data that any thread can make for any place. */
#include "generator.h"

#include <stdlib.h>
#include <string.h>

/* Lengths of 16 rows, 128 in sum: a few long rows, many short ones, as degrees in real graphs and matrices
 * are. */
static const uint8_t uneven[UNEVEN_GROUP] = {26, 1, 4, 10, 2, 6, 15, 3, 5, 2, 20, 4, 8, 3, 12, 7};

enum { TABLE_STREAM = 0x7ab1e, UNEVEN_STREAM = 0x20e5 };

/* The 64-bit finaliser of MurmurHash3, with the constants of SplitMix64 (Steele et al., OOPSLA 2014). */
static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t generator_hash(const struct generator *generator, uint32_t stream, uint64_t index) {
    return mix(mix(generator->seed + stream * 0x9e3779b97f4a7c15u) + index * 0x9e3779b97f4a7c15u);
}

struct generator *generator_create(uint64_t seed) {
    struct generator *generator = malloc(sizeof *generator);
    if (!generator)
        return NULL;
    generator->seed = seed;
    for (size_t i = 0; i < GENERATOR_TABLE + GENERATOR_BLOCK; i++) {
        const uint64_t hash = generator_hash(generator, TABLE_STREAM, i);
        generator->reals[i] = (double)(hash >> 44) * 0x1p-20;
        generator->quanta[i] = (float)(hash & 0xff) * 0x1p-8f;
        generator->words[i] = (uint32_t)(hash >> 12);
    }
    return generator;
}

static size_t slice(uint64_t hash) { return hash % GENERATOR_TABLE; }

static uint32_t key(uint64_t hash) { return (uint32_t)(hash >> 32); }

static size_t at_most_block(size_t count) { return count < GENERATOR_BLOCK ? count : GENERATOR_BLOCK; }

void generator_fill_reals(const struct generator *generator, uint32_t stream, size_t block, double *out,
                          size_t count) {
    for (size_t done = 0; done < count; done += GENERATOR_BLOCK) {
        const double *from = generator->reals + slice(generator_hash(generator, stream, block++));
        memcpy(out + done, from, at_most_block(count - done) * sizeof *out);
    }
}

void generator_fill_quanta(const struct generator *generator, uint32_t stream, size_t block, float *out,
                           size_t count) {
    for (size_t done = 0; done < count; done += GENERATOR_BLOCK) {
        const float *from = generator->quanta + slice(generator_hash(generator, stream, block++));
        memcpy(out + done, from, at_most_block(count - done) * sizeof *out);
    }
}

void generator_fill_words(const struct generator *generator, uint32_t stream, size_t block, uint32_t *out,
                          size_t count) {
    for (size_t done = 0; done < count; done += GENERATOR_BLOCK) {
        const uint64_t hash = generator_hash(generator, stream, block++);
        const uint32_t *from = generator->words + slice(hash);
        const size_t length = at_most_block(count - done);
        for (size_t i = 0; i < length; i++)
            out[done + i] = from[i] ^ key(hash);
    }
}

double generator_real(const struct generator *generator, uint32_t stream, size_t index) {
    return generator
        ->reals[slice(generator_hash(generator, stream, index / GENERATOR_BLOCK)) + index % GENERATOR_BLOCK];
}

float generator_quantum(const struct generator *generator, uint32_t stream, size_t index) {
    return generator
        ->quanta[slice(generator_hash(generator, stream, index / GENERATOR_BLOCK)) + index % GENERATOR_BLOCK];
}

uint32_t generator_word(const struct generator *generator, uint32_t stream, size_t index) {
    const uint64_t hash = generator_hash(generator, stream, index / GENERATOR_BLOCK);
    return generator->words[slice(hash) + index % GENERATOR_BLOCK] ^ key(hash);
}

static size_t rotation(const struct generator *generator, size_t row) {
    return generator_hash(generator, UNEVEN_STREAM, row / UNEVEN_GROUP) % UNEVEN_GROUP;
}

uint32_t generator_uneven_length(const struct generator *generator, size_t row) {
    return uneven[(row + rotation(generator, row)) % UNEVEN_GROUP];
}

size_t generator_uneven_start(const struct generator *generator, size_t row) {
    const size_t first = rotation(generator, row);
    size_t start = row / UNEVEN_GROUP * UNEVEN_GROUP_ENTRIES;
    for (size_t i = 0; i < row % UNEVEN_GROUP; i++)
        start += uneven[(first + i) % UNEVEN_GROUP];
    return start;
}
