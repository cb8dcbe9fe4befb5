/* hashing.c: building a hash table that all threads share, and probing one.
 *
 * hash-build counts how often each key occurs, in one open-addressing table of all threads. An iteration
 * first empties the table, each thread a contiguous share, and after a barrier streams the keys: each takes,
 * by an atomic exchange, the first free slot from its hash on, and its count is raised atomically. So writes
 * are scattered over all pages, and lines move between the threads' caches. A key occurs eight times on
 * average, and half of the slots stay free. Which keys occur changes with the iteration. It is modelled on
 * the shared table of parallel group-by aggregation in databases.
 *
 * hash-join streams tuples and looks each up in a table that is only read: a bucket is a cache line of up to
 * seven keys and payloads, so a look-up is one random line, and does not wait for the one before. Half of the
 * tuples find a partner; matches are counted, and products of payloads added up, for each unit. It is
 * modelled on the probe phase of the no-partitioning hash join (Blanas, Li and Patel, SIGMOD 2011).
 */
#include "codelet.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Knuth's multiplicative hashing; the constant is odd, so it has an inverse. */
#define MULTIPLIER 0x9e3779b1u

/* ---- hash-build ---- */

enum { KEYS_UNIT = 4096, KEYS_PER_SLOT = 4, STREAM_KEYS = 1 };

struct slot {
    _Atomic uint32_t key; /* 0 while free */
    _Atomic uint32_t count;
};

struct build {
    size_t units;
    int bits;        /* 2^bits slots, and half as many keys that can occur */
    uint32_t *words; /* from which an iteration's keys are made */
    struct slot *slots;
    const struct generator *generator;
};

static int build_bits(enum codelet_size size) {
    static const int bits[SIZE_COUNT] = {16, 19, 21, 24};
    return bits[size];
}

static size_t build_words(int bits) { return (size_t)KEYS_PER_SLOT << bits; }

static size_t build_bytes(enum codelet_size size) {
    const int bits = build_bits(size);
    return build_words(bits) * sizeof(uint32_t) + ((size_t)1 << bits) * sizeof(struct slot);
}

static void build_destroy(void *state) {
    struct build *build = state;
    codelet_free(build->words);
    codelet_free((void *)build->slots);
    free(build);
}

static void clear(const struct build *build, size_t unit) {
    const size_t count = KEYS_UNIT / KEYS_PER_SLOT;
    for (size_t i = unit * count; i < (unit + 1) * count; i++) {
        atomic_store_explicit(&build->slots[i].key, 0, memory_order_relaxed);
        atomic_store_explicit(&build->slots[i].count, 0, memory_order_relaxed);
    }
}

static void build_fill(void *state, size_t unit) {
    struct build *build = state;
    generator_fill_words(build->generator, STREAM_KEYS, unit * (KEYS_UNIT / GENERATOR_BLOCK),
                         build->words + unit * KEYS_UNIT, KEYS_UNIT);
    clear(build, unit);
}

static void *build_create(const struct codelet_setup *setup) {
    struct build *build = calloc(1, sizeof *build);
    if (!build)
        return NULL;
    build->bits = build_bits(setup->size);
    build->units = build_words(build->bits) / KEYS_UNIT;
    build->generator = setup->generator;
    build->words = codelet_allocate(build_words(build->bits) * sizeof(uint32_t));
    build->slots = codelet_allocate(((size_t)1 << build->bits) * sizeof(struct slot));
    if (!build->words || !build->slots) {
        build_destroy(build);
        return NULL;
    }
    codelet_initialise(setup->init, build->units, build_fill, build);
    return build;
}

static uint32_t twist_of(int iteration) { return (uint32_t)iteration * 0x85ebca6bu; }

/* The keys are 1 to 2^(bits - 1); other bits take part in the product, so that an iteration has its own. */
static inline uint32_t key_of(uint32_t word, uint32_t twist, int bits) {
    return 1 + ((word ^ twist) * MULTIPLIER >> (33 - bits));
}

