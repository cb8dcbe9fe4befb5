/* A static array is initialised by one thread, line 10, and used in blocks; the other one in parallel. */
#include <stdio.h>

#define N (1l << 19)

static double grid[N], right[N];

int main(void) {
    for (long i = 0; i < N; i++)
        grid[i] = (double)i;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < N; i++)
        right[i] = 1;
    for (int step = 0; step < 200; step++) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < N; i++)
            right[i] += 0.5 * grid[i];
    }
    printf("%f\n", right[N / 2]);
    return 0;
}
