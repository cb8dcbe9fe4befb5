/* ticks.c: a simulation of a small grid in many short steps: more threads make it slower.
 *
 *     gcc -O2 -fopenmp -o ticks ticks.c
 *     ./ticks [CELLS [STEPS]]
 *
 * Each step has little to do between two barriers, so that starting and joining the threads of four nodes
 * costs more than they save. `numapredict --search ./ticks` finds the number of threads that is worth it;
 * OMP_NUM_THREADS unset takes all of them.
 */
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
    const long cells = count > 1 ? strtol(arguments[1], NULL, 10) : 4096;
    const int steps = count > 2 ? atoi(arguments[2]) : 400;
    if (cells < 3 || steps < 1) {
        fprintf(stderr, "usage: ticks [CELLS [STEPS]], at least 3 cells and 1 step\n");
        return 2;
    }
    double *now = malloc((size_t)cells * sizeof *now), *next = malloc((size_t)cells * sizeof *next);
    if (!now || !next)
        return 1;
    for (long i = 0; i < cells; i++)
        now[i] = next[i] = i == cells / 2 ? 1000.0 : 0.0;
    for (int step = 0; step < steps; step++) {
#pragma omp parallel for schedule(static)
        for (long i = 1; i < cells - 1; i++)
            next[i] = 0.25 * now[i - 1] + 0.5 * now[i] + 0.25 * now[i + 1];
        double *swap = now;
        now = next;
        next = swap;
    }
    double sum = 0;
    for (long i = 0; i < cells; i++)
        sum += now[i];
    printf("ticks cells=%ld steps=%d sum=%.6f\n", cells, steps, sum);
    free(now);
    free(next);
    return 0;
}
