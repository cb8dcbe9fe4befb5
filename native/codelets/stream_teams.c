/* stream_teams.c: streams whose work may be done by other threads than the nearest.
 *
 * Modelled on the three variants of STREAM by which ForestGOMP is measured (Broquedis et al., International
 * Journal of Parallel Programming 2010, sec. 5.3 to 5.5), here with the triad alone. Three arrays of n blocks
 * are streamed; a step on a block writes one array from the other two, x' = s * x - x'', and the arrays take
 * turns at being written. Nothing is used again within a step, and memory bandwidth bounds all three
 * codelets. They differ in which thread makes which block's steps.
 *
 * nested-stream opens an outer team, each of whose threads opens an inner team on a contiguous share of its
 * own; one step a block and an iteration. Inner teams are begun anew each time, so where their threads run
 * depends on the runtime and the binding: a thread meets its share's pages again only if both say so. There
 * are as many threads in all as a flat team has, in the squarest shape that divides them.
 *
 * twisted-stream makes four steps an iteration in one region: in the first each thread has its own share, in
 * the other three the one half the arrays away. Three quarters of the accesses are to pages that other
 * threads touch first, and no placement of pages is near in all four.
 *
 * imbalanced-stream gives the four quarters of the arrays 2, 2, 4 and 1 steps an iteration. With static
 * shares the threads of the third quarter work four times as long as those of the last, and that quarter's
 * pages carry four ninths of the traffic; the other schedules balance threads, but not the memory's load.
 */
#include "codelet.h"

#include <omp.h>
#include <stdlib.h>

enum { BLOCK = 4096, ARRAYS = 3, STREAM_OLDER = 1, STREAM_NEWER = 2 };

/* Below 2, so that (x, x'') goes round an ellipse and values neither grow nor fade. */
static const double SCALAR = 1.25;

/* An element's values x(0) and x(1) are from the generator. Value x(n) is in array n % ARRAYS. */
struct streams {
    size_t blocks;
    double *arrays[ARRAYS];
    const struct generator *generator;
};

static size_t blocks_of(enum codelet_size size) {
    static const size_t blocks[SIZE_COUNT] = {16, 160, 1024, 3840};
    return blocks[size];
}

static size_t streams_bytes(enum codelet_size size) {
    return ARRAYS * blocks_of(size) * BLOCK * sizeof(double);
}

static void streams_destroy(void *state) {
    struct streams *streams = state;
    for (size_t array = 0; array < ARRAYS; array++)
        codelet_free(streams->arrays[array]);
    free(streams);
}

static void streams_fill(void *state, size_t unit) {
    struct streams *streams = state;
    const size_t first = unit * BLOCK;
    generator_fill_reals(streams->generator, STREAM_OLDER, first / GENERATOR_BLOCK,
                         streams->arrays[0] + first, BLOCK);
    generator_fill_reals(streams->generator, STREAM_NEWER, first / GENERATOR_BLOCK,
                         streams->arrays[1] + first, BLOCK);
    for (size_t i = first; i < first + BLOCK; i++)
        streams->arrays[2][i] = 0;
}

static void *streams_create(const struct codelet_setup *setup) {
    struct streams *streams = calloc(1, sizeof *streams);
    if (!streams)
        return NULL;
    streams->blocks = blocks_of(setup->size);
    streams->generator = setup->generator;
    for (size_t array = 0; array < ARRAYS; array++) {
        streams->arrays[array] = codelet_allocate(streams->blocks * BLOCK * sizeof(double));
        if (!streams->arrays[array]) {
            streams_destroy(streams);
            return NULL;
        }
    }
    codelet_initialise(setup->init, streams->blocks, streams_fill, streams);
    return streams;
}

/* Compute x(step + 2) of a block's elements. */
static void make_step(const struct streams *streams, size_t block, size_t step) {
    const double *restrict older = streams->arrays[step % ARRAYS] + block * BLOCK;
    const double *restrict newer = streams->arrays[(step + 1) % ARRAYS] + block * BLOCK;
    double *restrict next = streams->arrays[(step + 2) % ARRAYS] + block * BLOCK;
    for (int i = 0; i < BLOCK; i++)
        next[i] = SCALAR * newer[i] - older[i];
}

static double streams_checksum(const void *state) {
    const struct streams *streams = state;
    double sum = 0;
    for (size_t array = 0; array < ARRAYS; array++)
        for (size_t i = 0; i < streams->blocks * BLOCK; i += 8)
            sum += (double)(array + 1) * streams->arrays[array][i];
    return sum;
}

/* The weight of x(1) in x(n), the sine that solves the recurrence; that of x(0) is the one of x(1) in
 * x(n - 1), negative. */
static double newer_weight(double n) {
    const double angle = acos(SCALAR / 2);
    return sin(n * angle) / sin(angle);
}

/* Compare all three values that each element of a block holds after so many steps, at least one. */
static double block_deviation(const struct streams *streams, size_t block, size_t steps, double worst) {
    for (size_t n = steps - 1; n <= steps + 1; n++) {
        const double newer = newer_weight((double)n), older = -newer_weight((double)n - 1);
        for (size_t i = block * BLOCK; i < (block + 1) * BLOCK; i++)
            worst = codelet_worse(worst, streams->arrays[n % ARRAYS][i],
                                  older * generator_real(streams->generator, STREAM_OLDER, i) +
                                      newer * generator_real(streams->generator, STREAM_NEWER, i));
    }
    return worst;
}

