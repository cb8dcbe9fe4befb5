/* short_regions.c: time steps of many parallel regions, each too small for many threads.
 *
 * short-regions diffuses a quantity along a ring of cells. A time step has a region for the differences of
 * neighbours, one for the differences of these, one for the new state, one for each material, and a sum over
 * all cells. The materials are lists of cells of very different lengths, so that the regions' sizes differ.
 * The two arrays of differences are allocated anew in each step and freed at its end. An iteration is 100
 * steps, 1200 regions, most of less work than a large team takes to start: what it costs to start regions and
 * to end them decides, and fewer threads that are close to each other are faster. It is modelled on LULESH,
 * whose step has some thirty regions, temporaries of its own, and an equation of state for each material.
 *
 * Cells hold integers modulo 2^32, so that sums are exact in any order.
 */
#include "codelet.h"

#include <stdbool.h>
#include <stdlib.h>

enum { UNIT_CELLS = 64, MATERIALS = 8, STEPS = 100, STREAM_STATE = 1, STREAM_ENERGY = 2 };

#define EXCHANGE 5u /* what a cell passes to each neighbour in a step */

struct ring {
    size_t cells;      /* a power of two, at least UNIT_CELLS << MATERIALS */
    uint32_t *state;   /* what diffuses */
    uint32_t *energy;  /* gains the state, times the material's weight, in each step */
    uint32_t *members; /* the cells, material by material */
    uint32_t total;    /* the sum of the states after the last step */
    bool failed;       /* a step lacked memory for its temporaries */
    const struct generator *generator;
};

static size_t ring_cells(enum codelet_size size) {
    static const size_t cells[SIZE_COUNT] = {16384, 32768, 65536, 262144};
    return cells[size];
}

static size_t ring_bytes(enum codelet_size size) { return 3 * ring_cells(size) * sizeof(uint32_t); }

static void ring_destroy(void *state) {
    struct ring *ring = state;
    codelet_free(ring->state);
    codelet_free(ring->energy);
    codelet_free(ring->members);
    free(ring);
}

/* The first material has half of the cells, the second a quarter, and the last two as many. */
static size_t first_member(const struct ring *ring, size_t material) {
    return material < MATERIALS ? ring->cells - (ring->cells >> material) : ring->cells;
}

static uint32_t weight_of(size_t material) { return 3 + 2 * (uint32_t)material; }

/* Neighbours on the ring belong to different materials as a rule: an odd factor makes another order of all.
 */
static uint32_t member(const struct ring *ring, size_t place) {
    return (uint32_t)(place * 37 & (ring->cells - 1));
}

static void ring_fill(void *state, size_t unit) {
    const struct ring *ring = state;
    const size_t first = unit * UNIT_CELLS;
    generator_fill_words(ring->generator, STREAM_STATE, first / GENERATOR_BLOCK, ring->state + first,
                         UNIT_CELLS);
    generator_fill_words(ring->generator, STREAM_ENERGY, first / GENERATOR_BLOCK, ring->energy + first,
                         UNIT_CELLS);
    for (size_t place = first; place < first + UNIT_CELLS; place++)
        ring->members[place] = member(ring, place);
}

static void *ring_create(const struct codelet_setup *setup) {
    struct ring *ring = calloc(1, sizeof *ring);
    if (!ring)
        return NULL;
    ring->cells = ring_cells(setup->size);
    ring->generator = setup->generator;
    ring->state = codelet_allocate(ring->cells * sizeof(uint32_t));
    ring->energy = codelet_allocate(ring->cells * sizeof(uint32_t));
    ring->members = codelet_allocate(ring->cells * sizeof(uint32_t));
    if (!ring->state || !ring->energy || !ring->members) {
        ring_destroy(ring);
        return NULL;
    }
    codelet_initialise(setup->init, ring->cells / UNIT_CELLS, ring_fill, ring);
    return ring;
}

/* to[i] = from[i + offset] - from[i + offset - 1], on the ring; `offset` is 0 or 1. */
static void differences(const struct ring *ring, uint32_t *restrict to, const uint32_t *restrict from,
                        size_t offset) {
    const size_t units = ring->cells / UNIT_CELLS, last = ring->cells - 1;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = 0; unit < units; unit++)
        for (size_t i = unit * UNIT_CELLS; i < (unit + 1) * UNIT_CELLS; i++)
            to[i] = from[(i + offset) & last] - from[(i + offset - 1) & last];
}

static void exchange(const struct ring *ring, const uint32_t *restrict change) {
    const size_t units = ring->cells / UNIT_CELLS;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = 0; unit < units; unit++)
        for (size_t i = unit * UNIT_CELLS; i < (unit + 1) * UNIT_CELLS; i++)
            ring->state[i] += EXCHANGE * change[i];
}

