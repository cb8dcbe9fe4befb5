/* All arrays come from one function; line 24 initialises one of them by one thread. */
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>

#define N (1l << 19)

static void *checked(size_t bytes) {
    void *memory = malloc(bytes);
    if (!memory) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return memory;
}

__attribute__((noinline)) static double *array(long count) { return checked((size_t)count * sizeof(double)); }

int main(void) {
    double *a = array(N);
    double *wrong = array(N);
    double *c = array(N);
    for (long i = 0; i < N; i++)
        wrong[i] = 0.5;

#pragma omp parallel for schedule(static)
    for (long i = 0; i < N; i++)
        a[i] = c[i] = (double)i;

    const double end_s = omp_get_wtime() + seconds();
    for (int step = 0; omp_get_wtime() < end_s; step++) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < N; i++)
            a[i] = wrong[i] * c[i];
    }
    printf("%f\n", a[N / 2]);
    return 0;
}
