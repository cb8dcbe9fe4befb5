/* facility.c: would it pay to open a centre at one candidate point?
 *
 * Modelled on pgain in PARSEC's and Rodinia's streamcluster, a facility location problem. Points are
 * structures that point to coordinates elsewhere. Every thread streams its share of the points and compares
 * each with the candidate, which all read; it looks up the slot of the point's centre in a table indexed by
 * point, and adds what closing that centre would cost to its own row of a shared table. One thread adds up
 * the rows; if opening pays, the points that gain, and those of centres that are not worth keeping any more,
 * move to the candidate. With serial initialisation, as in the original, points, coordinates and tables all
 * lie where the first thread put them.
 *
 * Coordinates are multiples of 2^-8 and weights small integers, so all costs are exact in single precision
 * and their sums exact in double, in any order.
 */
#include "codelet.h"

#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS = 32, GROUPS = 16, UNIT = 256, SLOTS = 128, STREAM_COORDINATES = 1, STREAM_CANDIDATES = 2 };
/* A row of the shared table: a sum a slot, then what points would save by moving; padded to whole cache
 * lines. */
enum { SAVING = SLOTS, ROW = SLOTS + 8 };

struct point {
    const float *coordinates;
    float weight, cost; /* cost: the weighted distance to the centre */
    uint32_t centre;    /* a point's index */
};

struct facility {
    size_t points;
    float *coordinates;
    struct point *point;
    int32_t *slot_of; /* of each point that is a centre, -1 for others */
    bool *moves;      /* whether the candidate is nearer to the point than its centre */
    double *rows;     /* CODELET_THREADS_MAX x ROW */
    uint32_t centres[SLOTS];
    float first[GROUPS][DIMENSIONS]; /* the first centres' coordinates, which may not be in their place yet */
    bool used[SLOTS], closing[SLOTS], pays;
    double opening_cost;
    const struct generator *generator;
};

static size_t points_of(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {40, 400, 2500, 9200};
    return units[size] * UNIT;
}

static size_t facility_bytes(enum codelet_size size) {
    return points_of(size) *
           (DIMENSIONS * sizeof(float) + sizeof(struct point) + sizeof(int32_t) + sizeof(bool));
}

static void facility_destroy(void *state) {
    struct facility *facility = state;
    codelet_free(facility->coordinates);
    codelet_free(facility->point);
    codelet_free(facility->slot_of);
    codelet_free(facility->moves);
    free(facility->rows);
    free(facility);
}

/* The group whose two dimensions a point is large in. */
static size_t group_of(size_t point) { return (point + point / GROUPS) % GROUPS; }

static float weight_of(size_t point) { return (float)(1 + point / 7 % 3); }

/* The first centres: one point of each group, spread over the array. */
static uint32_t first_centre(size_t points, size_t group) {
    size_t point = group * (points / GROUPS);
    while (group_of(point) != group)
        point++;
    return (uint32_t)point;
}

/* Points begin at their group's first centre, but a third at another group's: there is something to gain. */
static size_t group_at_start(size_t point, uint32_t own_centre) {
    return point % 3 == 0 && point != own_centre ? (group_of(point) + 5) % GROUPS : group_of(point);
}

static void coordinates_of(const struct generator *generator, size_t point, float *out) {
    for (size_t i = 0; i < DIMENSIONS; i++)
        out[i] = generator_quantum(generator, STREAM_COORDINATES, point * DIMENSIONS + i);
    out[2 * group_of(point)] += 1;
    out[2 * group_of(point) + 1] += 1;
}

static float distance(const float *restrict a, const float *restrict b) {
    float sums[4] = {0}; /* four at once: exact in any order */
    for (int i = 0; i < DIMENSIONS; i += 4)
        for (int lane = 0; lane < 4; lane++)
            sums[lane] += (a[i + lane] - b[i + lane]) * (a[i + lane] - b[i + lane]);
    return sums[0] + sums[1] + sums[2] + sums[3];
}

static void facility_fill(void *state, size_t unit) {
    struct facility *facility = state;
    const size_t first = unit * UNIT;
    float *coordinates = facility->coordinates + first * DIMENSIONS;
    generator_fill_quanta(facility->generator, STREAM_COORDINATES, first * DIMENSIONS / GENERATOR_BLOCK,
                          coordinates, (size_t)UNIT * DIMENSIONS);
    for (size_t i = first; i < first + UNIT; i++, coordinates += DIMENSIONS) {
        struct point *point = &facility->point[i];
        coordinates[2 * group_of(i)] += 1;
        coordinates[2 * group_of(i) + 1] += 1;
        point->coordinates = coordinates;
        point->weight = weight_of(i);
        const size_t group = group_at_start(i, facility->centres[group_of(i)]);
        point->centre = facility->centres[group];
        point->cost = point->weight * distance(coordinates, facility->first[group]);
        facility->slot_of[i] = point->centre == i ? (int32_t)group_of(i) : -1;
        facility->moves[i] = false;
    }
}

