/* sharing.c: data that all threads share: read by all, or written by all in the same cache lines.
 *
 * shared-table looks numbers up in a large table, at random, and writes sums of a few of them to results of
 * its own. No thread writes the table after the initialisation, and every thread reads all of it: all nodes
 * read each page alike, so that no placement makes the reads local except a copy on each node, and what
 * matters is that no node alone serves them. The reads do not depend on each other. Places come from a
 * generator in registers, so that little other memory is used. It is modelled on the look-ups of
 * cross-sections in XSBench and on the random access of the HPC Challenge, with reads alone.
 *
 * false-sharing counts events in counters that no two threads share, but whose cache lines they do. Each unit
 * of work has one counter for each kind of event; eight units' counters of one kind fill a line. The eight
 * are an eighth of all units apart: contiguous shares of a static schedule put them on different threads, and
 * other schedules seldom bring a unit to the thread that had the line last. Units are visited in rounds, so a
 * line that a thread left has as a rule been written by another when it comes back. All counters fit private
 * caches: the memory hardly sees the codelet, the lines travel from core to core, and the distance between
 * the cores decides the time. It is modelled on the per-thread counters side by side that studies of false
 * sharing begin with, such as linear_regression of Phoenix.
 */
#include "codelet.h"

#include <stdlib.h>

/* ---- random places: the linear congruential generator of Knuth's MMIX ---- */

#define MULTIPLIER 6364136223846793005u
#define INCREMENT 1442695040888963407u

static inline uint64_t following(uint64_t x) { return x * MULTIPLIER + INCREMENT; }

/* Map the upper half of a state to 0 .. limit - 1. */
static inline size_t place_below(uint64_t x, size_t limit) { return (x >> 32) * limit >> 32; }

/* For checks, which walk the states backwards: the state before this one, ... */
static uint64_t preceding(uint64_t x) {
    uint64_t inverse = MULTIPLIER; /* right in its last three bits; each step doubles them */
    for (int step = 0; step < 5; step++)
        inverse *= 2 - MULTIPLIER * inverse;
    return (x - INCREMENT) * inverse;
}

/* ... and the one that comes `count` states later, by squaring the step. */
static uint64_t state_after(uint64_t x, uint64_t count) {
    uint64_t multiplier = MULTIPLIER, increment = INCREMENT;
    for (; count; count /= 2) {
        if (count % 2)
            x = x * multiplier + increment;
        increment *= multiplier + 1;
        multiplier *= multiplier;
    }
    return x;
}

/* ---- shared-table ---- */

enum { UNIT_RESULTS = 1024, UNIT_ENTRIES = 4096, LOOK_UPS = 8, STREAM_TABLE = 1, STREAM_PLACES = 2 };

struct table {
    size_t units, entries;
    double *table;
    double *results;
    const struct generator *generator;
};

static size_t table_units(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {32, 384, 1024, 8192};
    return units[size];
}

static size_t entries_bytes(enum codelet_size size) {
    return table_units(size) * UNIT_ENTRIES * sizeof(double);
}

static size_t results_bytes(enum codelet_size size) {
    return table_units(size) * UNIT_RESULTS * sizeof(double);
}

static size_t table_bytes(enum codelet_size size) { return entries_bytes(size) + results_bytes(size); }

static void table_destroy(void *state) {
    struct table *table = state;
    codelet_free(table->table);
    codelet_free(table->results);
    free(table);
}

/* The table is distributed over the units, though any unit may read any entry. */
static void table_fill(void *state, size_t unit) {
    struct table *table = state;
    const size_t first = unit * UNIT_ENTRIES;
    generator_fill_reals(table->generator, STREAM_TABLE, first / GENERATOR_BLOCK, table->table + first,
                         UNIT_ENTRIES);
    for (size_t i = unit * UNIT_RESULTS; i < (unit + 1) * UNIT_RESULTS; i++)
        table->results[i] = 0;
}

static void *table_create(const struct codelet_setup *setup) {
    struct table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->units = table_units(setup->size);
    table->entries = table->units * UNIT_ENTRIES;
    table->generator = setup->generator;
    table->table = codelet_allocate(entries_bytes(setup->size));
    table->results = codelet_allocate(results_bytes(setup->size));
    if (!table->table || !table->results) {
        table_destroy(table);
        return NULL;
    }
    codelet_initialise(setup->init, table->units, table_fill, table);
    return table;
}

/* The state before a unit's first look-up. */
static uint64_t places_start(const struct table *table, int iteration, size_t unit) {
    return generator_hash(table->generator, STREAM_PLACES, (uint64_t)iteration * table->units + unit);
}

static void table_iterate(void *state, int iteration) {
    const struct table *table = state;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = 0; unit < table->units; unit++) {
        uint64_t x = places_start(table, iteration, unit);
        for (size_t i = unit * UNIT_RESULTS; i < (unit + 1) * UNIT_RESULTS; i++) {
            double sum = 0;
            for (int look_up = 0; look_up < LOOK_UPS; look_up++) {
                x = following(x);
                sum += table->table[place_below(x, table->entries)];
            }
            table->results[i] = sum;
        }
    }
}

