/* One thread initialises `rare`, which is then hardly used; what is used is initialised in parallel. */
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>

#define N (1l << 20)

int main(void) {
    double *rare = malloc(N * sizeof *rare);
    double *often = malloc(N * sizeof *often);
    if (!rare || !often)
        return 1;
    for (long i = 0; i < N; i++)
        rare[i] = 0.5;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < N; i++)
        often[i] = (double)i;
    const double end_s = omp_get_wtime() + seconds();
    for (int step = 0; omp_get_wtime() < end_s; step++) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < N; i++)
            often[i] += step % 250 == 0 ? rare[i] : 0.25;
    }
    printf("%f\n", often[N / 2]);
    return 0;
}
