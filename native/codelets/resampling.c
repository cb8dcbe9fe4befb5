/* resampling.c: a particle filter, which weighs guesses by an observation and draws them anew by weight.
 *
 * Modelled on Rodinia's particlefilter. An iteration has four phases, divided by barriers. First each thread
 * streams its share of the particles, moves each, and weighs it by a few pixels of a frame that all threads
 * read. One thread then adds up the sums of the units, and all write the cumulative weights of their shares.
 * Last, each new particle searches the cumulative array for its place, by halving, and copies the particle
 * found there. That array was written by all threads a moment ago. Places found rise with the new particle's
 * number, and drift off the thread's own share only as far as the weights are uneven. All weights are
 * integers. The two arrays of particles change roles, so both are read and written.
 */
#include "codelet.h"

#include <stdlib.h>

enum { UNIT = 1024, HOMES = 64, PIXELS = 9, PIXEL_BITS = 8, FIRST_NOISE = 16 };
enum { STREAM_FRAME = 1, STREAM_HOMES = 2, STREAM_OFFSETS = 3 };

/* The pixels that are looked at around a particle. */
static const uint32_t around_x[PIXELS] = {5, 3, 7, 0, 5, 10, 3, 7, 5};
static const uint32_t around_y[PIXELS] = {0, 2, 2, 5, 5, 5, 8, 8, 10};

struct guess {
    uint32_t x, y; /* on the frame, which repeats itself in both directions */
    int32_t speed_x, speed_y;
};

struct filter {
    size_t units;
    uint32_t side; /* of the square frame, in pixels: a power of two */
    uint8_t *frame;
    struct guess *guesses, *chosen; /* the current ones, and those to be written next */
    uint32_t *weights;
    uint64_t *cumulative; /* sum of the weights up to and with this one */
    uint64_t *unit_sums;  /* of the weights, and then of those in all units before */
    const struct generator *generator;
};

static size_t units_of(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {32, 320, 1792, 8000};
    return units[size];
}

static uint32_t side_of(enum codelet_size size) {
    static const uint32_t sides[SIZE_COUNT] = {128, 512, 2048, 4096};
    return sides[size];
}

static size_t filter_bytes(enum codelet_size size) {
    const size_t per_guess = 2 * sizeof(struct guess) + sizeof(uint32_t) + sizeof(uint64_t);
    return (size_t)side_of(size) * side_of(size) + units_of(size) * (UNIT * per_guess + sizeof(uint64_t));
}

static void filter_destroy(void *state) {
    struct filter *filter = state;
    codelet_free(filter->frame);
    codelet_free(filter->guesses);
    codelet_free(filter->chosen);
    codelet_free(filter->weights);
    codelet_free(filter->cumulative);
    codelet_free(filter->unit_sums);
    free(filter);
}

static uint8_t pixel_of(uint32_t word) { return (uint8_t)(word >> (32 - PIXEL_BITS)); }

/* The guesses of a unit start near 16 homes. */
static struct guess first_guess(const struct filter *filter, size_t index) {
    const uint32_t word = generator_word(filter->generator, STREAM_HOMES, index / HOMES);
    return (struct guess){.x = word & (filter->side - 1), .y = word >> 16 & (filter->side - 1)};
}

static void filter_fill(void *state, size_t unit) {
    struct filter *filter = state;
    for (size_t i = unit * UNIT; i < (unit + 1) * UNIT; i++) {
        filter->guesses[i] = first_guess(filter, i);
        filter->chosen[i] = (struct guess){0, 0, 0, 0};
        filter->weights[i] = 0;
        filter->cumulative[i] = 0;
    }
    filter->unit_sums[unit] = 0;
    /* The frame is distributed over the units. */
    const size_t blocks = (size_t)filter->side * filter->side / GENERATOR_BLOCK;
    for (size_t block = unit * blocks / filter->units; block < (unit + 1) * blocks / filter->units; block++) {
        uint32_t words[GENERATOR_BLOCK];
        generator_fill_words(filter->generator, STREAM_FRAME, block, words, GENERATOR_BLOCK);
        for (size_t i = 0; i < GENERATOR_BLOCK; i++)
            filter->frame[block * GENERATOR_BLOCK + i] = pixel_of(words[i]);
    }
}

