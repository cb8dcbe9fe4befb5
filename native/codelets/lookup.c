/* lookup.c: cross sections looked up for a Monte Carlo simulation of neutrons.
 *
 * Modelled on XSBench with its unionised energy grid. For each of many random energies a thread halves a
 * large sorted grid, some 16 to 21 dependent reads of which the first hit a cache, and reads the row of the
 * grid point it finds: for each of 32 nuclides, where its own grid stands at this energy. Then it reads two
 * neighbouring rows of data of each nuclide of a material, 4 to 24 of them, far from each other, and
 * interpolates between them. All tables are read by all threads and never written; a thread writes only five
 * sums for each unit of look-ups. Latency bounds it. Energies are drawn by unit, anew for each iteration. All
 * values are multiples of powers of two, so the sums are exact.
 */
#include "codelet.h"

#include <stdlib.h>

enum { UNIT = 256, NUCLIDES = 32, REACTIONS = 5, MATERIALS = 8, FRACTION = 256, FIRST_ENERGIES = 16 };
enum { STREAM_POINTS = 1, STREAM_SECTIONS = 2, STREAM_DENSITIES = 3 };

/* How many nuclides a material has, the first being fuel; and where its run through the nuclides starts. */
static const uint32_t material_lengths[MATERIALS] = {24, 4, 5, 6, 10, 7, 12, 8};
static const uint32_t material_starts[MATERIALS] = {0, 24, 9, 17, 3, 28, 12, 21};

struct point {
    double energy; /* in [0, 1] */
    double sections[REACTIONS];
};

struct sums {
    double sections[REACTIONS];
    double padding[3]; /* threads must not share lines of sums */
};

struct lookup {
    size_t units;     /* of look-ups */
    size_t intervals; /* of equal width; each nuclide has one point in each, and one at the end */
    double *energies; /* the points of all nuclides, sorted */
    uint32_t *places; /* for each of these, and each nuclide, its last point that is not above */
    struct point *points;
    struct sums *sums;
    double densities[MATERIALS * NUCLIDES];
    const struct generator *generator;
};

static size_t units_of(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {32, 256, 512, 1024};
    return units[size];
}

static size_t intervals_of(enum codelet_size size) {
    static const size_t intervals[SIZE_COUNT] = {256, 2048, 16384, 65536};
    return intervals[size];
}

static size_t lookup_bytes(enum codelet_size size) {
    const size_t grid = intervals_of(size) * NUCLIDES;
    return grid * (sizeof(double) + NUCLIDES * sizeof(uint32_t)) + (grid + NUCLIDES) * sizeof(struct point) +
           units_of(size) * sizeof(struct sums);
}

static void lookup_destroy(void *state) {
    struct lookup *lookup = state;
    codelet_free(lookup->energies);
    codelet_free(lookup->places);
    codelet_free(lookup->points);
    codelet_free(lookup->sums);
    free(lookup);
}

static size_t point_index(const struct lookup *lookup, size_t nuclide, size_t interval) {
    return nuclide * (lookup->intervals + 1) + interval;
}

/* How far into its interval a nuclide's point is, in 2^-32; a nuclide begins at energy 0 and ends at 1. */
static uint32_t offset_of(const struct lookup *lookup, size_t nuclide, size_t interval) {
    if (interval == 0 || interval == lookup->intervals)
        return 0;
    return generator_word(lookup->generator, STREAM_POINTS, interval * NUCLIDES + nuclide);
}

static double energy_of(const struct lookup *lookup, size_t nuclide, size_t interval) {
    const double in_intervals = (double)interval + offset_of(lookup, nuclide, interval) * 0x1p-32;
    return in_intervals / (double)lookup->intervals;
}

static void read_sections(const struct lookup *lookup, size_t point, float sections[REACTIONS]) {
    generator_fill_quanta(lookup->generator, STREAM_SECTIONS, point, sections, REACTIONS);
}

static void fill_point(const struct lookup *lookup, size_t nuclide, size_t interval) {
    const size_t index = point_index(lookup, nuclide, interval);
    float sections[REACTIONS];
    read_sections(lookup, index, sections);
    lookup->points[index].energy = energy_of(lookup, nuclide, interval);
    for (size_t reaction = 0; reaction < REACTIONS; reaction++)
        lookup->points[index].sections[reaction] = sections[reaction];
}