static inline size_t first_slot(uint32_t key, int bits) {
    key = (key ^ key >> 9) * MULTIPLIER;
    return (key ^ key >> 13) * MULTIPLIER >> (32 - bits);
}

/* Raise a key's count, in the slot that holds it or else in the first free one. */
static inline void count_key(struct slot *slots, int bits, uint32_t key) {
    const size_t mask = ((size_t)1 << bits) - 1;
    for (size_t at = first_slot(key, bits);; at = (at + 1) & mask) {
        struct slot *slot = &slots[at];
        uint32_t seen = atomic_load_explicit(&slot->key, memory_order_relaxed);
        if (seen == 0 && atomic_compare_exchange_strong_explicit(&slot->key, &seen, key, memory_order_relaxed,
                                                                 memory_order_relaxed))
            seen = key;
        if (seen == key) {
            atomic_fetch_add_explicit(&slot->count, 1, memory_order_relaxed);
            return;
        }
    }
}

static void build_iterate(void *state, int iteration) {
    const struct build *build = state;
    const uint32_t twist = twist_of(iteration);
#pragma omp parallel
    {
        struct slot *const slots = build->slots; /* not read again after each atomic */
        const uint32_t *const words = build->words;
        const int bits = build->bits;
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < build->units; unit++)
            clear(build, unit);
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < build->units; unit++)
            for (size_t i = unit * KEYS_UNIT; i < (unit + 1) * KEYS_UNIT; i++)
                count_key(slots, bits, key_of(words[i], twist, bits));
    }
}

/* The same for any order of the slots, which depends on the threads. */
static double build_checksum(const void *state) {
    const struct build *build = state;
    double sum = 0; /* of integers: exact */
    for (size_t i = 0; i < (size_t)1 << build->bits; i++) {
        const double count = atomic_load_explicit(&build->slots[i].count, memory_order_relaxed);
        sum += count * (atomic_load_explicit(&build->slots[i].key, memory_order_relaxed) % 97 + 1);
    }
    return sum;
}

/* Take the table's counts from the expected ones; each key may be there once, and nothing may be left. */
static double compare_slots(const struct build *build, uint32_t *counts, size_t keys) {
    double worst = 0;
    for (size_t i = 0; i < (size_t)1 << build->bits; i++) {
        const size_t key = atomic_load_explicit(&build->slots[i].key, memory_order_relaxed);
        const uint32_t count = atomic_load_explicit(&build->slots[i].count, memory_order_relaxed);
        if (key > keys || (key == 0 && count > 0))
            return INFINITY;
        if (key == 0)
            continue;
        worst = codelet_worse(worst, count, counts[key - 1]);
        counts[key - 1] = 0;
    }
    for (size_t i = 0; i < keys; i++)
        worst = codelet_worse(worst, 0, counts[i]);
    return worst;
}

/* Count the last iteration's keys in an array with a place for each, without a hash. */
static double build_deviation(const void *state, int iterations) {
    const struct build *build = state;
    const size_t keys = (size_t)1 << (build->bits - 1);
    const uint64_t twist = twist_of(iterations - 1);
    uint32_t *counts = calloc(keys, sizeof *counts);
    if (!counts)
        return DEVIATION_UNKNOWN;
    for (size_t i = 0; i < build_words(build->bits); i++) {
        const uint64_t word = generator_word(build->generator, STREAM_KEYS, i) ^ twist;
        counts[word * MULTIPLIER % ((uint64_t)1 << 32) / (((uint64_t)1 << 32) / keys)]++;
    }
    const double worst = compare_slots(build, counts, keys);
    free(counts);
    return worst;
}

const struct codelet hash_build = {
    .name = "hash-build",
    .family = "database",
    .summary = "Empties a hash table shared by all, and counts a stream of keys in it by scattered atomics.",
    .iterations = 3,
    .tolerance = 0,
    CODELET_FUNCTIONS(build),
};