static void *facility_create(const struct codelet_setup *setup) {
    struct facility *facility = calloc(1, sizeof *facility);
    if (!facility)
        return NULL;
    const size_t points = facility->points = points_of(setup->size);
    facility->generator = setup->generator;
    facility->opening_cost = (double)points / 16;
    facility->coordinates = codelet_allocate(points * DIMENSIONS * sizeof(float));
    facility->point = codelet_allocate(points * sizeof *facility->point);
    facility->slot_of = codelet_allocate(points * sizeof *facility->slot_of);
    facility->moves = codelet_allocate(points * sizeof *facility->moves);
    facility->rows = calloc((size_t)CODELET_THREADS_MAX * ROW, sizeof *facility->rows);
    if (!facility->coordinates || !facility->point || !facility->slot_of || !facility->moves ||
        !facility->rows) {
        facility_destroy(facility);
        return NULL;
    }
    for (size_t group = 0; group < GROUPS; group++) {
        facility->centres[group] = first_centre(points, group);
        coordinates_of(facility->generator, facility->centres[group], facility->first[group]);
        facility->used[group] = true;
    }
    codelet_initialise(setup->init, points / UNIT, facility_fill, facility);
    return facility;
}

static uint32_t candidate_of(const struct generator *generator, int iteration, size_t points) {
    return (uint32_t)(generator_hash(generator, STREAM_CANDIDATES, (uint64_t)iteration) % points);
}

/* Compare a unit's points with the candidate, adding to this thread's row. */
static void weigh(const struct facility *facility, size_t unit, const float *candidate, double *row) {
    for (size_t i = unit * UNIT; i < (unit + 1) * UNIT; i++) {
        const struct point *point = &facility->point[i];
        const float cost = point->weight * distance(point->coordinates, candidate);
        facility->moves[i] = cost < point->cost;
        if (facility->moves[i])
            row[SAVING] += (double)(point->cost - cost);
        else
            row[facility->slot_of[point->centre]] += (double)(cost - point->cost);
    }
}

/* Add up the threads' rows: which centres would close, and does opening the candidate pay? */
static void decide(struct facility *facility, int threads) {
    double sums[ROW] = {0};
    for (int thread = 0; thread < threads; thread++)
        for (int i = 0; i <= SAVING; i++)
            sums[i] += facility->rows[thread * ROW + i];
    double gain = sums[SAVING] - facility->opening_cost;
    bool room = false;
    for (int slot = 0; slot < SLOTS; slot++) {
        facility->closing[slot] = facility->used[slot] && sums[slot] < facility->opening_cost;
        if (facility->closing[slot])
            gain += facility->opening_cost - sums[slot];
        room = room || facility->closing[slot] || !facility->used[slot];
    }
    facility->pays = gain > 0 && room;
}

/* Move a unit's points that gain by it, or lose their centre, to the candidate. */
static void move(const struct facility *facility, size_t unit, uint32_t candidate) {
    for (size_t i = unit * UNIT; i < (unit + 1) * UNIT; i++) {
        struct point *point = &facility->point[i];
        if (!facility->moves[i] && !facility->closing[facility->slot_of[point->centre]])
            continue;
        point->centre = candidate;
        point->cost = point->weight * distance(point->coordinates, facility->point[candidate].coordinates);
    }
}

static void open_candidate(struct facility *facility, uint32_t candidate) {
    for (int slot = 0; slot < SLOTS; slot++)
        if (facility->closing[slot]) {
            facility->slot_of[facility->centres[slot]] = -1;
            facility->used[slot] = false;
        }
    int slot = 0;
    while (facility->used[slot])
        slot++;
    facility->used[slot] = true;
    facility->centres[slot] = candidate;
    facility->slot_of[candidate] = slot;
}

static void facility_iterate(void *state, int iteration) {
    struct facility *facility = state;
    const size_t units = facility->points / UNIT;
    const uint32_t candidate = candidate_of(facility->generator, iteration, facility->points);
    if (facility->slot_of[candidate] >= 0)
        return; /* it is a centre already */
#pragma omp parallel
    {
        double *row = facility->rows + (size_t)omp_get_thread_num() * ROW;
        memset(row, 0, ROW * sizeof *row);
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < units; unit++)
            weigh(facility, unit, facility->point[candidate].coordinates, row);
#pragma omp single
        decide(facility, omp_get_num_threads());
        if (facility->pays) {
#pragma omp for schedule(monotonic : runtime)
            for (size_t unit = 0; unit < units; unit++)
                move(facility, unit, candidate);
        }
    }
    if (facility->pays)
        open_candidate(facility, candidate);
}

