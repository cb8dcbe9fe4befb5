/* two_phases.c: two regions in turn, each with an array of its own, both initialised by the main thread.
 * usage: two_phases KILOBYTES ROUNDS, KILOBYTES of each array */
#include <stdio.h>
#include <stdlib.h>

enum { STEP = 64 / sizeof(double) /* a line */ };

int main(int count, char **arguments) {
    const size_t doubles = count == 3 ? strtoul(arguments[1], NULL, 10) * 1024 / sizeof(double) : 0;
    const int rounds = count == 3 ? atoi(arguments[2]) : 0;
    if (doubles == 0)
        return 2;
    double *first = malloc(doubles * sizeof *first);
    double *second = malloc(doubles * sizeof *second);
    double sum = 0;
    if (!first || !second)
        return 2;
    for (size_t n = 0; n < doubles; n++) {
        first[n] = 1.0;
        second[n] = 2.0;
    }
    for (int round = 0; round < rounds; round++) {
#pragma omp parallel for reduction(+ : sum)
        for (size_t n = 0; n < doubles; n += STEP)
            sum += first[(n / STEP * 2654435761u + (size_t)round * 40503u) % (doubles / STEP) * STEP];
#pragma omp parallel for reduction(+ : sum)
        for (size_t n = 0; n < doubles; n += STEP)
            sum += second[(n / STEP * 2654435761u + (size_t)round * 40503u) % (doubles / STEP) * STEP];
    }
    printf("%.1f\n", sum);
    free(first);
    free(second);
}
