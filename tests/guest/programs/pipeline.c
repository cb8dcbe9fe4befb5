/* pipeline.c: one region whose threads pass a barrier after every diagonal of a sweep over a grid: each
 * thread has a band of columns, and works on the row that the band before it has left. usage: pipeline
 * serial|parallel SIDE SWEEPS */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long side;
static double *grid;

static void fill(int parallel) {
#pragma omp parallel for schedule(static) if (parallel)
    for (long column = 0; column < side; column++)
        for (long row = 0; row < side; row++)
            grid[column * side + row] = (double)((column * 7 + row) % 32);
}

int main(int count, char **arguments) {
    const int parallel = count == 4 && strcmp(arguments[1], "parallel") == 0;
    const int sweeps = count == 4 ? atoi(arguments[3]) : 0;
    side = count == 4 ? atol(arguments[2]) : 0;
    if (side < 4 || !(grid = malloc((size_t)(side * side) * sizeof *grid)))
        return 2;
    fill(parallel);
#pragma omp parallel
    {
        const long threads = omp_get_num_threads(), thread = omp_get_thread_num();
        const long first = side * thread / threads, last = side * (thread + 1) / threads;
        for (int sweep = 0; sweep < sweeps; sweep++)
            for (long diagonal = 0; diagonal < side + threads - 1; diagonal++) {
                const long row = diagonal - thread;
                if (row > 0 && row < side)
                    for (long column = first > 0 ? first : 1; column < last; column++)
                        grid[column * side + row] =
                            0.4 * grid[(column - 1) * side + row] + 0.6 * grid[column * side + row - 1];
#pragma omp barrier
            }
    }
    printf("%.3f\n", grid[side * side - 1]);
    free(grid);
    return 0;
}
