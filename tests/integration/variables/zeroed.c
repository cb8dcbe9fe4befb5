/* calloc gives memory that is zero; the main thread alone is the first to write to it, line 14. */
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>

#define N (1l << 19)

int main(void) {
    double *wrong = calloc(N, sizeof *wrong);
    double *right = malloc(N * sizeof *right);
    if (!wrong || !right)
        return 1;
    for (long i = 0; i < N; i++)
        wrong[i] += 0.5;
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
