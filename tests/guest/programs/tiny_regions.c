/* tiny_regions.c: a time step of many parallel regions of a few microseconds, with arrays that are allocated
 * and freed in each step, as hydrodynamics codes have them. usage: tiny_regions serial|parallel ELEMENTS
 * STEPS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MATERIALS = 8 };

static long elements;

static void scale(double *to, const double *from, double by) {
#pragma omp parallel for schedule(static)
    for (long n = 0; n < elements; n++)
        to[n] = from[n] * by + 1;
}

static void mix(double *to, const double *from) {
#pragma omp parallel for schedule(static)
    for (long n = 1; n < elements - 1; n++)
        to[n] = 0.25 * (from[n - 1] + 2 * from[n] + from[n + 1]);
}

/* One routine for materials of different sizes. */
static void relax(double *energy, long first, long last) {
#pragma omp parallel for schedule(static)
    for (long n = first; n < last; n++)
        energy[n] *= 0.999;
}

static int step(double *energy, double *pressure) {
    double *work = malloc((size_t)elements * sizeof *work);
    if (!work)
        return 2;
    scale(work, energy, 0.5);
    mix(pressure, work);
    for (long m = 0, first = 0; m < MATERIALS; m++) {
        const long last = m == MATERIALS - 1 ? elements : first + (elements - first) / 2;
        relax(energy, first, last);
        first = last;
    }
    scale(energy, pressure, 0.75);
    free(work);
    return 0;
}

int main(int count, char **arguments) {
    const int parallel = count == 4 && strcmp(arguments[1], "parallel") == 0;
    const int steps = count == 4 ? atoi(arguments[3]) : 0;
    elements = count == 4 ? atol(arguments[2]) : 0;
    double *energy = NULL, *pressure = NULL;
    if (elements < 4 || !(energy = malloc((size_t)elements * sizeof *energy)) ||
        !(pressure = malloc((size_t)elements * sizeof *pressure)))
        return 2;
#pragma omp parallel for schedule(static) if (parallel)
    for (long n = 0; n < elements; n++) {
        energy[n] = (double)(n % 64);
        pressure[n] = 0;
    }
    for (int n = 0; n < steps; n++)
        if (step(energy, pressure))
            return 2;
    printf("%.3f\n", energy[elements / 2]);
    free(energy);
    free(pressure);
    return 0;
}
