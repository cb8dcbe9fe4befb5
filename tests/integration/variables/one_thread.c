/* The main thread initialises, line 14, what thread 1 alone uses. */
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>

#define N (1l << 19)

int main(void) {
    double *queue = malloc(N * sizeof *queue);
    double sum = 0;
    if (!queue)
        return 1;
    for (long i = 0; i < N; i++)
        queue[i] = (double)i;
    const double end_s = omp_get_wtime() + seconds();
    for (int step = 0; omp_get_wtime() < end_s; step++) {
#pragma omp parallel reduction(+ : sum)
        if (omp_get_thread_num() == 1)
            for (long i = 0; i < N; i++)
                sum += queue[i] *= 1.0001;
    }
    printf("%f\n", sum);
    return 0;
}
