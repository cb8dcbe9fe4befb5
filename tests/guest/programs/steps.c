/* steps.c: a time loop of many small parallel regions, as applications have them: fluxes, an update,
 * boundaries of one row, a reduction, and a region whose threads meet at barriers. usage: steps
 * serial|parallel SIDE STEPS */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BARRIERS = 4 };

static long side;
static double *level, *east, *south;

static double *at(double *grid, long row) { return grid + row * side; }

static void fill(long row) {
    for (long n = 0; n < side; n++) {
        at(level, row)[n] = (double)((row * 31 + n * 17) % 64);
        at(east, row)[n] = at(south, row)[n] = 0;
    }
}

static double step(void) {
    double most = 0;
#pragma omp parallel for schedule(static)
    for (long row = 0; row < side; row++)
        for (long n = 1; n < side; n++)
            at(east, row)[n] = at(level, row)[n - 1] - at(level, row)[n];
#pragma omp parallel for schedule(static)
    for (long row = 1; row < side; row++)
        for (long n = 0; n < side; n++)
            at(south, row)[n] = at(level, row - 1)[n] - at(level, row)[n];
#pragma omp parallel for schedule(static)
    for (long row = 1; row < side - 1; row++)
        for (long n = 1; n < side - 1; n++)
            at(level, row)[n] +=
                0.125 * (at(east, row)[n] - at(east, row)[n + 1] + at(south, row)[n] - at(south, row + 1)[n]);
#pragma omp parallel for schedule(static)
    for (long n = 0; n < side; n++) {
        at(level, 0)[n] = at(level, 1)[n];
        at(level, side - 1)[n] = at(level, side - 2)[n];
    }
#pragma omp parallel for schedule(static) reduction(max : most)
    for (long row = 0; row < side; row++)
        most = at(level, row)[row] > most ? at(level, row)[row] : most;
#pragma omp parallel
    for (int n = 0; n < BARRIERS; n++) {
#pragma omp barrier
    }
    return most;
}

int main(int count, char **arguments) {
    const int parallel = count == 4 && strcmp(arguments[1], "parallel") == 0;
    const int steps = count == 4 ? atoi(arguments[3]) : 0;
    side = count == 4 ? atol(arguments[2]) : 0;
    const size_t bytes = (size_t)(side * side) * sizeof *level;
    if (side < 4 || !(level = malloc(bytes)) || !(east = malloc(bytes)) || !(south = malloc(bytes)))
        return 2;
#pragma omp parallel for schedule(static) if (parallel)
    for (long row = 0; row < side; row++)
        fill(row);
    double most = 0;
    for (int n = 0; n < steps; n++)
        most = step();
    printf("%.3f\n", most);
    free(level);
    free(east);
    free(south);
    return 0;
}
