/* levels.c: V-cycles over four grids of one multigrid solver, all through the same routines, so that the
 * instances of a region differ by a factor of four. usage: levels serial|parallel SIDE CYCLES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 4 };

static void smooth(double *to, const double *from, long side) {
#pragma omp parallel for schedule(static)
    for (long row = 1; row < side - 1; row++)
        for (long n = row * side + 1; n < (row + 1) * side - 1; n++)
            to[n] = 0.5 * from[n] + 0.125 * (from[n - 1] + from[n + 1] + from[n - side] + from[n + side]);
}

static void restrict_to(double *coarse, const double *fine, long side) {
#pragma omp parallel for schedule(static)
    for (long row = 0; row < side; row++)
        for (long n = 0; n < side; n++)
            coarse[row * side + n] = fine[2 * row * 2 * side + 2 * n];
}

static void prolong(double *fine, const double *coarse, long side) {
#pragma omp parallel for schedule(static)
    for (long row = 0; row < side; row++)
        for (long n = 0; n < side; n++)
            fine[2 * row * 2 * side + 2 * n] += 0.5 * coarse[row * side + n];
}

int main(int count, char **arguments) {
    const int parallel = count == 4 && strcmp(arguments[1], "parallel") == 0;
    const int cycles = count == 4 ? atoi(arguments[3]) : 0;
    const long side = count == 4 ? atol(arguments[2]) : 0;
    double *grid[LEVELS], *work[LEVELS];
    if (side < 8 << LEVELS || side % (1 << LEVELS))
        return 2;
    for (int level = 0; level < LEVELS; level++) {
        const long rows = side >> level;
        grid[level] = malloc((size_t)(rows * rows) * sizeof *grid[level]);
        work[level] = malloc((size_t)(rows * rows) * sizeof *work[level]);
        if (!grid[level] || !work[level])
            return 2;
#pragma omp parallel for schedule(static) if (parallel)
        for (long row = 0; row < rows; row++)
            for (long n = 0; n < rows; n++)
                grid[level][row * rows + n] = work[level][row * rows + n] = (double)((row + 3 * n) % 8);
    }
    for (int cycle = 0; cycle < cycles; cycle++) {
        for (int level = 0; level < LEVELS; level++) {
            smooth(work[level], grid[level], side >> level);
            if (level < LEVELS - 1)
                restrict_to(grid[level + 1], work[level], side >> (level + 1));
        }
        for (int level = LEVELS - 2; level >= 0; level--) {
            prolong(work[level], grid[level + 1], side >> (level + 1));
            smooth(grid[level], work[level], side >> level);
        }
    }
    printf("%.3f\n", grid[0][side * side / 2 + side / 2]);
    for (int level = 0; level < LEVELS; level++) {
        free(grid[level]);
        free(work[level]);
    }
    return 0;
}
