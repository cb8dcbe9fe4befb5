/* gather.c: in turn all threads write their parts of a vector, and all gather from it at random places, as a
 * sparse solver does. usage: gather serial|parallel ROWS ROUNDS */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 8 };

static uint32_t next_place(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

int main(int count, char **arguments) {
    const int parallel = count == 4 && strcmp(arguments[1], "parallel") == 0;
    const int rounds = count == 4 ? atoi(arguments[3]) : 0;
    const long rows = count == 4 ? atol(arguments[2]) : 0;
    double *shared = NULL, *sums = NULL;
    uint32_t *place = NULL;
    if (rows < 4 || !(shared = malloc((size_t)rows * sizeof *shared)) ||
        !(sums = malloc((size_t)rows * sizeof *sums)) ||
        !(place = malloc((size_t)rows * ENTRIES * sizeof *place)))
        return 2;
#pragma omp parallel for schedule(static) if (parallel)
    for (long row = 0; row < rows; row++) {
        uint64_t state = (uint64_t)row * 2654435761u + 1;
        shared[row] = (double)(row % 16);
        sums[row] = 0;
        for (int n = 0; n < ENTRIES; n++)
            place[row * ENTRIES + n] = (uint32_t)(next_place(&state) % (uint64_t)rows);
    }
    for (int round = 0; round < rounds; round++) {
#pragma omp parallel for schedule(static)
        for (long row = 0; row < rows; row++) {
            double sum = 0;
            for (int n = 0; n < ENTRIES; n++)
                sum += shared[place[row * ENTRIES + n]];
            sums[row] = sum;
        }
#pragma omp parallel for schedule(static)
        for (long row = 0; row < rows; row++)
            shared[row] = sums[row] / ENTRIES;
    }
    printf("%.3f\n", shared[rows / 2]);
    free(shared);
    free(sums);
    free(place);
    return 0;
}
