/* three_arrays.c: of three arrays one is initialised by all threads, two by the main thread alone: `field`,
 * which each thread then uses a block of, and `table`, which all read at random.
 * usage: three_arrays KILOBYTES ROUNDS, KILOBYTES of each array */
#include <stdio.h>
#include <stdlib.h>

enum { STEP = 64 / sizeof(double) /* a line */ };

int main(int count, char **arguments) {
    const size_t doubles = count == 3 ? strtoul(arguments[1], NULL, 10) * 1024 / sizeof(double) : 0;
    const int rounds = count == 3 ? atoi(arguments[2]) : 0;
    if (doubles == 0)
        return 2;
    double *result = malloc(doubles * sizeof *result);
    double *field = malloc(doubles * sizeof *field);
    double *table = malloc(doubles * sizeof *table);
    if (!result || !field || !table)
        return 2;
    for (size_t n = 0; n < doubles; n++)
        field[n] = 1.0;
    for (size_t n = 0; n < doubles; n++)
        table[n] = 2.0;
#pragma omp parallel for schedule(static)
    for (size_t n = 0; n < doubles; n++)
        result[n] = 0.0;
    for (int round = 0; round < rounds; round++) {
#pragma omp parallel for schedule(static)
        for (size_t n = 0; n < doubles; n += STEP) {
            const size_t at = (n / STEP * 2654435761u + (size_t)round * 40503u) % (doubles / STEP) * STEP;
            result[n] += field[n] * table[at];
        }
    }
    printf("%.1f\n", result[0]);
    free(result);
    free(field);
    free(table);
}