static void *filter_create(const struct codelet_setup *setup) {
    struct filter *filter = calloc(1, sizeof *filter);
    if (!filter)
        return NULL;
    filter->units = units_of(setup->size);
    filter->side = side_of(setup->size);
    filter->generator = setup->generator;
    const size_t count = filter->units * UNIT;
    filter->frame = codelet_allocate((size_t)filter->side * filter->side);
    filter->guesses = codelet_allocate(count * sizeof(struct guess));
    filter->chosen = codelet_allocate(count * sizeof(struct guess));
    filter->weights = codelet_allocate(count * sizeof(uint32_t));
    filter->cumulative = codelet_allocate(count * sizeof(uint64_t));
    filter->unit_sums = codelet_allocate(filter->units * sizeof(uint64_t));
    if (!filter->frame || !filter->guesses || !filter->chosen || !filter->weights || !filter->cumulative ||
        !filter->unit_sums) {
        filter_destroy(filter);
        return NULL;
    }
    codelet_initialise(setup->init, filter->units, filter_fill, filter);
    return filter;
}

static uint32_t noise_stream(int iteration) { return FIRST_NOISE + (uint32_t)iteration; }

/* Speeds lose a quarter and gain -64 to 63 pixels, so they stay within 256. */
static inline struct guess move(struct guess guess, uint32_t noise) {
    guess.speed_x += (int32_t)(noise & 127) - 64 - guess.speed_x / 4;
    guess.speed_y += (int32_t)(noise >> 16 & 127) - 64 - guess.speed_y / 4;
    guess.x += (uint32_t)guess.speed_x;
    guess.y += (uint32_t)guess.speed_y;
    return guess;
}

static inline uint32_t weigh(const struct filter *filter, struct guess guess) {
    const uint32_t mask = filter->side - 1;
    uint32_t bright = 0;
    for (int i = 0; i < PIXELS; i++) {
        const size_t row = (guess.y + around_y[i]) & mask, column = (guess.x + around_x[i]) & mask;
        bright += filter->frame[row * filter->side + column];
    }
    return 1 + (bright * bright >> PIXEL_BITS);
}

static void observe(const struct filter *filter, size_t unit, int iteration) {
    uint32_t noise[UNIT];
    uint64_t sum = 0;
    generator_fill_words(filter->generator, noise_stream(iteration), unit * (UNIT / GENERATOR_BLOCK), noise,
                         UNIT);
    for (size_t i = 0; i < UNIT; i++) {
        const size_t index = unit * UNIT + i;
        filter->guesses[index] = move(filter->guesses[index], noise[i]);
        filter->weights[index] = weigh(filter, filter->guesses[index]);
        sum += filter->weights[index];
    }
    filter->unit_sums[unit] = sum;
}

/* Replace each unit's sum by that of the units before it; return the sum of all. */
static uint64_t add_up(const struct filter *filter) {
    uint64_t before = 0;
    for (size_t unit = 0; unit < filter->units; unit++) {
        const uint64_t sum = filter->unit_sums[unit];
        filter->unit_sums[unit] = before;
        before += sum;
    }
    return before;
}

static void accumulate(const struct filter *filter, size_t unit) {
    uint64_t sum = filter->unit_sums[unit];
    for (size_t i = unit * UNIT; i < (unit + 1) * UNIT; i++) {
        sum += filter->weights[i];
        filter->cumulative[i] = sum;
    }
}

/* Where the evenly spaced marks of an iteration begin. */
static uint64_t offset_of(const struct filter *filter, uint64_t total, int iteration) {
    return generator_hash(filter->generator, STREAM_OFFSETS, (uint64_t)iteration) % total;
}

/* The first particle whose cumulative weight exceeds a mark. */
static inline size_t find(const uint64_t *cumulative, size_t count, uint64_t mark) {
    size_t first = 0;
    while (count > 0) {
        const size_t half = count / 2;
        if (cumulative[first + half] <= mark) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

static void resample(const struct filter *filter, size_t unit, uint64_t total, uint64_t offset) {
    const size_t count = filter->units * UNIT;
    for (size_t i = unit * UNIT; i < (unit + 1) * UNIT; i++) {
        const uint64_t mark = (i * total + offset) / count;
        filter->chosen[i] = filter->guesses[find(filter->cumulative, count, mark)];
    }
}

static void filter_iterate(void *state, int iteration) {
    struct filter *filter = state;
    uint64_t total = 0, offset = 0;
#pragma omp parallel
    {
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < filter->units; unit++)
            observe(filter, unit, iteration);
#pragma omp single
        {
            total = add_up(filter);
            offset = offset_of(filter, total, iteration);
        }
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < filter->units; unit++)
            accumulate(filter, unit);
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < filter->units; unit++)
            resample(filter, unit, total, offset);
    }
    struct guess *moved = filter->guesses;
    filter->guesses = filter->chosen;
    filter->chosen = moved;
}

