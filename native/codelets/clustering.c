/* clustering.c: assigning points to the nearest of a few centroids.
 *
 * kmeans-assignment is modelled on Rodinia's kmeans: each thread streams its share of the points, compares
 * each with a few centroids, which stay in its private cache, and adds it to sums of its own, which are
 * merged at the end.
 */
#include "codelet.h"

#include <stdlib.h>
#include <string.h>

enum { FEATURES = 16, CLUSTERS = 8, KMEANS_UNIT = 512, STREAM_FEATURES = 1, STREAM_SEEDS = 2 };

struct tally {
    double sums[CLUSTERS][FEATURES]; /* exact in any order: see struct generator */
    long counts[CLUSTERS];
};

struct kmeans {
    size_t points;
    float *features;                                               /* points x FEATURES */
    int32_t *nearest;                                              /* the cluster of each point */
    float centroids[FEATURES][CLUSTERS], used[FEATURES][CLUSTERS]; /* now, and in the latest assignment */
    const struct generator *generator;
};

static size_t kmeans_points(enum codelet_size size) {
    static const size_t units[SIZE_COUNT] = {48, 480, 1440, 10560};
    return units[size] * KMEANS_UNIT;
}

static size_t kmeans_bytes(enum codelet_size size) {
    return kmeans_points(size) * (FEATURES * sizeof(float) + sizeof(int32_t));
}

static void kmeans_destroy(void *state) {
    struct kmeans *kmeans = state;
    codelet_free(kmeans->features);
    codelet_free(kmeans->nearest);
    free(kmeans);
}

/* Which feature a point is large in: this gives the noise some clusters to find. */
static size_t kmeans_bias(size_t point) { return point * 5 / 3 % CLUSTERS; }

static void kmeans_fill(void *state, size_t unit) {
    struct kmeans *kmeans = state;
    const size_t first = unit * KMEANS_UNIT;
    generator_fill_quanta(kmeans->generator, STREAM_FEATURES, first * FEATURES / GENERATOR_BLOCK,
                          kmeans->features + first * FEATURES, (size_t)KMEANS_UNIT * FEATURES);
    for (size_t point = first; point < first + KMEANS_UNIT; point++) {
        kmeans->features[point * FEATURES + kmeans_bias(point)] += 2;
        kmeans->nearest[point] = -1;
    }
}

static float kmeans_feature(const struct kmeans *kmeans, size_t point, size_t feature) {
    return generator_quantum(kmeans->generator, STREAM_FEATURES, point * FEATURES + feature) +
           (feature == kmeans_bias(point) ? 2.0f : 0.0f);
}

static void *kmeans_create(const struct codelet_setup *setup) {
    struct kmeans *kmeans = calloc(1, sizeof *kmeans);
    if (!kmeans)
        return NULL;
    const size_t points = kmeans->points = kmeans_points(setup->size);
    kmeans->generator = setup->generator;
    kmeans->features = codelet_allocate(points * FEATURES * sizeof(float));
    kmeans->nearest = codelet_allocate(points * sizeof(int32_t));
    if (!kmeans->features || !kmeans->nearest) {
        kmeans_destroy(kmeans);
        return NULL;
    }
    for (size_t cluster = 0; cluster < CLUSTERS; cluster++)
        for (size_t feature = 0; feature < FEATURES; feature++)
            kmeans->centroids[feature][cluster] = kmeans_feature(
                kmeans, generator_hash(setup->generator, STREAM_SEEDS, cluster) % points, feature);
    codelet_initialise(setup->init, points / KMEANS_UNIT, kmeans_fill, kmeans);
    return kmeans;
}

static int nearest_of(const float *restrict features, const float centroids[restrict FEATURES][CLUSTERS]) {
    float distances[CLUSTERS] = {0};
    for (int feature = 0; feature < FEATURES; feature++)
        for (int cluster = 0; cluster < CLUSTERS; cluster++) {
            const float difference = features[feature] - centroids[feature][cluster];
            distances[cluster] += difference * difference;
        }
    int nearest = 0;
    for (int cluster = 1; cluster < CLUSTERS; cluster++)
        if (distances[cluster] < distances[nearest])
            nearest = cluster;
    return nearest;
}

