/* plane_sweeps.c: pentadiagonal sweeps along the three axes of a grid, as the C version of NPB 3.0's SP
 * divides them.
 *
 * plane_sweeps [CELLS [STEPS [own]]]: along x and y all threads share each plane across the sweep, and wait
 * for each other after it; along z, the contiguous axis, each has lines of its own. With `own`, each has
 * lines of its own along all axes, as the Fortran version does. Pages are touched first by the threads that
 * own planes of x.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BANDS = 5, FACTORS = 3, VALUES = 5 };

static size_t n;
static double *band[FACTORS][BANDS], *value[VALUES];
static const int first_value[FACTORS + 1] = {0, 3, 4, VALUES};

static size_t at(size_t x, size_t y, size_t z) { return (x * n + y) * n + z; }

/* Eliminates with the cell at c what the next two along the axis have of it. */
static void eliminate(int factor, size_t c, size_t step) {
    double *const *b = band[factor], scale = 1 / b[2][c];
    b[3][c] *= scale;
    b[4][c] *= scale;
    for (size_t next = 1; next <= 2; next++) {
        size_t d = c + next * step;
        double part = b[2 - next][d];
        b[3 - next][d] -= part * b[3][c];
        b[4 - next][d] -= part * b[4][c];
    }
    for (int v = first_value[factor]; v < first_value[factor + 1]; v++) {
        value[v][c] *= scale;
        value[v][c + step] -= b[1][c + step] * value[v][c];
        value[v][c + 2 * step] -= b[0][c + 2 * step] * value[v][c];
    }
}

static void substitute(int factor, int v, size_t c, size_t step) {
    value[v][c] -= band[factor][3][c] * value[v][c + step] + band[factor][4][c] * value[v][c + 2 * step];
}

static void fill(size_t c) {
    static const double stencil[BANDS] = {0.1, -0.3, 2.0, -0.3, 0.1};
    for (int f = 0; f < FACTORS; f++)
        for (int b = 0; b < BANDS; b++)
            band[f][b][c] = stencil[b];
}

/* Lines start at a step outer, a step inner; the sweep goes a step along. */
static void sweep(size_t outer, size_t inner, size_t along, int shared) {
#pragma omp parallel
    {
#pragma omp for
        for (size_t x = 0; x < n; x++)
            for (size_t c = 0; c < n * n; c++)
                fill(x * n * n + c);
        if (shared) {
            for (int f = 0; f < FACTORS; f++)
                for (size_t k = 0; k + 2 < n; k++) {
#pragma omp for
                    for (size_t o = 0; o < n; o++)
                        for (size_t i = 0; i < n; i++)
                            eliminate(f, o * outer + i * inner + k * along, along);
                }
            for (int f = 0; f < FACTORS; f++)
                for (int v = first_value[f]; v < first_value[f + 1]; v++)
                    for (size_t k = n - 2; k-- > 0;) {
#pragma omp for
                        for (size_t o = 0; o < n; o++)
                            for (size_t i = 0; i < n; i++)
                                substitute(f, v, o * outer + i * inner + k * along, along);
                    }
        } else {
#pragma omp for
            for (size_t o = 0; o < n; o++)
                for (int f = 0; f < FACTORS; f++) {
                    for (size_t k = 0; k + 2 < n; k++)
                        for (size_t i = 0; i < n; i++)
                            eliminate(f, o * outer + i * inner + k * along, along);
                    for (int v = first_value[f]; v < first_value[f + 1]; v++)
                        for (size_t k = n - 2; k-- > 0;)
                            for (size_t i = 0; i < n; i++)
                                substitute(f, v, o * outer + i * inner + k * along, along);
                }
        }
    }
}

static double *cells(void) {
    double *made = malloc(n * n * n * sizeof *made);
    if (!made)
        exit(1);
#pragma omp parallel for
    for (size_t x = 0; x < n; x++)
        for (size_t c = 0; c < n * n; c++)
            made[x * n * n + c] = 1.0 + (double)((x + c) % 7);
    return made;
}

int main(int argc, char **argv) {
    n = argc > 1 ? strtoul(argv[1], NULL, 10) : 64;
    int steps = argc > 2 ? atoi(argv[2]) : 4, own = argc > 3 && !strcmp(argv[3], "own");
    for (int f = 0; f < FACTORS; f++)
        for (int b = 0; b < BANDS; b++)
            band[f][b] = cells();
    for (int v = 0; v < VALUES; v++)
        value[v] = cells();
    for (int step = 0; step < steps; step++) {
        sweep(at(0, 1, 0), at(0, 0, 1), at(1, 0, 0), !own);
        sweep(at(1, 0, 0), at(0, 0, 1), at(0, 1, 0), !own);
        sweep(at(1, 0, 0), at(0, 1, 0), at(0, 0, 1), 0);
    }
    double sum = 0;
    for (int v = 0; v < VALUES; v++)
        for (size_t c = 0; c < n * n * n; c++)
            sum += value[v][c];
    printf("%.9e\n", sum);
    return 0;
}
