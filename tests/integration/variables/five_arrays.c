/* Five arrays are used in blocks; four are initialised in parallel, the fifth by one thread: line 16. */
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>

#define N (1l << 19)

int main(void) {
    double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    double *c = malloc(N * sizeof *c);
    double *d = malloc(N * sizeof *d);
    double *wrong = malloc(N * sizeof *wrong);
    if (!a || !b || !c || !d || !wrong)
        return 1;
    for (long i = 0; i < N; i++)
        wrong[i] = 0.5;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < N; i++)
        a[i] = b[i] = c[i] = d[i] = (double)i;

    const double end_s = omp_get_wtime() + seconds();
    for (int step = 0; omp_get_wtime() < end_s; step++) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < N; i++)
            a[i] = b[i] + wrong[i] * c[i] + d[i];
    }
    printf("%f\n", a[N / 2]);
    return 0;
}