/* ---- hash-join ---- */

enum { TUPLES_UNIT = 4096, BUCKET_ENTRIES = 7, TUPLES_PER_BUCKET = 4, PLACE_BITS = 3 };
enum { STREAM_TUPLES = 1, STREAM_BUCKETS = 2, TUPLE_WORDS = 2 };

struct bucket {
    uint32_t length;
    uint32_t keys[BUCKET_ENTRIES], payloads[BUCKET_ENTRIES];
    uint32_t unused; /* a bucket fills a cache line */
};

struct tuple {
    uint32_t key, payload;
};

struct matches {
    uint64_t count, sum;
    uint64_t padding[6]; /* threads must not share lines of matches */
};

struct join {
    size_t units;
    int bits; /* 2^bits buckets */
    struct bucket *buckets;
    struct tuple *tuples;
    struct matches *matches; /* for each unit, over all iterations */
    const struct generator *generator;
};

static int join_bits(enum codelet_size size) {
    static const int bits[SIZE_COUNT] = {14, 17, 20, 22};
    return bits[size];
}

static size_t join_units(int bits) { return ((size_t)TUPLES_PER_BUCKET << bits) / TUPLES_UNIT; }

static size_t join_bytes(enum codelet_size size) {
    const int bits = join_bits(size);
    return ((size_t)1 << bits) * sizeof(struct bucket) +
           join_units(bits) * (TUPLES_UNIT * sizeof(struct tuple) + sizeof(struct matches));
}

static void join_destroy(void *state) {
    struct join *join = state;
    codelet_free(join->buckets);
    codelet_free(join->tuples);
    codelet_free(join->matches);
    free(join);
}

/* The number that MULTIPLIER turns into 1: each of Newton's steps doubles its right bits, at first three. */
static uint32_t inverse_multiplier(void) {
    uint32_t inverse = MULTIPLIER;
    for (int step = 0; step < 4; step++)
        inverse *= 2 - MULTIPLIER * inverse;
    return inverse;
}

/* The key that hashes to a place of a bucket: the highest bits of its product are the bucket. */
static uint32_t key_at(const struct join *join, size_t bucket, size_t place) {
    const uint32_t product =
        (uint32_t)(((uint64_t)bucket << PLACE_BITS | place) << (32 - PLACE_BITS - join->bits));
    return product * inverse_multiplier();
}

static uint64_t bucket_hash(const struct join *join, size_t bucket) {
    return generator_hash(join->generator, STREAM_BUCKETS, bucket);
}

static uint32_t length_of(uint64_t hash) { return (uint32_t)(1 + hash % BUCKET_ENTRIES); }

static uint32_t payload_of(uint64_t hash, size_t place) {
    return (uint32_t)(hash >> (8 + 4 * place)) & 0xffff;
}

static void fill_bucket(const struct join *join, size_t index) {
    struct bucket *bucket = &join->buckets[index];
    const uint64_t hash = bucket_hash(join, index);
    *bucket = (struct bucket){.length = length_of(hash)};
    for (size_t place = 0; place < bucket->length; place++) {
        bucket->keys[place] = key_at(join, index, place);
        bucket->payloads[place] = payload_of(hash, place);
    }
}

/* Of a tuple's two words, the first says which bucket and which place it looks for. */
static size_t wanted_bucket(const struct join *join, uint32_t word) { return word >> (32 - join->bits); }

static size_t wanted_place(const struct join *join, uint32_t word) {
    return word >> (32 - join->bits - PLACE_BITS) & ((1 << PLACE_BITS) - 1);
}

