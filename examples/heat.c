/* heat.c: heat spreading through a plate of uneven material, a program as users write them.
 *
 *     gcc -O2 -fopenmp -o heat heat.c
 *     ./heat [CELLS_A_SIDE [STEPS]]
 *
 * The plate is an array of pointers to rows, each allocated by itself and filled by the first thread, so that
 * all pages lie on one node of a NUMA machine: what many programs do without meaning to. Each step spreads
 * the heat, lets the plate's surface lose some of it, and measures how much is left, in three parallel
 * regions.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static double **allocate_rows(long n) {
    double **rows = malloc((size_t)n * sizeof *rows);
    for (long i = 0; rows && i < n; i++) {
        rows[i] = malloc((size_t)n * sizeof **rows);
        if (!rows[i])
            return NULL; /* the program ends: nothing to tidy up */
    }
    return rows;
}

/* A hot disc in the middle of a cold plate, whose conductivity varies in stripes. */
static void fill(double **heat, double **next, double **conductivity, long n) {
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            const long y = 2 * i - n, x = 2 * j - n;
            heat[i][j] = next[i][j] = 4 * (x * x + y * y) < n * n ? 100.0 : 20.0;
            conductivity[i][j] = (i / 64 + j / 64) % 2 ? 0.2 : 0.1;
        }
}

static void spread(double **heat, double **next, double **conductivity, long n) {
#pragma omp parallel for
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
            next[i][j] = heat[i][j] + conductivity[i][j] * (heat[i - 1][j] + heat[i + 1][j] + heat[i][j - 1] +
                                                            heat[i][j + 1] - 4 * heat[i][j]);
}

static void cool(double **heat, double air, long n) {
#pragma omp parallel for
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
            heat[i][j] -= 0.001 * (heat[i][j] - air);
}

static double mean(double **heat, long n) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            sum += heat[i][j];
    return sum / ((double)n * (double)n);
}

int main(int argc, char **argv) {
    const long n = argc > 1 ? atol(argv[1]) : 2048;
    const long steps = argc > 2 ? atol(argv[2]) : 50;
    if (n < 3 || n > 30000 || steps < 1) {
        fprintf(stderr, "usage: heat [CELLS_A_SIDE (3 to 30000) [STEPS (from 1)]]\n");
        return 2;
    }
    const double start_s = omp_get_wtime();
    double **heat = allocate_rows(n), **next = allocate_rows(n), **conductivity = allocate_rows(n);
    if (!heat || !next || !conductivity) {
        fprintf(stderr, "heat: cannot allocate a plate of %ld x %ld cells\n", n, n);
        return 1;
    }
    fill(heat, next, conductivity, n);

    const double kernel_start_s = omp_get_wtime();
    double left = 0;
    for (long step = 0; step < steps; step++) {
        spread(heat, next, conductivity, n);
        cool(next, 20.0, n);
        left = mean(next, n);
        double **old = heat;
        heat = next;
        next = old;
    }
    const double end_s = omp_get_wtime();
    printf("heat n=%ld steps=%ld threads=%d mean=%.6f kernel_seconds=%.6f total_seconds=%.6f\n", n, steps,
           omp_get_max_threads(), left, end_s - kernel_start_s, end_s - start_s);
    return 0;
}
