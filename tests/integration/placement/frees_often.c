/* frees_often.c: a region, then an array of 256 KiB that is made, touched and freed so many times. */
#include <omp.h>
#include <stdlib.h>

#define PAGE 4096

int main(int argc, char **argv) {
    const long times = argc > 1 ? atol(argv[1]) : 1;
    long sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += omp_get_thread_num();
    for (long n = 0; n < times; n++) {
        volatile char *array = malloc(64 * PAGE);
        if (!array)
            return 1;
        for (long page = 0; page < 64; page++)
            array[page * PAGE] = (char)n;
        free((void *)array);
    }
    return sum != 1;
}
