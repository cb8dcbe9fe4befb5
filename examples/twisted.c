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
    long numbers;
};

static long first(const struct vectors *v, int part, int parts) { return v->numbers * part / parts; }

/* Each thread has the part that is `twist` after its own. */
static void phase(const struct vectors *v, int steps, int twist) {
    for (int step = 0; step < steps; step++) {
#pragma omp parallel
        {
            const int parts = omp_get_num_threads(), part = (omp_get_thread_num() + twist) % parts;
            for (long i = first(v, part, parts); i < first(v, part + 1, parts); i++)
                v->a[i] = v->b[i] + 0.5 * v->c[i];
        }
    }
}

static void attach(const struct vectors *v) {
#pragma omp parallel
    {
        const int parts = omp_get_num_threads(), part = (omp_get_thread_num() + 1) % parts;
        const long from = first(v, part, parts);
        const size_t bytes = (size_t)(first(v, part + 1, parts) - from) * sizeof(double);
        (void)numapredict_attach(v->a + from, bytes);
        (void)numapredict_attach(v->b + from, bytes);
        (void)numapredict_attach(v->c + from, bytes);
    }
}

int main(int count, char *word[]) {
    const long millions = count > 1 ? atol(word[1]) : 8;
    const int steps = count > 2 ? atoi(word[2]) : 20;
    if (millions < 1 || steps < 1) {
        (void)fprintf(stderr, "usage: twisted [MILLIONS_OF_NUMBERS [STEPS]], at least 1 each\n");
        return 2;
    }
    struct vectors v = {.numbers = millions * 1000000};
    const size_t bytes = (size_t)v.numbers * sizeof(double);
    v.a = malloc(bytes);
    v.b = malloc(bytes);
    v.c = malloc(bytes);
    if (!v.a || !v.b || !v.c)
        return 1;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < v.numbers; i++) {
        v.a[i] = 0;
        v.b[i] = (double)(i % 7);
        v.c[i] = (double)(i % 5);
    }
    phase(&v, steps, 0);
    attach(&v);
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
