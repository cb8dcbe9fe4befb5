/* realloc, line 18, lets an array grow as the main thread fills it, line 23; all threads then use it. */
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>

#define N (1l << 19)

int main(void) {
    double *right = malloc(N * sizeof *right);
    double *wrong = NULL;
    long room = 0;
    if (!right)
        return 1;
    for (long i = 0; i < N; i++) {
        if (i == room) {
            room = room ? 2 * room : 1l << 14;
            double *old = wrong;
            wrong = realloc(old, (size_t)room * sizeof *wrong);
            if (!wrong)
                return 1;
        }
        /* the first touch */
        wrong[i] = 0.5 * (double)i;
    }
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
