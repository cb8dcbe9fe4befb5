/* A structure of arrays: its field `wrong` is initialised by one thread, line 22, the others in parallel. */
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>

#define N (1l << 19)

struct particles {
    double *place;
    double *speed;
    double *wrong;
};

int main(void) {
    struct particles all;
    all.place = malloc(N * sizeof *all.place);
    all.speed = malloc(N * sizeof *all.speed);
    all.wrong = malloc(N * sizeof *all.wrong);
    if (!all.place || !all.speed || !all.wrong)
        return 1;
    for (long i = 0; i < N; i++)
        all.wrong[i] = 0.5;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < N; i++)
        all.place[i] = all.speed[i] = (double)i;
    const double end_s = omp_get_wtime() + seconds();
    for (int step = 0; omp_get_wtime() < end_s; step++) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < N; i++)
            all.place[i] += all.speed[i] * all.wrong[i];
    }
    printf("%f\n", all.place[N / 2]);
    return 0;
}
