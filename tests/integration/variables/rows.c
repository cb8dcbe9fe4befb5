/* An array of pointers to rows, each allocated and initialised, line 21, by the main thread. */
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>

#define ROWS 32l
#define COLUMNS (1l << 14)

int main(void) {
    double **rows = malloc(ROWS * sizeof *rows);
    double *right = malloc(ROWS * COLUMNS * sizeof *right);
    if (!rows || !right)
        return 1;
    for (long row = 0; row < ROWS; row++) {
        rows[row] = malloc(COLUMNS * sizeof *rows[row]);
        if (!rows[row])
            return 1;
    }
    for (long row = 0; row < ROWS; row++)
        for (long column = 0; column < COLUMNS; column++)
            rows[row][column] = 0.5;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < ROWS * COLUMNS; i++)
        right[i] = (double)i;
    const double end_s = omp_get_wtime() + seconds();
    for (int step = 0; omp_get_wtime() < end_s; step++) {
#pragma omp parallel for schedule(static)
        for (long row = 0; row < ROWS; row++)
            for (long column = 0; column < COLUMNS; column++)
                rows[row][column] += right[row * COLUMNS + column];
    }
    printf("%f\n", rows[ROWS / 2][7]);
    return 0;
}
