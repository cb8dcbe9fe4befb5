/* later.c: an iterative program that allocates as it goes: each step has an array of its own, filled by the
 * main thread, then used by all threads in a region that was there before.
 *
 * usage: later PAGES STEPS. Page p of P of each array belongs to thread p * T / P. All arrays live to the
 * end. It prints a checksum that does not depend on the number of threads. */
#include "arrays.h"

#include <string.h>

#define PAGE 4096
#define MOST_STEPS 16

static long use(unsigned char *array, long pages) {
    long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long page = 0; page < pages; page++)
        for (long i = 0; i < PAGE; i += 64)
            sum += array[page * PAGE + i]++;
    return sum;
}

int main(int count, char **argument) {
    const long pages = count > 1 ? atol(argument[1]) : 64;
    const int steps = count > 2 ? atoi(argument[2]) : 4;
    unsigned char *array[MOST_STEPS];
    long sum = 0;
    if (steps > MOST_STEPS)
        return 2;
    for (int step = 0; step < steps; step++) {
        array[step] = aligned_alloc(PAGE, (size_t)pages * PAGE);
        if (!array[step])
            return 1;
        memset(array[step], step, (size_t)pages * PAGE);
        for (int again = 0; again < 3; again++)
            sum += use(array[step], pages);
    }
    printf("%ld\n", sum);
    for (int step = 0; step < steps; step++)
        say_nodes("step", array[step], (size_t)pages * PAGE);
    for (int step = 0; step < steps; step++)
        free(array[step]);
    return 0;
}