static double filter_checksum(const void *state) {
    const struct filter *filter = state;
    double sum = 0; /* of integers: exact */
    for (size_t i = 0; i < filter->units * UNIT; i++)
        sum += (double)(filter->guesses[i].x % 65536) + 3.0 * (filter->guesses[i].y % 65536) +
               5.0 * filter->guesses[i].speed_x + 7.0 * filter->guesses[i].speed_y;
    return sum;
}

/* What the check keeps of the same particles; the frame is made anew. */
struct replay {
    struct guess *guesses, *chosen;
    uint32_t *weights;
    uint8_t *frame;
};

/* Move and weigh all; return the weights' sum. The brightness is squared in two steps. */
static uint64_t replay_weights(const struct filter *filter, const struct replay *replay, int iteration) {
    const uint32_t side = filter->side;
    uint64_t total = 0;
    for (size_t i = 0; i < filter->units * UNIT; i++) {
        struct guess *guess = &replay->guesses[i];
        const int32_t word =
            (int32_t)(generator_word(filter->generator, noise_stream(iteration), i) & 0x7f007f);
        guess->speed_x = guess->speed_x - guess->speed_x / 4 + word % 128 - 64;
        guess->speed_y = guess->speed_y - guess->speed_y / 4 + word / 65536 - 64;
        guess->x = (uint32_t)((int64_t)guess->x + guess->speed_x);
        guess->y = (uint32_t)((int64_t)guess->y + guess->speed_y);
        uint64_t bright = 0;
        for (int pixel = 0; pixel < PIXELS; pixel++) {
            const size_t x = guess->x % side + around_x[pixel], y = guess->y % side + around_y[pixel];
            bright += replay->frame[(y < side ? y : y - side) * side + (x < side ? x : x - side)];
        }
        replay->weights[i] = (uint32_t)(bright * bright / 256 + 1);
        total += replay->weights[i];
    }
    return total;
}

/* Without a search: how far the marks below a particle's cumulative weight reach is a division. */
static void replay_choice(const struct filter *filter, const struct replay *replay, uint64_t total,
                          uint64_t offset) {
    const uint64_t count = filter->units * UNIT;
    uint64_t reached = 0, sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += replay->weights[i];
        const uint64_t end = sum * count > offset ? (sum * count - offset + total - 1) / total : 0;
        for (; reached < end && reached < count; reached++)
            replay->chosen[reached] = replay->guesses[i];
    }
}

static double compare(const struct filter *filter, const struct guess *expected) {
    double worst = 0;
    for (size_t i = 0; i < filter->units * UNIT; i++) {
        worst = codelet_worse(worst, filter->guesses[i].x, expected[i].x);
        worst = codelet_worse(worst, filter->guesses[i].y, expected[i].y);
        worst = codelet_worse(worst, filter->guesses[i].speed_x, expected[i].speed_x);
        worst = codelet_worse(worst, filter->guesses[i].speed_y, expected[i].speed_y);
    }
    return worst;
}

static double replay_deviation(const struct filter *filter, struct replay *replay, int iterations) {
    for (size_t i = 0; i < filter->units * UNIT; i++)
        replay->guesses[i] = first_guess(filter, i);
    for (size_t i = 0; i < (size_t)filter->side * filter->side; i++)
        replay->frame[i] = pixel_of(generator_word(filter->generator, STREAM_FRAME, i));
    for (int iteration = 0; iteration < iterations; iteration++) {
        const uint64_t total = replay_weights(filter, replay, iteration);
        replay_choice(filter, replay, total, offset_of(filter, total, iteration));
        struct guess *moved = replay->guesses;
        replay->guesses = replay->chosen;
        replay->chosen = moved;
    }
    return compare(filter, replay->guesses);
}

static double filter_deviation(const void *state, int iterations) {
    const struct filter *filter = state;
    const size_t count = filter->units * UNIT;
    struct replay replay = {.guesses = malloc(count * sizeof(struct guess)),
                            .chosen = malloc(count * sizeof(struct guess)),
                            .weights = malloc(count * sizeof(uint32_t)),
                            .frame = malloc((size_t)filter->side * filter->side)};
    double worst = DEVIATION_UNKNOWN;
    if (replay.guesses && replay.chosen && replay.weights && replay.frame)
        worst = replay_deviation(filter, &replay, iterations);
    free(replay.guesses);
    free(replay.chosen);
    free(replay.weights);
    free(replay.frame);
    return worst;
}

const struct codelet particle_filter = {
    .name = "particle-filter",
    .family = "particles",
    .summary =
        "Weighs particles by a shared frame, accumulates the weights, and searches and copies by them.",
    .iterations = 6,
    .tolerance = 0,
    CODELET_FUNCTIONS(filter),
};
