/* memset, called in line 14 by the main thread, touches first what all threads use (gcc makes 0 a calloc). */
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N (1l << 19)

int main(void) {
    double *wrong = malloc(N * sizeof *wrong);
    double *right = malloc(N * sizeof *right);
    if (!wrong || !right)
        return 1;
    memset(wrong, 1, N * sizeof *wrong);
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
