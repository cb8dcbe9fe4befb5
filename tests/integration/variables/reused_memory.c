/* Two arrays one after the other at the same address: the samples of each are its own. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 19, STEPS = 200 };

static double used(double *array) {
    double sum = 0;
    for (int step = 0; step < STEPS; step++)
#pragma omp parallel for reduction(+ : sum)
        for (long i = 0; i < COUNT; i++)
            sum += array[i] += 1;
    return sum;
}

int main(void) {
    mallopt(M_MMAP_THRESHOLD, 1 << 20); /* which else grows when a mapped block is freed */
    double *before = malloc(COUNT * sizeof *before);
    double sum = used(before);
    free(before);
    double *after = malloc(COUNT * sizeof *after);
    sum += used(after);
    printf("%g\n", sum);
    free(after);
    return 0;
}
