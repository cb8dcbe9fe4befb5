/* No fault: what is used in equal blocks is initialised in the same blocks. */
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>

#define N (1l << 19)

int main(void) {
    double *a = malloc(N * sizeof *a);
    double *b = malloc(N * sizeof *b);
    if (!a || !b)
        return 1;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < N; i++)
        a[i] = b[i] = (double)i;
    const double end_s = omp_get_wtime() + seconds();
    for (int step = 0; omp_get_wtime() < end_s; step++) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < N; i++)
            a[i] += 0.5 * b[i];
    }
    printf("%f\n", a[N / 2]);
    return 0;
}
