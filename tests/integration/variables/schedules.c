/* Rows are dealt in turn when they are initialised, line 23, and used in equal blocks. Their first values
 * take some time, for more threads than cores must have their turns within the loop. */
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>

#define ROWS 512l
#define COLUMNS 2048l

static double settled(double value) {
    for (int n = 0; n < 40; n++)
        value = value / 2 + 1 / (value * value + 1);
    return value;
}

int main(void) {
    double *field = malloc(ROWS * COLUMNS * sizeof *field);
    if (!field)
        return 1;
#pragma omp parallel for schedule(static, 1)
    for (long row = 0; row < ROWS; row++)
        for (long column = 0; column < COLUMNS; column++)
            field[row * COLUMNS + column] = settled((double)(row - column));

    const double end_s = omp_get_wtime() + seconds();
    for (int step = 0; omp_get_wtime() < end_s; step++) {
#pragma omp parallel for schedule(static)
        for (long row = 0; row < ROWS; row++)
            for (long column = 0; column < COLUMNS; column++)
                field[row * COLUMNS + column] *= 1.0001;
    }
    printf("%f\n", field[ROWS * COLUMNS / 2]);
    return 0;
}
