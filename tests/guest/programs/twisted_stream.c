/* twisted_stream.c: Twisted-STREAM (ForestGOMP, sec. 5.4): after a first phase each thread works on what the
 * thread half a team further had, but for the first HOME of three vectors. MODE: `none`, `next` (all vectors
 * move on next touch) or `hints` (each thread attaches its parts, and says how many steps come).
 * Prints the milliseconds of the second phase, the node of each thread and, of each vector, of the middle of
 * each part. Arguments: MODE HOME STEPS KILOBYTES_OF_A_PART. */
#define _GNU_SOURCE
#include <numaif.h>
#include <numapredict.h>
#include <omp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { VECTORS = 3, MOST_THREADS = 64 };

static double *vector[VECTORS];
static long numbers; /* of a part */
static unsigned node[MOST_THREADS];

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double *part(int of, int home, int twist) {
    const int thread = omp_get_thread_num(), team = omp_get_num_threads();
    return vector[of] + (of < home ? thread : (thread + twist) % team) * numbers;
}

static void work(int steps, int home, int twist) {
    for (int step = 0; step < steps; step++) {
#pragma omp parallel
        {
            double *a = part(0, home, twist), *b = part(1, home, twist), *c = part(2, home, twist);
            unsigned cpu;
            getcpu(&cpu, &node[omp_get_thread_num()]);
            for (long i = 0; i < numbers; i++)
                a[i] = b[i] + 0.5 * c[i];
        }
    }
}

static int node_of(const void *address) {
    void *page = (void *)((uintptr_t)address & ~(uintptr_t)4095);
    int found = -1;
    move_pages(0, 1, &page, NULL, &found, 0);
    return found;
}

int main(int count, char *word[]) {
    if (count < 5)
        return 2;
    const int home = atoi(word[2]), steps = atoi(word[3]), team = omp_get_max_threads(), twist = team / 2;
    numbers = atol(word[4]) * 1024 / (long)sizeof(double);
    const size_t bytes = (size_t)(numbers * team) * sizeof(double);
    for (int v = 0; v < VECTORS; v++)
        vector[v] = aligned_alloc(4096, bytes);
#pragma omp parallel
    for (int v = 0; v < VECTORS; v++)
        for (long i = 0; i < numbers; i++)
            part(v, VECTORS, 0)[i] = (double)i;
    work(1, VECTORS, 0);
    if (strcmp(word[1], "hints") == 0) {
#pragma omp parallel
        for (int v = 0; v < VECTORS; v++)
            numapredict_attach(part(v, home, twist), (size_t)numbers * sizeof(double));
        numapredict_team_work(steps);
    }
    for (int v = 0; v < VECTORS && strcmp(word[1], "next") == 0; v++)
        numapredict_move_on_next_touch(vector[v], bytes);
    const double began = now_ms();
    work(steps, home, twist);
    printf("%.1f ", now_ms() - began);
    for (int t = 0; t < team; t++)
        printf("%u", node[t]);
    for (int v = 0; v < VECTORS; v++) {
        printf(" ");
        for (int t = 0; t < team; t++)
            printf("%d", node_of(vector[v] + t * numbers + numbers / 2));
    }
    printf("\n");
    return 0;
}