static double facility_checksum(const void *state) {
    const struct facility *facility = state;
    double sum = 0;
    for (size_t i = 0; i < facility->points; i++)
        sum += (double)facility->point[i].cost + (facility->slot_of[i] >= 0 ? facility->opening_cost : 0);
    return sum;
}

/* The same search by its definition: one pass over the points in double, all tables indexed by point. */
struct plain {
    size_t points;
    double *cost, *new_cost, *closing_cost;
    uint32_t *centre;
    bool *is_centre;
    double opening_cost;
    const struct generator *generator;
};

static double plain_cost(const struct plain *plain, size_t point, const float *to) {
    float from[DIMENSIONS];
    double sum = 0;
    coordinates_of(plain->generator, point, from);
    for (int i = 0; i < DIMENSIONS; i++)
        sum += pow((double)from[i] - (double)to[i], 2);
    return sum * (double)weight_of(point);
}

static void plain_start(struct plain *plain) {
    for (size_t i = 0; i < plain->points; i++) {
        float to[DIMENSIONS];
        const size_t group = group_at_start(i, first_centre(plain->points, group_of(i)));
        plain->centre[i] = first_centre(plain->points, group);
        plain->is_centre[plain->centre[i]] = true;
        coordinates_of(plain->generator, plain->centre[i], to);
        plain->cost[i] = plain_cost(plain, i, to);
    }
}

static void plain_step(struct plain *plain, uint32_t candidate) {
    float to[DIMENSIONS];
    double gain = -plain->opening_cost;
    coordinates_of(plain->generator, candidate, to);
    memset(plain->closing_cost, 0, plain->points * sizeof *plain->closing_cost);
    for (size_t i = 0; i < plain->points; i++) {
        plain->new_cost[i] = plain_cost(plain, i, to);
        gain += fmax(0, plain->cost[i] - plain->new_cost[i]);
        plain->closing_cost[plain->centre[i]] += fmax(0, plain->new_cost[i] - plain->cost[i]);
    }
    for (size_t i = 0; i < plain->points; i++)
        if (plain->is_centre[i])
            gain += fmax(0, plain->opening_cost - plain->closing_cost[i]);
    if (gain <= 0)
        return;
    for (size_t i = 0; i < plain->points; i++)
        if (plain->new_cost[i] < plain->cost[i] ||
            plain->closing_cost[plain->centre[i]] < plain->opening_cost) {
            plain->cost[i] = plain->new_cost[i];
            plain->centre[i] = candidate;
        }
    for (size_t i = 0; i < plain->points; i++)
        plain->is_centre[i] = plain->is_centre[i] && plain->closing_cost[i] >= plain->opening_cost;
    plain->is_centre[candidate] = true;
}

static double facility_deviation(const void *state, int iterations) {
    const struct facility *facility = state;
    const size_t n = facility->points;
    struct plain plain = {
        .points = n, .opening_cost = facility->opening_cost, .generator = facility->generator};
    plain.cost = malloc(n * sizeof *plain.cost);
    plain.new_cost = malloc(n * sizeof *plain.new_cost);
    plain.closing_cost = malloc(n * sizeof *plain.closing_cost);
    plain.centre = malloc(n * sizeof *plain.centre);
    plain.is_centre = calloc(n, sizeof *plain.is_centre);
    double worst = DEVIATION_UNKNOWN;
    if (plain.cost && plain.new_cost && plain.closing_cost && plain.centre && plain.is_centre) {
        worst = 0;
        plain_start(&plain);
        for (int iteration = 0; iteration < iterations; iteration++) {
            const uint32_t candidate = candidate_of(plain.generator, iteration, n);
            if (!plain.is_centre[candidate])
                plain_step(&plain, candidate);
        }
        for (size_t i = 0; i < n; i++) {
            worst = codelet_worse(worst, facility->point[i].centre, plain.centre[i]);
            worst = codelet_worse(worst, (double)facility->point[i].cost, plain.cost[i]);
            worst = codelet_worse(worst, facility->slot_of[i] >= 0, plain.is_centre[i]);
        }
    }
    free(plain.cost);
    free(plain.new_cost);
    free(plain.closing_cost);
    free(plain.centre);
    free(plain.is_centre);
    return worst;
}

const struct codelet pgain = {
    .name = "pgain",
    .family = "clustering",
    .summary = "Streams points through pointers, compares each with one that all share, and looks up a table "
               "by centre.",
    .iterations = 36,
    .tolerance = 0,
    CODELET_FUNCTIONS(facility),
};