/* The same for all blocks, where all make the same number of steps an iteration. */
static double even_deviation(const struct streams *streams, size_t steps) {
    double worst = 0;
    for (size_t block = 0; block < streams->blocks; block++)
        worst = block_deviation(streams, block, steps, worst);
    return worst;
}

/* ---- nested-stream ---- */

/* The largest divisor of the number of threads that is at most its square root. */
static int outer_team_of(int threads) {
    int outer = 1;
    for (int divisor = 2; divisor * divisor <= threads; divisor++)
        if (threads % divisor == 0)
            outer = divisor;
    return outer;
}

/* The share of one team: a step for each of its blocks. */
static void step_by_inner_team(const struct streams *streams, size_t first, size_t end, int threads,
                               size_t step) {
#pragma omp parallel num_threads(threads)
#pragma omp for schedule(monotonic : runtime)
    for (size_t block = first; block < end; block++)
        make_step(streams, block, step);
}

static void nested_iterate(void *state, int iteration) {
    const struct streams *streams = state;
    const int threads = omp_get_max_threads(), outer = outer_team_of(threads), inner = threads / outer;
    const int levels = omp_get_max_active_levels();
    if (levels < 2)
        omp_set_max_active_levels(2);
#pragma omp parallel num_threads(outer)
    {
        const size_t team = (size_t)omp_get_thread_num(), teams = (size_t)omp_get_num_threads();
        step_by_inner_team(streams, team * streams->blocks / teams, (team + 1) * streams->blocks / teams,
                           inner, (size_t)iteration);
    }
    omp_set_max_active_levels(levels);
}

static double nested_deviation(const void *state, int iterations) {
    return even_deviation(state, (size_t)iterations);
}

const struct codelet nested_stream = {
    .name = "nested-stream",
    .family = "stream-teams",
    .summary =
        "Streams three arrays by nested teams: each outer thread opens an inner team on its own share.",
    .iterations = 80,
    .tolerance = 1e-10,
    .working_set_bytes = streams_bytes,
    .create = streams_create,
    .iterate = nested_iterate,
    .checksum = streams_checksum,
    .deviation = nested_deviation,
    .destroy = streams_destroy,
};

/* ---- twisted-stream ---- */

enum { OWN_STEPS = 1, FAR_STEPS = 3, TWISTED_STEPS = OWN_STEPS + FAR_STEPS };

static void twisted_iterate(void *state, int iteration) {
    const struct streams *streams = state;
#pragma omp parallel
    for (size_t step = 0; step < TWISTED_STEPS; step++) {
        const size_t shift = step < OWN_STEPS ? 0 : streams->blocks / 2;
#pragma omp for schedule(monotonic : runtime)
        for (size_t unit = 0; unit < streams->blocks; unit++)
            make_step(streams, (unit + shift) % streams->blocks, (size_t)iteration * TWISTED_STEPS + step);
    }
}

static double twisted_deviation(const void *state, int iterations) {
    return even_deviation(state, (size_t)iterations * TWISTED_STEPS);
}

const struct codelet twisted_stream = {
    .name = "twisted-stream",
    .family = "stream-teams",
    .summary =
        "Streams three arrays, once by a share of its own for each thread and three times by a far one.",
    .iterations = 25,
    .tolerance = 1e-10,
    .working_set_bytes = streams_bytes,
    .create = streams_create,
    .iterate = twisted_iterate,
    .checksum = streams_checksum,
    .deviation = twisted_deviation,
    .destroy = streams_destroy,
};

/* ---- imbalanced-stream ---- */

enum { QUARTERS = 4, MOST_STEPS = 4 };

static size_t steps_of(const struct streams *streams, size_t block) {
    static const size_t steps[QUARTERS] = {2, 2, MOST_STEPS, 1};
    return steps[block * QUARTERS / streams->blocks];
}

static void imbalanced_iterate(void *state, int iteration) {
    const struct streams *streams = state;
#pragma omp parallel
    for (size_t step = 0; step < MOST_STEPS; step++)
#pragma omp for schedule(monotonic : runtime)
        for (size_t block = 0; block < streams->blocks; block++) {
            const size_t steps = steps_of(streams, block);
            if (step < steps)
                make_step(streams, block, (size_t)iteration * steps + step);
        }
}

static double imbalanced_deviation(const void *state, int iterations) {
    const struct streams *streams = state;
    const size_t weights[] = {2, 2, 4, 1}, quarter = streams->blocks / QUARTERS; /* sizes divide by 4 */
    double worst = 0;
    for (size_t block = 0; block < streams->blocks; block++)
        worst = block_deviation(streams, block, weights[block / quarter] * (size_t)iterations, worst);
    return worst;
}

const struct codelet imbalanced_stream = {
    .name = "imbalanced-stream",
    .family = "stream-teams",
    .summary =
        "Streams three arrays whose quarters are processed 2, 2, 4 and 1 times, so that work is uneven.",
    .iterations = 40,
    .tolerance = 1e-10,
    .working_set_bytes = streams_bytes,
    .create = streams_create,
    .iterate = imbalanced_iterate,
    .checksum = streams_checksum,
    .deviation = imbalanced_deviation,
    .destroy = streams_destroy,
};