static void heat_material(const struct ring *ring, size_t material) {
    const size_t first = first_member(ring, material) / UNIT_CELLS;
    const size_t end = first_member(ring, material + 1) / UNIT_CELLS;
    const uint32_t weight = weight_of(material);
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = first; unit < end; unit++)
        for (size_t place = unit * UNIT_CELLS; place < (unit + 1) * UNIT_CELLS; place++) {
            const uint32_t cell = ring->members[place];
            ring->energy[cell] += weight * ring->state[cell];
        }
}

static uint32_t total_of(const struct ring *ring) {
    const size_t units = ring->cells / UNIT_CELLS;
    uint32_t total = 0;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime) reduction(+ : total)
    for (size_t unit = 0; unit < units; unit++)
        for (size_t i = unit * UNIT_CELLS; i < (unit + 1) * UNIT_CELLS; i++)
            total += ring->state[i];
    return total;
}

static void ring_iterate(void *state, int iteration) {
    struct ring *ring = state;
    (void)iteration;
    for (int step = 0; step < STEPS && !ring->failed; step++) {
        uint32_t *flux = malloc(ring->cells * sizeof *flux);
        uint32_t *change = malloc(ring->cells * sizeof *change);
        if (flux && change) {
            differences(ring, flux, ring->state, 0);
            differences(ring, change, flux, 1);
            exchange(ring, change);
            for (size_t material = 0; material < MATERIALS; material++)
                heat_material(ring, material);
            ring->total = total_of(ring);
        } else {
            ring->failed = true;
        }
        free(flux);
        free(change);
    }
}

static double ring_checksum(const void *state) {
    const struct ring *ring = state;
    uint64_t sum = 0;
    for (size_t i = 0; i < ring->cells; i++)
        sum += (uint64_t)(ring->state[i] ^ ring->energy[i]) * (i % 31 + 1);
    return (double)(sum >> 11);
}

/* A ring's value from the generator, folded with what each distance contributes. */
static uint32_t folded(const uint32_t *values, size_t cells, size_t cell, const uint32_t *parts,
                       size_t reach) {
    uint32_t sum = 0;
    for (size_t at = 0; at <= 2 * reach; at++)
        sum += parts[at] * values[(cell + at - reach) & (cells - 1)];
    return sum;
}

/* Cells that are compared: all would take the square of their number. */
enum { COMPARED = 4096 };

/* The closed form: a step multiplies by a polynomial in shifts along the ring. After k steps the state is the
 * start times its k-th power, and the energy grew by the start times the sum of the powers. */
static double ring_deviation(const void *state, int iterations) {
    const struct ring *ring = state;
    const size_t cells = ring->cells, steps = (size_t)iterations * STEPS, width = 2 * steps + 1;
    uint32_t *power = calloc(width, sizeof *power), *next = calloc(width, sizeof *next);
    uint32_t *sums = calloc(width, sizeof *sums), *start = malloc(cells * sizeof *start);
    double worst = power && next && sums && start && !ring->failed ? 0 : DEVIATION_UNKNOWN;
    if (worst == 0) {
        uint32_t total = 0;
        for (size_t i = 0; i < cells; i++)
            total += start[i] = generator_word(ring->generator, STREAM_STATE, i);
        worst = codelet_worse(worst, ring->total, total); /* what diffuses is neither made nor lost */
        power[steps] = 1;
        for (size_t step = 0; step < steps; step++) {
            for (size_t at = 0; at < width; at++)
                next[at] = (1 - 2 * EXCHANGE) * power[at] +
                           EXCHANGE * ((at ? power[at - 1] : 0) + (at + 1 < width ? power[at + 1] : 0));
            uint32_t *done = next;
            next = power;
            power = done;
            for (size_t at = 0; at < width; at++)
                sums[at] += power[at];
        }
        for (size_t material = 0; material < MATERIALS; material++)
            for (size_t place = first_member(ring, material); place < first_member(ring, material + 1);
                 place += cells / COMPARED - (cells > COMPARED)) {
                const size_t cell = member(ring, place);
                const uint32_t before = generator_word(ring->generator, STREAM_ENERGY, cell);
                const uint32_t gained = weight_of(material) * folded(start, cells, cell, sums, steps);
                worst = codelet_worse(worst, ring->state[cell], folded(start, cells, cell, power, steps));
                worst = codelet_worse(worst, ring->energy[cell], before + gained);
            }
    }
    free(power);
    free(next);
    free(sums);
    free(start);
    return worst;
}

const struct codelet short_regions = {
    .name = "short-regions",
    .family = "application",
    .summary =
        "Diffuses along a ring in steps of twelve small regions of uneven sizes, with temporaries in each.",
    .iterations = 4,
    .tolerance = 0,
    CODELET_FUNCTIONS(ring),
};
