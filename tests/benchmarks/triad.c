/* triad.c: STREAM's triad, timed by its own clocks: one line an iteration with the wall time and the
 * processor time of all threads, both in nanoseconds an element.
 *
 *     triad ELEMENTS ITERATIONS FILE
 *
 * The lines go to FILE as they come, since a traced program is stopped when enough has been seen.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double processor_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    const long n = argc == 4 ? atol(argv[1]) : 0;
    const int iterations = argc == 4 ? atoi(argv[2]) : 0;
    FILE *file = argc == 4 ? fopen(argv[3], "w") : NULL;
    double *a = calloc((size_t)n, sizeof *a), *b = calloc((size_t)n, sizeof *b),
           *c = calloc((size_t)n, sizeof *c);
    if (n < 1 || !file || !a || !b || !c) {
        fprintf(stderr, "usage: triad ELEMENTS ITERATIONS FILE, with memory for three arrays\n");
        return 2;
    }
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        a[i] = 0;
        b[i] = (double)i;
        c[i] = 1;
    }
    for (int iteration = 0; iteration < iterations; iteration++) {
        const double start_s = omp_get_wtime(), start_processor_s = processor_s();
#pragma omp parallel for
        for (long i = 0; i < n; i++)
            a[i] = b[i] + 3.0 * c[i];
        fprintf(file, "%.6f %.6f\n", (omp_get_wtime() - start_s) * 1e9 / (double)n,
                (processor_s() - start_processor_s) * 1e9 / (double)n);
        fflush(file);
    }
    return fclose(file) != 0;
}
