/* grid.c: a 2-D grid, initialised by the main thread alone, then swept by all threads, each its own rows.
 *
 * usage: grid ROWS ITERATIONS [EXIT_CODE]. The rows are dealt out statically, so page p of P of each array
 * belongs to thread p * T / P. It prints a checksum that does not depend on the number of threads. */
#include "arrays.h"

#define COLUMNS 512 /* a row is one page */

int main(int count, char **argument) {
    const long rows = count > 1 ? atol(argument[1]) : 128;
    const int iterations = count > 2 ? atoi(argument[2]) : 3;
    double(*old)[COLUMNS] = malloc((size_t)rows * sizeof *old);
    double(*new)[COLUMNS] = malloc((size_t)rows * sizeof *new);
    if (!old || !new)
        return 1;
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < COLUMNS; j++) {
            old[i][j] = (double)(i % 7) + (double)(j % 5);
            new[i][j] = 0;
        }
    say_array("old", old, (size_t)rows * sizeof *old);
    say_array("new", new, (size_t)rows * sizeof *new);
    for (int n = 0; n < iterations; n++) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < rows; i++)
            for (long j = 1; j < COLUMNS - 1; j++)
                new[i][j] = old[i][j - 1] + old[i][j + 1];
#pragma omp parallel for schedule(static)
        for (long i = 0; i < rows; i++)
            for (long j = 1; j < COLUMNS - 1; j++)
                old[i][j] = new[i][j] / 2;
    }
    long long sum = 0;
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < COLUMNS; j++)
            sum += (long long)(old[i][j] * 16);
    printf("%lld\n", sum);
    say_nodes("old", old, (size_t)rows * sizeof *old);
    say_nodes("new", new, (size_t)rows * sizeof *new);
    free(new);
    free(old);
    return count > 3 ? atoi(argument[3]) : 0;
}
