/* particles.c: particles pushed through a field on a grid.
 *
 * Modelled on the push of particle-in-cell codes such as VPIC. A thread streams its share of the particles,
 * reading and writing each once. For each it gathers the field at the 8 corners of the particle's grid cell,
 * from a periodic 3-D grid that all threads read and none writes. The particles of a unit stay in a window of
 * 8 planes of the grid, as if they were sorted from time to time. So a gather meets the part of the grid that
 * the thread has just read for others, in its caches, and the stream meets memory. Places and velocities are
 * fixed-point numbers that wrap around: they stay bounded, and evenly spread over the window, so every
 * iteration finds the same work.
 */
#include "codelet.h"

#include <stdlib.h>

enum { UNIT = 2048, WINDOW_BITS = 3, FRACTION_BITS = 8, ONE = 1 << FRACTION_BITS, CORNERS = 8 };
enum { NODE_WORDS = 4, NODES_PER_BLOCK = GENERATOR_BLOCK / NODE_WORDS, PARTICLE_WORDS = 8 };
enum { STREAM_FIELD = 1, STREAM_PARTICLES = 2 };

struct node {
    int32_t field[3], unused;
};

/* Of a place, the highest bits count grid cells and the others are the place within; along z the bits above
 * the window's are zero. The energy is that of the latest push. */
struct particle {
    uint32_t place[3], charge;
    int32_t velocity[3];
    uint32_t energy;
};

struct push {
    size_t units;
    int grid_bits; /* 2^grid_bits nodes along each axis */
    int cell_bits; /* a cell's side is 2^cell_bits */
    struct node *nodes;
    struct particle *particles;
    const struct generator *generator;
};

static size_t units_of(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {16, 160, 1280, 5120};
    return units[size];
}

static int grid_bits_of(enum codelet_size size) {
    static const int bits[SIZE_COUNT] = {4, 5, 6, 7};
    return bits[size];
}

static size_t nodes_of(int grid_bits) { return (size_t)1 << 3 * grid_bits; }

static size_t push_bytes(enum codelet_size size) {
    return nodes_of(grid_bits_of(size)) * sizeof(struct node) +
           units_of(size) * UNIT * sizeof(struct particle);
}

static void push_destroy(void *state) {
    struct push *push = state;
    codelet_free(push->nodes);
    codelet_free(push->particles);
    free(push);
}

/* The field pulls either way, by at most 1/64 of a cell for each unit of charge. */
static int32_t field_of(const struct push *push, uint32_t word) {
    return (int32_t)(word >> (37 - push->cell_bits)) - (1 << (push->cell_bits - 6));
}

static uint32_t charge_of(uint32_t word) { return 1 + word % 4; }

/* Up to half a cell an iteration, either way. */
static int32_t speed_of(const struct push *push, uint32_t word) {
    return (int32_t)(word >> (32 - push->cell_bits)) - (1 << (push->cell_bits - 1));
}

/* Along z a place wraps in the window, along the other axes in the grid, of 2^32. */
static uint32_t window_mask(const struct push *push) {
    return ((uint32_t)1 << (push->cell_bits + WINDOW_BITS)) - 1;
}

/* The first plane of a unit's window. */
static size_t plane_of(const struct push *push, size_t unit) {
    return unit * ((size_t)1 << push->grid_bits) / push->units;
}

static void fill_nodes(const struct push *push, size_t block) {
    uint32_t words[GENERATOR_BLOCK];
    generator_fill_words(push->generator, STREAM_FIELD, block, words, GENERATOR_BLOCK);
    for (size_t i = 0; i < NODES_PER_BLOCK; i++) {
        struct node *node = &push->nodes[block * NODES_PER_BLOCK + i];
        for (size_t axis = 0; axis < 3; axis++)
            node->field[axis] = field_of(push, words[i * NODE_WORDS + axis]);
        node->unused = 0;
    }
}

static struct particle particle_of(const struct push *push, const uint32_t *words) {
    return (struct particle){
        .place = {words[0], words[1], words[2] & window_mask(push)},
        .charge = charge_of(words[3]),
        .velocity = {speed_of(push, words[4]), speed_of(push, words[5]), speed_of(push, words[6])},
    };
}

static void push_fill(void *state, size_t unit) {
    struct push *push = state;
    uint32_t words[PARTICLE_WORDS * UNIT];
    generator_fill_words(push->generator, STREAM_PARTICLES, unit * (PARTICLE_WORDS * UNIT / GENERATOR_BLOCK),
                         words, PARTICLE_WORDS * UNIT);
    for (size_t i = 0; i < UNIT; i++)
        push->particles[unit * UNIT + i] = particle_of(push, words + PARTICLE_WORDS * i);
    /* The grid is distributed over the units. */
    const size_t blocks = nodes_of(push->grid_bits) / NODES_PER_BLOCK;
    for (size_t block = unit * blocks / push->units; block < (unit + 1) * blocks / push->units; block++)
        fill_nodes(push, block);
}