/* Sort the energies of an interval's points, and say where each nuclide stands at each of them. */
static void fill_grid(const struct lookup *lookup, size_t interval) {
    double *sorted = lookup->energies + interval * NUCLIDES, own[NUCLIDES];
    for (size_t nuclide = 0; nuclide < NUCLIDES; nuclide++) {
        size_t at = nuclide;
        own[nuclide] = energy_of(lookup, nuclide, interval);
        for (; at > 0 && sorted[at - 1] > own[nuclide]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = own[nuclide];
    }
    for (size_t i = 0; i < NUCLIDES; i++)
        for (size_t nuclide = 0; nuclide < NUCLIDES; nuclide++)
            lookup->places[(interval * NUCLIDES + i) * NUCLIDES + nuclide] =
                (uint32_t)(own[nuclide] <= sorted[i] ? interval : interval - 1);
}

/* The tables are distributed over the units of look-ups. */
static void lookup_fill(void *state, size_t unit) {
    struct lookup *lookup = state;
    const size_t count = lookup->intervals / lookup->units;
    for (size_t interval = unit * count; interval < (unit + 1) * count; interval++) {
        fill_grid(lookup, interval);
        for (size_t nuclide = 0; nuclide < NUCLIDES; nuclide++)
            fill_point(lookup, nuclide, interval);
    }
    for (size_t nuclide = 0; nuclide < NUCLIDES && unit + 1 == lookup->units; nuclide++)
        fill_point(lookup, nuclide, lookup->intervals);
    lookup->sums[unit] = (struct sums){.sections = {0}};
}

static double density_of(const struct generator *generator, size_t material, size_t nuclide) {
    const uint64_t hash = generator_hash(generator, STREAM_DENSITIES, material * NUCLIDES + nuclide);
    return (double)(1 + hash % 16) / 16;
}

static void *lookup_create(const struct codelet_setup *setup) {
    struct lookup *lookup = calloc(1, sizeof *lookup);
    if (!lookup)
        return NULL;
    const size_t units = lookup->units = units_of(setup->size);
    const size_t intervals = lookup->intervals = intervals_of(setup->size);
    lookup->generator = setup->generator;
    for (size_t i = 0; i < (size_t)MATERIALS * NUCLIDES; i++)
        lookup->densities[i] = density_of(setup->generator, i / NUCLIDES, i % NUCLIDES);
    lookup->energies = codelet_allocate(intervals * NUCLIDES * sizeof(double));
    lookup->places = codelet_allocate(intervals * NUCLIDES * NUCLIDES * sizeof(uint32_t));
    lookup->points = codelet_allocate((intervals + 1) * NUCLIDES * sizeof(struct point));
    lookup->sums = codelet_allocate(units * sizeof(struct sums));
    if (!lookup->energies || !lookup->places || !lookup->points || !lookup->sums) {
        lookup_destroy(lookup);
        return NULL;
    }
    codelet_initialise(setup->init, units, lookup_fill, lookup);
    return lookup;
}

/* A random word is an energy, in 2^-32, and its lowest bits choose the material. */
static void draw(const struct lookup *lookup, size_t unit, int iteration, uint32_t words[UNIT]) {
    generator_fill_words(lookup->generator, FIRST_ENERGIES + (uint32_t)iteration,
                         unit * (UNIT / GENERATOR_BLOCK), words, UNIT);
}

/* The last point of the sorted grid that is not above the energy. */
static inline size_t halve(const double *energies, size_t count, double energy) {
    size_t first = 0;
    while (count > 1) {
        const size_t half = count / 2;
        if (energies[first + half] <= energy) {
            first += half;
            count -= half;
        } else {
            count = half;
        }
    }
    return first;
}

/* Add a nuclide's cross sections between two points, at a whole number of 256ths of the way. */
static inline void add_between(const struct point *low, double energy, double density, struct sums *sums) {
    const struct point *high = low + 1;
    const double way = (energy - low->energy) / (high->energy - low->energy);
    const double part = (double)(int)(way * FRACTION) / FRACTION;
    for (int reaction = 0; reaction < REACTIONS; reaction++) {
        const double rise = high->sections[reaction] - low->sections[reaction];
        sums->sections[reaction] += density * (low->sections[reaction] + part * rise);
    }
}

static inline void look_up(const struct lookup *lookup, uint32_t word, struct sums *sums) {
    const double energy = word * 0x1p-32;
    const size_t material = word % MATERIALS;
    const size_t found = halve(lookup->energies, lookup->intervals * NUCLIDES, energy);
    const uint32_t *places = lookup->places + found * NUCLIDES;
    for (uint32_t i = 0; i < material_lengths[material]; i++) {
        const size_t nuclide = (material_starts[material] + i) % NUCLIDES;
        add_between(&lookup->points[point_index(lookup, nuclide, places[nuclide])], energy,
                    lookup->densities[material * NUCLIDES + nuclide], sums);
    }
}

static void lookup_iterate(void *state, int iteration) {
    const struct lookup *lookup = state;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = 0; unit < lookup->units; unit++) {
        uint32_t words[UNIT];
        struct sums sums = {.sections = {0}};
        draw(lookup, unit, iteration, words);
        for (int i = 0; i < UNIT; i++)
            look_up(lookup, words[i], &sums);
        lookup->sums[unit] = sums;
    }
}