static void join_fill(void *state, size_t unit) {
    struct join *join = state;
    uint32_t words[TUPLE_WORDS * TUPLES_UNIT];
    generator_fill_words(join->generator, STREAM_TUPLES, unit * (TUPLE_WORDS * TUPLES_UNIT / GENERATOR_BLOCK),
                         words, TUPLE_WORDS * TUPLES_UNIT);
    for (size_t i = 0; i < TUPLES_UNIT; i++) {
        const uint32_t *two = words + TUPLE_WORDS * i;
        join->tuples[unit * TUPLES_UNIT + i] = (struct tuple){
            key_at(join, wanted_bucket(join, two[0]), wanted_place(join, two[0])), two[1] & 0xffff};
    }
    join->matches[unit] = (struct matches){.count = 0};
    /* The buckets are distributed over the units. */
    const size_t count = TUPLES_UNIT / TUPLES_PER_BUCKET;
    for (size_t bucket = unit * count; bucket < (unit + 1) * count; bucket++)
        fill_bucket(join, bucket);
}

static void *join_create(const struct codelet_setup *setup) {
    struct join *join = calloc(1, sizeof *join);
    if (!join)
        return NULL;
    join->bits = join_bits(setup->size);
    join->units = join_units(join->bits);
    join->generator = setup->generator;
    join->buckets = codelet_allocate(((size_t)1 << join->bits) * sizeof(struct bucket));
    join->tuples = codelet_allocate(join->units * TUPLES_UNIT * sizeof(struct tuple));
    join->matches = codelet_allocate(join->units * sizeof(struct matches));
    if (!join->buckets || !join->tuples || !join->matches) {
        join_destroy(join);
        return NULL;
    }
    codelet_initialise(setup->init, join->units, join_fill, join);
    return join;
}

static void join_iterate(void *state, int iteration) {
    const struct join *join = state;
    (void)iteration;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = 0; unit < join->units; unit++) {
        uint64_t count = 0, sum = 0;
        for (size_t i = unit * TUPLES_UNIT; i < (unit + 1) * TUPLES_UNIT; i++) {
            const struct tuple tuple = join->tuples[i];
            const struct bucket *bucket = &join->buckets[tuple.key * MULTIPLIER >> (32 - join->bits)];
            for (uint32_t place = 0; place < bucket->length; place++)
                if (bucket->keys[place] == tuple.key) {
                    count++;
                    sum += (uint64_t)bucket->payloads[place] * tuple.payload;
                }
        }
        join->matches[unit].count += count;
        join->matches[unit].sum += sum;
    }
}

static double join_checksum(const void *state) {
    const struct join *join = state;
    uint64_t sum = 0;
    for (size_t unit = 0; unit < join->units; unit++)
        sum += (join->matches[unit].sum >> 16) * (unit % 97 + 1) + join->matches[unit].count;
    return (double)sum;
}

/* Without keys or buckets: a tuple has a partner if its place is below the bucket's length. */
static double join_deviation(const void *state, int iterations) {
    const struct join *join = state;
    double worst = 0;
    for (size_t unit = 0; unit < join->units; unit++) {
        uint64_t count = 0, sum = 0;
        for (size_t i = unit * TUPLES_UNIT; i < (unit + 1) * TUPLES_UNIT; i++) {
            const uint32_t word = generator_word(join->generator, STREAM_TUPLES, TUPLE_WORDS * i);
            const uint32_t payload =
                generator_word(join->generator, STREAM_TUPLES, TUPLE_WORDS * i + 1) % 65536;
            const uint64_t hash = bucket_hash(join, wanted_bucket(join, word));
            const size_t place = wanted_place(join, word);
            if (place >= length_of(hash))
                continue;
            count += (uint64_t)iterations;
            sum += (uint64_t)iterations * payload_of(hash, place) * payload;
        }
        worst = codelet_worse(worst, (double)join->matches[unit].count, (double)count);
        worst = codelet_worse(worst, (double)join->matches[unit].sum, (double)sum);
    }
    return worst;
}

const struct codelet hash_join = {
    .name = "hash-join",
    .family = "database",
    .summary =
        "Streams tuples and looks each up in a hash table that all threads read: one random line each.",
    .iterations = 6,
    .tolerance = 0,
    CODELET_FUNCTIONS(join),
};
