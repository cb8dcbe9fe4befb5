/* A matrix of long rows is initialised by blocks of rows, line 16, and used by blocks of columns. */
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>

#define ROWS 128l
#define COLUMNS 16384l

int main(void) {
    double *matrix = malloc(ROWS * COLUMNS * sizeof *matrix), *sums = malloc(COLUMNS * sizeof *sums);
    if (!matrix || !sums)
        return 1;
#pragma omp parallel for schedule(static)
    for (long row = 0; row < ROWS; row++)
        for (long column = 0; column < COLUMNS; column++)
            matrix[row * COLUMNS + column] = (double)(row - column);

    const double end_s = omp_get_wtime() + seconds();
    for (int step = 0; omp_get_wtime() < end_s; step++) {
#pragma omp parallel for schedule(static)
        for (long column = 0; column < COLUMNS; column++)
            for (long row = 0; row < ROWS; row++)
                sums[column] += matrix[row * COLUMNS + column];
    }
    printf("%f\n", sums[COLUMNS / 2]);
    return 0;
}
