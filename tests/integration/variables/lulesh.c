/* Like LULESH: nine nodal arrays and many short regions; line 24 initialises three of them by one thread.
 * usage: lulesh [STEPS], or for 0.7 s */
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>

#ifndef NODES
#define NODES (1l << 16)
#endif
#define EACH for (long i = 0; i < NODES; i++)
static double *nodal(void) { return malloc(NODES * sizeof(double)); }

int main(int count, char **arguments) {
    double *x = malloc(NODES * sizeof *x);
    double *y = malloc(NODES * sizeof *y);
    double *z = malloc(NODES * sizeof *z);
    double *xd = nodal(), *yd = nodal(), *zd = nodal(), *fx = nodal(), *fy = nodal(), *fz = nodal();
    if (!x || !y || !z || !xd || !yd || !zd || !fx || !fy || !fz)
        return 1;
#pragma omp parallel for schedule(static)
    EACH xd[i] = yd[i] = zd[i] = fx[i] = fy[i] = fz[i] = 0.125;
    for (long i = 0; i < NODES; i++)
        /* the places */
        x[i] = y[i] = z[i] = (double)i;
    const double end_s = omp_get_wtime() + seconds();
    for (long step = 0; count > 1 ? step < atol(arguments[1]) : omp_get_wtime() < end_s; step++) {
#pragma omp parallel for schedule(static)
        EACH fx[i] = x[i] - y[i];
#pragma omp parallel for schedule(static)
        EACH fy[i] = y[i] - z[i];
#pragma omp parallel for schedule(static)
        EACH fz[i] = z[i] - x[i];
#pragma omp parallel for schedule(static)
        EACH xd[i] += 1e-9 * fx[i], x[i] += xd[i];
#pragma omp parallel for schedule(static)
        EACH yd[i] += 1e-9 * fy[i], y[i] += yd[i];
#pragma omp parallel for schedule(static)
        EACH zd[i] += 1e-9 * fz[i], z[i] += zd[i];
    }
    printf("%f\n", x[NODES / 2] + y[1] + z[2]);
    return 0;
}
