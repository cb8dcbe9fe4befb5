/* One array comes from mmap and is initialised by one thread, line 18. */
#define _GNU_SOURCE
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define N (1l << 19)
#define BYTES (N * sizeof(double))

int main(void) {
    double *wrong = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double *right = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (wrong == MAP_FAILED || right == MAP_FAILED)
        return 1;
    for (long i = 0; i < N; i++)
        /* in its own statement */
        wrong[i] = 0.5;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < N; i++)
        right[i] = (double)i;
    const double end_s = omp_get_wtime() + seconds();
    for (int step = 0; omp_get_wtime() < end_s; step++) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < N; i++)
            wrong[i] += right[i];
    }
    printf("%f\n", wrong[N / 2]);
    return 0;
}