static void add_point(struct tally *tally, const float *features, int cluster) {
    for (int feature = 0; feature < FEATURES; feature++)
        tally->sums[cluster][feature] += (double)features[feature];
    tally->counts[cluster]++;
}

static void kmeans_move_centroids(struct kmeans *kmeans, const struct tally *tally) {
    memcpy(kmeans->used, kmeans->centroids, sizeof kmeans->used);
    for (int cluster = 0; cluster < CLUSTERS; cluster++)
        for (int feature = 0; feature < FEATURES && tally->counts[cluster]; feature++)
            kmeans->centroids[feature][cluster] =
                (float)(tally->sums[cluster][feature] / (double)tally->counts[cluster]);
}

static void kmeans_iterate(void *state, int iteration) {
    struct kmeans *kmeans = state;
    struct tally all = {0};
    (void)iteration;
#pragma omp parallel
    {
        struct tally own = {0};
#pragma omp for schedule(monotonic : runtime) nowait
        for (size_t unit = 0; unit < kmeans->points / KMEANS_UNIT; unit++)
            for (size_t point = unit * KMEANS_UNIT; point < (unit + 1) * KMEANS_UNIT; point++) {
                const float *features = kmeans->features + point * FEATURES;
                const int nearest = nearest_of(features, (const float(*)[CLUSTERS])kmeans->centroids);
                kmeans->nearest[point] = nearest;
                add_point(&own, features, nearest);
            }
#pragma omp critical(kmeans_merge)
        for (int cluster = 0; cluster < CLUSTERS; cluster++) {
            for (int feature = 0; feature < FEATURES; feature++)
                all.sums[cluster][feature] += own.sums[cluster][feature];
            all.counts[cluster] += own.counts[cluster];
        }
    }
    kmeans_move_centroids(kmeans, &all);
}

static double kmeans_checksum(const void *state) {
    const struct kmeans *kmeans = state;
    double sum = 0;
    for (size_t point = 0; point < kmeans->points; point++)
        sum += kmeans->nearest[point];
    for (size_t feature = 0; feature < FEATURES; feature++)
        for (size_t cluster = 0; cluster < CLUSTERS; cluster++)
            sum += (double)kmeans->centroids[feature][cluster];
    return sum;
}

/* No centroid may be nearer than the assigned one (in double, by the definition), and each centroid must be
 * the mean of its points. Both are checked on points from the generator. */
static double kmeans_deviation(const void *state, int iterations) {
    const struct kmeans *kmeans = state;
    double sums[CLUSTERS][FEATURES] = {{0}}, worst = 0;
    long counts[CLUSTERS] = {0};
    (void)iterations;
    for (size_t point = 0; point < kmeans->points; point++) {
        const int32_t own = kmeans->nearest[point];
        if (own < 0 || own >= CLUSTERS)
            return INFINITY;
        double distances[CLUSTERS] = {0}, least = INFINITY;
        for (size_t feature = 0; feature < FEATURES; feature++) {
            const double value = (double)kmeans_feature(kmeans, point, feature);
            sums[own][feature] += value;
            for (int cluster = 0; cluster < CLUSTERS; cluster++)
                distances[cluster] += pow(value - (double)kmeans->used[feature][cluster], 2);
        }
        for (int cluster = 0; cluster < CLUSTERS; cluster++)
            least = fmin(least, distances[cluster]);
        worst = codelet_worse(worst, distances[own], least);
        counts[own]++;
    }
    for (int cluster = 0; cluster < CLUSTERS; cluster++)
        for (size_t feature = 0; feature < FEATURES && counts[cluster]; feature++)
            worst = codelet_worse(worst, (double)kmeans->centroids[feature][cluster],
                                  sums[cluster][feature] / (double)counts[cluster]);
    return worst;
}

const struct codelet kmeans_assignment = {
    .name = "kmeans-assignment",
    .family = "clustering",
    .summary = "Streams points once an iteration and compares each with a few centroids that stay in private "
               "caches.",
    .iterations = 10,
    .tolerance = 1e-5, /* single precision decides between nearly equal distances */
    CODELET_FUNCTIONS(kmeans),
};
