/* twisted.c: threads that change data between two phases, and say so.
 *
 *     gcc -O2 -fopenmp -I"$(numapredict --include)" -o twisted twisted.c
 *     numapredict run ./twisted [MILLIONS_OF_NUMBERS [STEPS]]
 *
 * In the first phase thread i works on part i of three vectors, and first touch puts each part on its
 * thread's node; in the second it works on part i + 1 (Twisted-STREAM of the ForestGOMP paper, sec. 5.4). The
 * program says which part each thread will have: under `numapredict run` threads then go where their parts
 * are. Without it, ./twisted prints the same.
 */
#include <numapredict.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

struct vectors {
    double *a, *b, *c;
    long numbers; /* of a part */
};

static void triad(const struct vectors *v, int part) {
    for (long i = part * v->numbers; i < (part + 1) * v->numbers; i++)
        v->a[i] = v->b[i] + 0.5 * v->c[i];
}

static void phase(const struct vectors *v, int steps, int twist) {
    for (int step = 0; step < steps; step++) {
#pragma omp parallel
        triad(v, (omp_get_thread_num() + twist) % omp_get_num_threads());
    }
}

/* Part i + 1 of a vector is thread i's from now on, and the first one the last thread's. */
static void attach(double *vector, const struct vectors *v) {
    const size_t bytes = (size_t)v->numbers * sizeof *vector;
#pragma omp parallel
    {
        const int part = (omp_get_thread_num() + 1) % omp_get_num_threads();
        (void)numapredict_attach(vector + part * v->numbers, bytes);
    }
}

int main(int count, char *word[]) {
    const long millions = count > 1 ? atol(word[1]) : 8;
    const int steps = count > 2 ? atoi(word[2]) : 20, parts = omp_get_max_threads();
    if (millions < 1 || steps < 1) {
        (void)fprintf(stderr, "usage: twisted [MILLIONS_OF_NUMBERS [STEPS]], at least 1 each\n");
        return 2;
    }
    struct vectors v = {.numbers = millions * 1000000 / parts};
    const size_t bytes = (size_t)(v.numbers * parts) * sizeof(double);
    v.a = malloc(bytes);
    v.b = malloc(bytes);
    v.c = malloc(bytes);
    if (!v.a || !v.b || !v.c)
        return 1;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < v.numbers * parts; i++) {
        v.a[i] = 0;
        v.b[i] = (double)(i % 7);
        v.c[i] = (double)(i % 5);
    }
    phase(&v, steps, 0);
    attach(v.a, &v);
    attach(v.b, &v);
    attach(v.c, &v);
    (void)numapredict_team_work(steps); /* passes over them */
    phase(&v, steps, 1);
    double sum = 0;
    for (long i = 0; i < v.numbers; i++)
        sum += v.a[i];
    printf("twisted steps=%d sum=%.1f\n", steps, sum);
    free(v.a);
    free(v.b);
    free(v.c);
    return 0;
}