static double table_checksum(const void *state) {
    const struct table *table = state;
    double sum = 0; /* of multiples of 2^-20: exact */
    for (size_t i = 0; i < table->units * UNIT_RESULTS; i++)
        sum += table->results[i] * (double)(i % 31 + 1);
    return sum;
}

/* Each unit's look-ups from the last to the first, on entries from the generator. */
static double table_deviation(const void *state, int iterations) {
    const struct table *table = state;
    double worst = 0;
    for (size_t unit = 0; unit < table->units; unit++) {
        uint64_t x =
            state_after(places_start(table, iterations - 1, unit), (uint64_t)UNIT_RESULTS * LOOK_UPS);
        for (size_t left = UNIT_RESULTS; left-- > 0;) {
            double expected = 0;
            for (int look_up = 0; look_up < LOOK_UPS; look_up++) {
                expected += generator_real(table->generator, STREAM_TABLE, place_below(x, table->entries));
                x = preceding(x);
            }
            worst = codelet_worse(worst, table->results[unit * UNIT_RESULTS + left], expected);
        }
    }
    return worst;
}

const struct codelet shared_table = {
    .name = "shared-table",
    .family = "sharing",
    .summary =
        "Reads at random in a large table that all threads share and none writes, and stores own results.",
    .iterations = 8,
    .tolerance = 0,
    CODELET_FUNCTIONS(table),
};

/* ---- false-sharing ---- */

enum { KINDS = 16, IN_LINE = 8, ROUNDS = 64, EVENTS = 64, STREAM_EVENTS = 3 };

struct counters {
    size_t units;     /* a multiple of IN_LINE */
    uint64_t *counts; /* KINDS rows of a counter a unit */
    const struct generator *generator;
};

static size_t counters_units(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {16, 128, 256, 512};
    return units[size];
}

static size_t counters_bytes(enum codelet_size size) {
    return KINDS * counters_units(size) * sizeof(uint64_t);
}

static void counters_destroy(void *state) {
    struct counters *counters = state;
    codelet_free(counters->counts);
    free(counters);
}

/* A unit's place in each row: units that are an eighth of all apart lie side by side. */
static size_t column_of(const struct counters *counters, size_t unit) {
    const size_t lines = counters->units / IN_LINE;
    return unit % lines * IN_LINE + unit / lines;
}

static void counters_fill(void *state, size_t unit) {
    struct counters *counters = state;
    for (size_t kind = 0; kind < KINDS; kind++)
        counters->counts[kind * counters->units + column_of(counters, unit)] = 0;
}

static void *counters_create(const struct codelet_setup *setup) {
    struct counters *counters = calloc(1, sizeof *counters);
    if (!counters)
        return NULL;
    counters->units = counters_units(setup->size);
    counters->generator = setup->generator;
    counters->counts = codelet_allocate(counters_bytes(setup->size));
    if (!counters->counts) {
        counters_destroy(counters);
        return NULL;
    }
    codelet_initialise(setup->init, counters->units, counters_fill, counters);
    return counters;
}

/* The state before a unit's first event in a round. */
static uint64_t events_start(const struct counters *counters, int iteration, size_t round, size_t unit) {
    const uint64_t rounds = (uint64_t)iteration * ROUNDS + round;
    return generator_hash(counters->generator, STREAM_EVENTS, rounds * counters->units + unit);
}

static void counters_iterate(void *state, int iteration) {
    const struct counters *counters = state;
#pragma omp parallel
    for (size_t round = 0; round < ROUNDS; round++) {
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < counters->units; unit++) {
            uint64_t *counts = counters->counts + column_of(counters, unit);
            uint64_t x = events_start(counters, iteration, round, unit);
            for (int event = 0; event < EVENTS; event++) {
                x = following(x);
                counts[place_below(x, KINDS) * counters->units]++;
            }
        }
    }
}

static double counters_checksum(const void *state) {
    const struct counters *counters = state;
    double sum = 0; /* of integers: exact */
    for (size_t i = 0; i < KINDS * counters->units; i++)
        sum += (double)(counters->counts[i] * (i % 97 + 1));
    return sum;
}

/* Unit by unit, each round's events from the last to the first. */
static double counters_deviation(const void *state, int iterations) {
    const struct counters *counters = state;
    double worst = 0;
    for (size_t unit = 0; unit < counters->units; unit++) {
        uint64_t expected[KINDS] = {0};
        for (int iteration = 0; iteration < iterations; iteration++)
            for (size_t round = 0; round < ROUNDS; round++) {
                uint64_t x = state_after(events_start(counters, iteration, round, unit), EVENTS);
                for (int event = 0; event < EVENTS; event++) {
                    expected[x >> 32 >> 28]++;
                    x = preceding(x);
                }
            }
        for (size_t kind = 0; kind < KINDS; kind++)
            worst = codelet_worse(
                worst, (double)counters->counts[kind * counters->units + column_of(counters, unit)],
                (double)expected[kind]);
    }
    return worst;
}

const struct codelet false_sharing = {
    .name = "false-sharing",
    .family = "sharing",
    .summary = "Counts in counters of its own that lie in the same cache lines as those of other threads.",
    .iterations = 100,
    .tolerance = 0,
    CODELET_FUNCTIONS(counters),
};
