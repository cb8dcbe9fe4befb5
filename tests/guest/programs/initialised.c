/* initialised.c: an array that one thread or all threads initialise, and all read; the seconds of each
 * reading. usage: initialised serial|parallel KILOBYTES ROUNDS */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP = 64 / sizeof(long) }; /* a line */

int main(int count, char **arguments) {
    const int parallel = count == 4 && strcmp(arguments[1], "parallel") == 0;
    const long longs = count == 4 ? atol(arguments[2]) * 1024 / (long)sizeof(long) : 0;
    const int rounds = count == 4 ? atoi(arguments[3]) : 0;
    long *data = longs > 0 ? aligned_alloc(4096, (size_t)longs * sizeof *data) : NULL;
    if (!data)
        return 2;
    long sum = 0;
#pragma omp parallel for schedule(static) if (parallel)
    for (long n = 0; n < longs; n += STEP)
        data[n] = n;
    for (int round = 0; round < rounds; round++) {
        const double began_s = omp_get_wtime();
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (long n = 0; n < longs; n += STEP)
            sum += data[n];
        printf("%.6f\n", omp_get_wtime() - began_s);
    }
    free(data);
    return sum < 0;
}
