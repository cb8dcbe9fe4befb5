/* Two arrays of 2,048 rows of 8 KiB, allocated in turn by one function, so that rows of both share pages: the
 * main thread fills the first, line 29, and each thread its rows of the second one. */
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>

#define ROWS 2048l
#define COLUMNS 1024l

static double *wrong[ROWS], *right[ROWS];

static double *allocated_row(long columns) {
    double *row = malloc((size_t)columns * sizeof *row);
    if (!row)
        exit(1);
    return row;
}

int main(void) {
    for (long row = 0; row < ROWS; row++) {
        wrong[row] = allocated_row(COLUMNS);
        right[row] = allocated_row(COLUMNS);
    }
#pragma omp parallel for schedule(static)
    for (long row = 0; row < ROWS; row++)
        for (long column = 0; column < COLUMNS; column++)
            right[row][column] = 0.5;
    for (long i = 0; i < ROWS * COLUMNS; i++)
        wrong[i / COLUMNS][i % COLUMNS] = 0.5;
    const double end_s = omp_get_wtime() + seconds();
    for (int step = 0; omp_get_wtime() < end_s; step++) {
#pragma omp parallel for schedule(static)
        for (long row = 0; row < ROWS; row++)
            for (long column = 0; column < COLUMNS; column++)
                right[row][column] += wrong[row][column];
    }
    printf("%f\n", right[ROWS / 2][7]);
    return 0;
}
