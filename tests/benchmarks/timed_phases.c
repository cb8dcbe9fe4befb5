/* timed_phases.c: two long phases that want one array on different nodes: in one all threads stream their own
 * parts, in the other one thread follows a chain through all of it. Prints the seconds of both together.
 * usage: timed_phases KILOBYTES ROUNDS PASSES WALKS, PASSES and WALKS in each phase */
#define _GNU_SOURCE
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct line {
    uint64_t next, rest[7];
};

static struct line *array;
static uint64_t lines, at, sum;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stream(void) {
#pragma omp parallel for schedule(static)
    for (uint64_t n = 0; n < lines; n++)
        array[n].rest[0] += n;
}

static void walk(void) {
#pragma omp parallel
    if (omp_get_thread_num() == 0)
        for (uint64_t n = 0; n < lines; n++)
            at = array[at].next;
}

int main(int count, char **words) {
    if (count != 5)
        return 2;
    lines = strtoul(words[1], NULL, 10) * 1024 / sizeof *array;
    array = aligned_alloc(4096, lines * sizeof *array);
    if (!array)
        return 2;
        /* A step that shares no factor with the number of lines, a power of two, visits them all. */
#pragma omp parallel for schedule(static)
    for (uint64_t n = 0; n < lines; n++)
        array[n] = (struct line){.next = (n + 2654435761u) % lines};
    const double began = seconds();
    for (int round = 0; round < atoi(words[2]); round++) {
        for (int pass = 0; pass < atoi(words[3]); pass++)
            stream();
        for (int pass = 0; pass < atoi(words[4]); pass++)
            walk();
    }
    printf("%.6f\n", seconds() - began);
    for (uint64_t n = 0; n < lines; n++)
        sum += array[n].rest[0];
    fprintf(stderr, "%lu %lu\n", (unsigned long)sum, (unsigned long)at);
    free(array);
}
