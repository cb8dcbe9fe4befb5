/* No fault: each thread allocates, initialises and uses a buffer of its own. */
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>

#define N (1l << 17)

int main(void) {
    double total = 0;
    const double end_s = omp_get_wtime() + seconds();
    double *own[64] = {0};
#pragma omp parallel
    {
        double *mine = malloc(N * sizeof *mine);
        if (!mine)
            abort();
        for (long i = 0; i < N; i++)
            mine[i] = (double)i;
        own[omp_get_thread_num()] = mine;
    }
    for (int step = 0; omp_get_wtime() < end_s; step++) {
#pragma omp parallel reduction(+ : total)
        {
            double *mine = own[omp_get_thread_num()];
            for (long i = 0; i < N; i++)
                total += mine[i] *= 1.0001;
        }
    }
    printf("%f\n", total);
    return 0;
}
