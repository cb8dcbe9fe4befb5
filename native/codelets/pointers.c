/* pointers.c: following pointers around random cycles.
 *
 * Modelled on the latency measurement of lmbench and its many successors, and on programs that walk linked
 * structures. One array of 64-byte nodes is cut into segments; the nodes of a segment form one random cycle.
 * Each thread walks the segments of its share, one after the other, by an eighth of their length an iteration
 * and on from where it stopped, so that a node comes up again only after everything else has. Each load needs
 * the one before: time is latency, and a mapping helps by distance, not by bandwidth. Segments, rather than
 * one cycle a thread, keep the result independent of the number of threads.
 */
#include "codelet.h"

#include <stdlib.h>

enum { PARTS = 8, STREAM_LINKS = 1 };

struct node {
    struct node *next;
    uint64_t payload;
    uint64_t padding[6]; /* a node fills a cache line */
};

struct walk {
    struct node *at;
    uint64_t sum;
    uint64_t padding[6]; /* threads must not share lines of walks */
};

struct chase {
    size_t segments, length;
    struct node *nodes;
    struct walk *walks;
    const struct generator *generator;
};

static size_t segments_of(enum codelet_size size) {
    static const size_t segments[SIZE_COUNT] = {32, 192, 384, 384};
    return segments[size];
}

static size_t length_of(enum codelet_size size) {
    static const size_t length[SIZE_COUNT] = {768, 1360, 4096, 15360};
    return length[size];
}

static size_t chase_bytes(enum codelet_size size) {
    return segments_of(size) * (length_of(size) * sizeof(struct node) + sizeof(struct walk));
}

static void chase_destroy(void *state) {
    struct chase *chase = state;
    codelet_free(chase->nodes);
    codelet_free(chase->walks);
    free(chase);
}

/* Sattolo's shuffle leaves one cycle through all nodes: swap each with a random earlier one, never with
 * itself. */
static void chase_fill(void *state, size_t segment) {
    struct chase *chase = state;
    struct node *nodes = chase->nodes + segment * chase->length;
    for (size_t i = 0; i < chase->length; i++)
        nodes[i] = (struct node){.next = nodes + i};
    for (size_t i = chase->length - 1; i > 0; i--) {
        const uint64_t hash = generator_hash(chase->generator, STREAM_LINKS, segment * chase->length + i);
        const size_t j = (hash >> 32) * i >> 32;
        struct node *next = nodes[i].next;
        nodes[i].next = nodes[j].next;
        nodes[j].next = next;
        nodes[i].payload = hash & 0xffff;
    }
    chase->walks[segment] = (struct walk){.at = nodes};
}

static void *chase_create(const struct codelet_setup *setup) {
    struct chase *chase = calloc(1, sizeof *chase);
    if (!chase)
        return NULL;
    chase->segments = segments_of(setup->size);
    chase->length = length_of(setup->size);
    chase->generator = setup->generator;
    chase->nodes = codelet_allocate(chase->segments * chase->length * sizeof(struct node));
    chase->walks = codelet_allocate(chase->segments * sizeof(struct walk));
    if (!chase->nodes || !chase->walks) {
        chase_destroy(chase);
        return NULL;
    }
    codelet_initialise(setup->init, chase->segments, chase_fill, chase);
    return chase;
}

static void chase_iterate(void *state, int iteration) {
    const struct chase *chase = state;
    const size_t steps = chase->length / PARTS;
    (void)iteration;
#pragma omp parallel
#pragma omp for schedule(monotonic : runtime)
    for (size_t segment = 0; segment < chase->segments; segment++) {
        struct walk walk = chase->walks[segment];
        for (size_t step = 0; step < steps; step++) {
            walk.sum += walk.at->payload;
            walk.at = walk.at->next;
        }
        chase->walks[segment] = walk;
    }
}

static double chase_checksum(const void *state) {
    const struct chase *chase = state;
    double sum = 0; /* of integers: exact */
    for (size_t segment = 0; segment < chase->segments; segment++)
        sum += (double)chase->walks[segment].sum;
    return sum;
}

/* Follow indices made anew from the generator; whole rounds are multiplied instead of walked. */
static double segment_deviation(const struct chase *chase, size_t segment, size_t steps, uint32_t *next) {
    const size_t length = chase->length;
    for (size_t i = 0; i < length; i++)
        next[i] = (uint32_t)i;
    for (size_t i = length - 1; i > 0; i--) {
        const uint64_t hash = generator_hash(chase->generator, STREAM_LINKS, segment * length + i);
        const size_t j = (hash >> 32) * i >> 32;
        const uint32_t moved = next[i];
        next[i] = next[j];
        next[j] = moved;
    }
    uint64_t round = 0, rest = 0;
    size_t at = 0, stop = 0;
    for (size_t step = 0; step < length; step++) {
        if (step == steps % length) {
            stop = at;
            rest = round;
        }
        if (at == 0 && step > 0)
            return INFINITY; /* the cycle closed too early */
        round += at ? generator_hash(chase->generator, STREAM_LINKS, segment * length + at) & 0xffff : 0;
        at = next[at];
    }
    const struct walk *walk = &chase->walks[segment];
    const double worst = codelet_worse(0, (double)walk->sum, (double)(steps / length * round + rest));
    return codelet_worse(worst, (double)(walk->at - chase->nodes), (double)(segment * length + stop));
}

static double chase_deviation(const void *state, int iterations) {
    const struct chase *chase = state;
    const size_t steps = chase->length / PARTS * (size_t)iterations;
    uint32_t *next = malloc(chase->length * sizeof *next);
    double worst = next ? 0 : DEVIATION_UNKNOWN;
    for (size_t segment = 0; segment < chase->segments && next; segment++)
        worst = fmax(worst, segment_deviation(chase, segment, steps, next));
    free(next);
    return worst;
}

const struct codelet pointer_chase = {
    .name = "pointer-chase",
    .family = "pointers",
    .summary =
        "Follows pointers around random cycles of cache lines, each thread its own: every load waits for the "
        "last.",
    .iterations = 16,
    .tolerance = 0,
    CODELET_FUNCTIONS(chase),
};
