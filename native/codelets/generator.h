/* generator.h: random data without a state, so that any thread may fill any part. Element i of a stream is
 * element i % 64 of a slice of a table; a hash of the stream and of i / 64 chooses the slice, so filling
 * costs one hash in 64 elements. reals: in [0, 1), multiples of 2^-20: sums of up to 2^33 of them are exact
 * in any order. quanta: in [0, 1), multiples of 2^-8: squares of differences, and sums of a few dozen of
 * them, are exact floats. words: each slice is combined with bits of the hash, so that all 2^32 values occur.
 */
#ifndef NUMAPREDICT_GENERATOR_H
#define NUMAPREDICT_GENERATOR_H

#include <stddef.h>
#include <stdint.h>

#define GENERATOR_BLOCK 64
#define GENERATOR_TABLE 4096

struct generator {
    uint64_t seed;
    double reals[GENERATOR_TABLE + GENERATOR_BLOCK];
    float quanta[GENERATOR_TABLE + GENERATOR_BLOCK];
    uint32_t words[GENERATOR_TABLE + GENERATOR_BLOCK];
};

/* Returns NULL if memory does not suffice; free() releases it. */
struct generator *generator_create(uint64_t seed);
uint64_t generator_hash(const struct generator *generator, uint32_t stream, uint64_t index);

/* Fill `count` elements of a stream, beginning at its element GENERATOR_BLOCK * block. */
void generator_fill_reals(const struct generator *generator, uint32_t stream, size_t block, double *out,
                          size_t count);
void generator_fill_quanta(const struct generator *generator, uint32_t stream, size_t block, float *out,
                           size_t count);
void generator_fill_words(const struct generator *generator, uint32_t stream, size_t block, uint32_t *out,
                          size_t count);

/* The same elements one by one, for checks. */
double generator_real(const struct generator *generator, uint32_t stream, size_t index);
float generator_quantum(const struct generator *generator, uint32_t stream, size_t index);
uint32_t generator_word(const struct generator *generator, uint32_t stream, size_t index);

/* Rows of uneven length for sparse structures: 16 consecutive rows hold 128 entries, of 1 to 26 a row, in an
 * order that differs between such groups. */
#define UNEVEN_GROUP 16
#define UNEVEN_GROUP_ENTRIES 128
uint32_t generator_uneven_length(const struct generator *generator, size_t row);
size_t generator_uneven_start(const struct generator *generator, size_t row);

#endif
