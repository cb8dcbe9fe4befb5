/* module.c: a library with a parallel region, for a program without OpenMP to load while it runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES (1l << 20)

int use(void) {
    long sum = 0;
    for (int turn = 0; turn < 2; turn++) {
        unsigned char *array = malloc(BYTES);
        if (!array)
            return 1;
        memset(array, 1 + turn, BYTES);
#pragma omp parallel for reduction(+ : sum)
        for (long i = 0; i < BYTES; i += 64)
            sum += array[i];
    }
    printf("%ld\n", sum);
    return 0;
}
