/* frees_often.c: a region, and an array of 256 KiB that is made, filled and freed so many times. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    const long times = argc > 1 ? atol(argv[1]) : 1;
    long sum = 0;
    for (long n = 0; n < times; n++) {
        char *array = malloc(256 << 10);
        if (!array)
            return 1;
        memset(array, (int)n, 256 << 10);
#pragma omp parallel num_threads(2) reduction(+ : sum)
        sum += array[omp_get_thread_num() * 4096];
        free(array);
    }
    return sum == 1; /* so that it is computed */
}