static double lookup_checksum(const void *state) {
    const struct lookup *lookup = state;
    double sum = 0;
    for (size_t unit = 0; unit < lookup->units; unit++)
        for (int reaction = 0; reaction < REACTIONS; reaction++)
            sum += lookup->sums[unit].sections[reaction] * (reaction + 1);
    return sum;
}

/* Without the tables: division finds a nuclide's interval, and whole numbers the part of the way. Energies
 * are in 2^-32 of an interval here. */
static void expect_nuclide(const struct lookup *lookup, uint64_t energy, size_t nuclide, double density,
                           double expected[REACTIONS]) {
    size_t place = (size_t)(energy >> 32);
    if (offset_of(lookup, nuclide, place) > (uint32_t)energy)
        place--;
    const uint64_t low = ((uint64_t)place << 32) + offset_of(lookup, nuclide, place);
    const uint64_t high = ((uint64_t)(place + 1) << 32) + offset_of(lookup, nuclide, place + 1);
    const uint64_t part = (energy - low) * FRACTION / (high - low);
    float at_low[REACTIONS], at_high[REACTIONS];
    read_sections(lookup, point_index(lookup, nuclide, place), at_low);
    read_sections(lookup, point_index(lookup, nuclide, place + 1), at_high);
    for (int reaction = 0; reaction < REACTIONS; reaction++)
        expected[reaction] +=
            density / FRACTION *
            ((double)(FRACTION - part) * at_low[reaction] + (double)part * at_high[reaction]);
}

static double lookup_deviation(const void *state, int iterations) {
    const struct lookup *lookup = state;
    double worst = 0;
    for (size_t unit = 0; unit < lookup->units; unit++) {
        uint32_t words[UNIT];
        double expected[REACTIONS] = {0};
        draw(lookup, unit, iterations - 1, words);
        for (int i = 0; i < UNIT; i++) {
            const size_t material = words[i] % MATERIALS, start = material_starts[material];
            for (size_t nuclide = start; nuclide < start + material_lengths[material]; nuclide++)
                expect_nuclide(lookup, words[i] * (uint64_t)lookup->intervals, nuclide % NUCLIDES,
                               density_of(lookup->generator, material, nuclide % NUCLIDES), expected);
        }
        for (int reaction = 0; reaction < REACTIONS; reaction++)
            worst = codelet_worse(worst, lookup->sums[unit].sections[reaction], expected[reaction]);
    }
    return worst;
}

const struct codelet table_lookup = {
    .name = "table-lookup",
    .family = "monte-carlo",
    .summary =
        "Searches a large energy grid at random and interpolates in scattered rows of read-only tables.",
    .iterations = 8,
    .tolerance = 0,
    CODELET_FUNCTIONS(lookup),
};
