/* ten_arrays.c: ten arrays of rows of 12 KB, each of its own call, which the first thread fills. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAYS 10
#define ROWS 1000
#define COLUMNS 1500

static double **rows(void) {
    double **row = malloc(ROWS * sizeof *row);
    for (long i = 0; i < ROWS; i++) {
        row[i] = malloc(COLUMNS * sizeof **row);
        memset(row[i], 1, COLUMNS * sizeof **row);
    }
    return row;
}

int main(void) {
    double **array[ARRAYS];
    array[0] = rows();
    array[1] = rows();
    array[2] = rows();
    array[3] = rows();
    array[4] = rows();
    array[5] = rows();
    array[6] = rows();
    array[7] = rows();
    array[8] = rows();
    array[9] = rows();
    for (int step = 0; step < 3; step++)
        for (int n = 0; n < ARRAYS; n++) {
#pragma omp parallel for
            for (long i = 0; i < ROWS; i++)
                for (long j = 0; j < COLUMNS; j++)
                    array[n][i][j] += 1;
        }
    printf("%g\n", array[9][ROWS - 1][COLUMNS - 1]);
    return 0;
}