static void *push_create(const struct codelet_setup *setup) {
    struct push *push = calloc(1, sizeof *push);
    if (!push)
        return NULL;
    push->units = units_of(setup->size);
    push->grid_bits = grid_bits_of(setup->size);
    push->cell_bits = 32 - push->grid_bits;
    push->generator = setup->generator;
    push->nodes = codelet_allocate(nodes_of(push->grid_bits) * sizeof(struct node));
    push->particles = codelet_allocate(push->units * UNIT * sizeof(struct particle));
    if (!push->nodes || !push->particles) {
        push_destroy(push);
        return NULL;
    }
    codelet_initialise(setup->init, push->units, push_fill, push);
    return push;
}

/* Keep a velocity within half a cell either way: the sum of the kicks wraps around. */
static inline int32_t wrap_velocity(int64_t velocity, int cell_bits) {
    const int64_t half = (int64_t)1 << (cell_bits - 1);
    return (int32_t)(((velocity + half) & (2 * half - 1)) - half);
}

/* The field at a place: the corners' mean, weighted by products of the distances to the opposite faces. */
static inline void gather(const struct push *push, const struct particle *particle, size_t first_plane,
                          int64_t pull[3]) {
    const int cell_bits = push->cell_bits, grid_bits = push->grid_bits;
    const size_t last = ((size_t)1 << grid_bits) - 1;
    size_t cell[3];
    int64_t part[3];
    for (int axis = 0; axis < 3; axis++) {
        cell[axis] = particle->place[axis] >> cell_bits;
        part[axis] = particle->place[axis] >> (cell_bits - FRACTION_BITS) & (ONE - 1);
    }
    cell[2] += first_plane;
    pull[0] = pull[1] = pull[2] = 0;
    for (size_t corner = 0; corner < CORNERS; corner++) {
        const size_t up_x = corner & 1, up_y = corner >> 1 & 1, up_z = corner >> 2;
        const size_t x = (cell[0] + up_x) & last, y = (cell[1] + up_y) & last, z = (cell[2] + up_z) & last;
        const int64_t weight = (up_x ? part[0] : ONE - part[0]) * (up_y ? part[1] : ONE - part[1]) *
                               (up_z ? part[2] : ONE - part[2]);
        const struct node *node = &push->nodes[(z << grid_bits | y) << grid_bits | x];
        for (int axis = 0; axis < 3; axis++)
            pull[axis] += weight * node->field[axis];
    }
}

static inline void push_one(const struct push *push, struct particle *particle, size_t first_plane) {
    int64_t pull[3], square = 0;
    gather(push, particle, first_plane, pull);
    for (int axis = 0; axis < 3; axis++) {
        /* Shifting rounds down, whatever the sign. */
        const int64_t kick = pull[axis] * particle->charge >> 3 * FRACTION_BITS;
        const int32_t velocity = wrap_velocity(particle->velocity[axis] + kick, push->cell_bits);
        particle->velocity[axis] = velocity;
        particle->place[axis] += (uint32_t)velocity;
        square += (int64_t)velocity * velocity;
    }
    particle->place[2] &= window_mask(push);
    particle->energy = (uint32_t)(square >> 24);
}

static void push_iterate(void *state, int iteration) {
    const struct push *push = state;
    (void)iteration;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t unit = 0; unit < push->units; unit++) {
        const size_t first_plane = plane_of(push, unit);
        for (size_t i = unit * UNIT; i < (unit + 1) * UNIT; i++)
            push_one(push, &push->particles[i], first_plane);
    }
}

static double push_checksum(const void *state) {
    const struct push *push = state;
    double sum = 0; /* of integers: exact */
    for (size_t i = 0; i < push->units * UNIT; i++) {
        const struct particle *particle = &push->particles[i];
        sum += (double)(particle->place[0] / 256 + particle->place[1] / 1024 + particle->place[2] / 4096) +
               particle->energy;
    }
    return sum;
}

/* The grid for the check: the field's words, x fastest. */
static uint32_t *field_words(const struct push *push) {
    const size_t count = nodes_of(push->grid_bits) * NODE_WORDS;
    uint32_t *words = malloc(count * sizeof *words);
    if (words)
        generator_fill_words(push->generator, STREAM_FIELD, 0, words, count);
    return words;
}

static double between(double low, double high, double part) { return low * (ONE - part) + high * part; }

