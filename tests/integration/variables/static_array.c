/* A static array is initialised by one thread, line 11, and used in blocks; the other one in parallel. */
#include "seconds.h"
#include <stdio.h>

#define N (1l << 19)

static double grid[N], right[N];

int main(void) {
    for (long i = 0; i < N; i++)
        grid[i] = (double)i;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < N; i++)
        right[i] = 1;
    const double end_s = omp_get_wtime() + seconds();
    for (int step = 0; omp_get_wtime() < end_s; step++) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < N; i++)
            right[i] += 0.5 * grid[i];
    }
    printf("%f\n", right[N / 2]);
    return 0;
}
