/* neighbours.c: the few records nearest to a place.
 *
 * Modelled on Rodinia's nn, which looks for the storms nearest to a place. Records of a position and a name
 * are streamed once an iteration, each by a fixed share of contiguous addresses a thread, and half of each
 * record is used. A thread computes each distance and keeps the sixteen smallest in a sorted list of its own,
 * which after the first records seldom changes; the lists are merged at the end. Nothing large is written and
 * nothing is shared: loads in order bound it, with a little computing a record. Of records at the same
 * distance the one with the lower index is nearer. The place changes with the iteration.
 */
#include "codelet.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT = 4096, NEAREST = 16, STREAM_RECORDS = 1, STREAM_PLACES = 2 };
enum { LATITUDE, LONGITUDE, NAME, FIELDS = NAME + 2 };
enum { DEGREES = 1 << 14, INDEX_BITS = 32 };

struct place {
    int64_t latitude, longitude; /* in 0 .. DEGREES - 1 */
};

struct records {
    size_t count;
    uint32_t *fields;          /* count x FIELDS */
    uint64_t nearest[NEAREST]; /* of the latest place, in order: the squared distance, then the index */
    const struct generator *generator;
};

static size_t count_of(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {24, 192, 1280, 5120};
    return units[size] * UNIT;
}

static size_t records_bytes(enum codelet_size size) { return count_of(size) * FIELDS * sizeof(uint32_t); }

static void records_destroy(void *state) {
    struct records *records = state;
    codelet_free(records->fields);
    free(records);
}

static void records_fill(void *state, size_t unit) {
    struct records *records = state;
    const size_t first = unit * UNIT * FIELDS;
    uint32_t *fields = records->fields + first;
    generator_fill_words(records->generator, STREAM_RECORDS, first / GENERATOR_BLOCK, fields,
                         (size_t)UNIT * FIELDS);
    for (size_t i = 0; i < UNIT; i++, fields += FIELDS) {
        fields[LATITUDE] %= DEGREES;
        fields[LONGITUDE] %= DEGREES;
    }
}

static void *records_create(const struct codelet_setup *setup) {
    struct records *records = calloc(1, sizeof *records);
    if (!records)
        return NULL;
    records->count = count_of(setup->size);
    records->generator = setup->generator;
    records->fields = codelet_allocate(records->count * FIELDS * sizeof(uint32_t));
    if (!records->fields) {
        records_destroy(records);
        return NULL;
    }
    codelet_initialise(setup->init, records->count / UNIT, records_fill, records);
    return records;
}

static struct place place_of(const struct generator *generator, int iteration) {
    const uint64_t hash = generator_hash(generator, STREAM_PLACES, (uint64_t)iteration);
    return (struct place){(int64_t)(hash % DEGREES), (int64_t)(hash / DEGREES % DEGREES)};
}

/* Insert into a sorted list, whose last entry is larger. */
static void insert(uint64_t nearest[NEAREST], uint64_t key) {
    int at = NEAREST - 1;
    for (; at > 0 && nearest[at - 1] > key; at--)
        nearest[at] = nearest[at - 1];
    nearest[at] = key;
}

static void search_unit(const struct records *records, size_t unit, struct place place,
                        uint64_t nearest[NEAREST]) {
    for (size_t i = unit * UNIT; i < (unit + 1) * UNIT; i++) {
        const uint32_t *record = records->fields + i * FIELDS;
        const int64_t north = record[LATITUDE] - place.latitude, east = record[LONGITUDE] - place.longitude;
        const uint64_t key = (uint64_t)(north * north + east * east) << INDEX_BITS | i;
        if (key < nearest[NEAREST - 1])
            insert(nearest, key);
    }
}

static void records_iterate(void *state, int iteration) {
    struct records *records = state;
    const struct place place = place_of(records->generator, iteration);
    memset(records->nearest, 0xff, sizeof records->nearest);
#pragma omp parallel
    {
        uint64_t own[NEAREST];
        memset(own, 0xff, sizeof own);
#pragma omp for schedule(monotonic : runtime) nowait
        for (size_t unit = 0; unit < records->count / UNIT; unit++)
            search_unit(records, unit, place, own);
#pragma omp critical(nearest_merge)
        for (int i = 0; i < NEAREST && own[i] < records->nearest[NEAREST - 1]; i++)
            insert(records->nearest, own[i]);
    }
}

static double records_checksum(const void *state) {
    const struct records *records = state;
    double sum = 0; /* of integers: exact */
    for (int i = 0; i < NEAREST; i++)
        sum += (double)((records->nearest[i] & UINT32_MAX) * (uint64_t)(i + 1) +
                        (records->nearest[i] >> INDEX_BITS));
    return sum;
}

/* Nothing is searched: an answer is right if it is sorted, if each entry says its record's distance, and if
 * exactly as many records as it has are as near as its last. Distances are computed as real numbers, from the
 * generator. */
static double records_deviation(const void *state, int iterations) {
    const struct records *records = state;
    const struct place place = place_of(records->generator, iterations - 1);
    const uint64_t last = records->nearest[NEAREST - 1];
    const double farthest = (double)(last >> INDEX_BITS);
    size_t as_near = 0, listed = 0;
    double worst = 0;
    for (size_t i = 0; i < records->count; i++) {
        const uint32_t latitude = generator_word(records->generator, STREAM_RECORDS, i * FIELDS + LATITUDE);
        const uint32_t longitude = generator_word(records->generator, STREAM_RECORDS, i * FIELDS + LONGITUDE);
        const double north = (double)(latitude & (DEGREES - 1)) - (double)place.latitude;
        const double east = (double)(longitude & (DEGREES - 1)) - (double)place.longitude;
        const double distance = north * north + east * east;
        if (distance > farthest || (distance == farthest && i > (last & UINT32_MAX)))
            continue;
        as_near++;
        for (int rank = 0; rank < NEAREST; rank++)
            if ((records->nearest[rank] & UINT32_MAX) == i) {
                listed++;
                worst = codelet_worse(worst, (double)(records->nearest[rank] >> INDEX_BITS), distance);
            }
    }
    for (int rank = 1; rank < NEAREST; rank++)
        if (records->nearest[rank - 1] >= records->nearest[rank])
            return INFINITY;
    return as_near == NEAREST && listed == NEAREST ? worst : INFINITY;
}

const struct codelet nearest_neighbour = {
    .name = "nearest-neighbour",
    .family = "search",
    .summary = "Streams records once an iteration without storing, each thread keeping a short list of the "
               "nearest.",
    .iterations = 100,
    .tolerance = 0,
    CODELET_FUNCTIONS(records),
};