/* Interpolate along x, then y, then z, as one axis after the other, between the two ends of each. */
static double field_between(const struct push *push, const uint32_t *words, size_t ends[3][2],
                            const double part[3], size_t axis) {
    double planes[2], rows[2], nodes[2];
    for (int up_z = 0; up_z < 2; up_z++) {
        for (int up_y = 0; up_y < 2; up_y++) {
            const size_t row = (ends[2][up_z] << push->grid_bits) + ends[1][up_y];
            for (int up_x = 0; up_x < 2; up_x++) {
                const size_t node = (row << push->grid_bits) + ends[0][up_x];
                nodes[up_x] = field_of(push, words[node * NODE_WORDS + axis]);
            }
            rows[up_y] = between(nodes[0], nodes[1], part[0]);
        }
        planes[up_z] = between(rows[0], rows[1], part[1]);
    }
    return between(planes[0], planes[1], part[2]);
}

static double wrap(double value, double low, double width) {
    return value < low ? value + width : value >= low + width ? value - width : value;
}

/* A particle as the check has it: the same numbers, in floating point, which is exact for them. Along z its
 * window starts at `home`. */
struct shadow {
    double at[3], velocity[3], charge, home, energy;
};

static void push_shadow(const struct push *push, const uint32_t *words, struct shadow *shadow) {
    const double cell = ldexp(1, push->cell_bits), per_cell = ldexp(1, -push->cell_bits);
    const size_t n = (size_t)1 << push->grid_bits;
    const double lows[3] = {0, 0, shadow->home}, widths[3] = {0x1p32, 0x1p32, cell * (1 << WINDOW_BITS)};
    double part[3];
    size_t ends[3][2];
    for (int axis = 0; axis < 3; axis++) {
        const size_t in = (size_t)(shadow->at[axis] * per_cell);
        part[axis] = (int)((shadow->at[axis] * per_cell - (double)in) * ONE);
        ends[axis][0] = in < n ? in : in - n;
        ends[axis][1] = ends[axis][0] + 1 < n ? ends[axis][0] + 1 : 0;
    }
    shadow->energy = 0;
    for (size_t axis = 0; axis < 3; axis++) {
        const double pull = field_between(push, words, ends, part, axis) * shadow->charge;
        shadow->velocity[axis] =
            wrap(shadow->velocity[axis] + floor(pull / ONE / ONE / ONE), -cell / 2, cell);
        shadow->at[axis] = wrap(shadow->at[axis] + shadow->velocity[axis], lows[axis], widths[axis]);
        shadow->energy += shadow->velocity[axis] * shadow->velocity[axis];
    }
}

/* Follow one particle alone through all iterations. */
static double particle_deviation(const struct push *push, const uint32_t *words, size_t index,
                                 int iterations) {
    uint32_t own[PARTICLE_WORDS];
    for (size_t i = 0; i < PARTICLE_WORDS; i++)
        own[i] = generator_word(push->generator, STREAM_PARTICLES, index * PARTICLE_WORDS + i);
    struct shadow shadow = {.charge = charge_of(own[3]),
                            .home = ldexp((double)plane_of(push, index / UNIT), push->cell_bits)};
    for (int axis = 0; axis < 3; axis++) {
        shadow.at[axis] = own[axis];
        shadow.velocity[axis] = speed_of(push, own[4 + axis]);
    }
    shadow.at[2] = fmod(shadow.at[2], ldexp(1, push->cell_bits + WINDOW_BITS)) + shadow.home;
    for (int iteration = 0; iteration < iterations; iteration++)
        push_shadow(push, words, &shadow);
    const struct particle *got = &push->particles[index];
    double worst = codelet_worse(0, got->energy, floor(shadow.energy / (1 << 24)));
    worst = codelet_worse(worst, got->place[0], shadow.at[0]);
    worst = codelet_worse(worst, got->place[1], shadow.at[1]);
    return codelet_worse(worst, got->place[2], shadow.at[2] - shadow.home);
}

static double push_deviation(const void *state, int iterations) {
    const struct push *push = state;
    uint32_t *words = field_words(push);
    double worst = words ? 0 : DEVIATION_UNKNOWN;
    for (size_t i = 0; i < push->units * UNIT && words; i++)
        worst = fmax(worst, particle_deviation(push, words, i, iterations));
    free(words);
    return worst;
}

const struct codelet particle_push = {
    .name = "particle-push",
    .family = "particles",
    .summary =
        "Streams particles, reading and writing each, and gathers a field from a grid that all threads "
        "read.",
    .iterations = 6,
    .tolerance = 0,
    CODELET_FUNCTIONS(push),
};
