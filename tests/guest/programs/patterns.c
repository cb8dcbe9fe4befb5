/* patterns.c: a few ways of using memory, small enough for a timed guest: what a model is learned from there.
 * usage: patterns stream|update|gather|chase|compute serial|parallel KILOBYTES ROUNDS */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 64 / sizeof(long), LARGE_PRIME = 1000003, COMPUTED = 40 };

static long stream(long *data, long longs) {
    long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long n = 0; n < longs; n += STEP)
        sum += data[n];
    return sum;
}

static long update(long *data, long longs) {
#pragma omp parallel for schedule(static)
    for (long n = 0; n < longs; n += STEP)
        data[n]++;
    return data[0];
}

/* Each line once, by any thread, in no order that a prefetcher knows. */
static long gather(long *data, long longs) {
    const long lines = longs / STEP;
    long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long n = 0; n < lines; n++)
        sum += data[n * LARGE_PRIME % lines * STEP];
    return sum;
}

/* A quarter of the lines, each found by the one before, in the thread's own share. */
static long chase(long *data, long longs) {
    long sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
        const long share = longs / STEP / omp_get_num_threads(), first = share * omp_get_thread_num();
        for (long n = 0, at = 0; n < share / 4; n++) {
            const long found = data[(first + at) * STEP];
            sum += found;
            at = (at + LARGE_PRIME + (found & 1)) % share;
        }
    }
    return sum;
}

static long compute(long *data, long longs) {
    long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long n = 0; n < longs; n += (long)STEP * STEP) {
        long value = data[n];
        for (int repeated = 0; repeated < COMPUTED; repeated++)
            value = value * LARGE_PRIME + repeated;
        sum += value & 1;
    }
    return sum;
}

static const struct {
    const char *name;
    long (*region)(long *, long);
} patterns[] = {
    {"stream", stream}, {"update", update}, {"gather", gather}, {"chase", chase}, {"compute", compute},
};

int main(int count, char **arguments) {
    long (*region)(long *, long) = NULL;
    for (size_t n = 0; count == 5 && n < sizeof patterns / sizeof *patterns; n++)
        if (strcmp(arguments[1], patterns[n].name) == 0)
            region = patterns[n].region;
    const long longs = region ? atol(arguments[3]) * 1024 / (long)sizeof(long) : 0;
    long *data = longs > 0 ? aligned_alloc(4096, (size_t)longs * sizeof *data) : NULL;
    if (!data)
        return 2;
    const int parallel = strcmp(arguments[2], "parallel") == 0, rounds = atoi(arguments[4]);
    long sum = 0;
#pragma omp parallel for schedule(static) if (parallel)
    for (long n = 0; n < longs; n += STEP)
        data[n] = n;
    const double began_s = omp_get_wtime();
    for (int round = 0; round < rounds; round++)
        sum += region(data, longs);
    printf("%.6f %ld\n", omp_get_wtime() - began_s, sum);
    free(data);
    return 0;
}
