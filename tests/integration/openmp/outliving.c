/* outliving.c: a short region, then one that holds the whole time loop, as many codes for shared memory have
 * it.
 *
 * Arguments: doubles in each array, and time steps. A step is two loops and a single: three barriers.
 */
#include <stdlib.h>

int main(int count, char **arguments) {
    const size_t n = count > 1 ? strtoul(arguments[1], NULL, 10) : 1000;
    const long steps = count > 2 ? atol(arguments[2]) : 10;
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    long team = 0, done = 0;
    if (!a || !b)
        return 1;
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] = (double)i;
#pragma omp parallel reduction(+ : team)
    team++;
#pragma omp parallel
    for (long step = 0; step < steps; step++) {
#pragma omp for
        for (size_t i = 0; i < n; i++)
            b[i] = 0.5 * a[i] + b[i];
#pragma omp for
        for (size_t i = 0; i < n; i++)
            a[i] = 0.5 * b[i] + 0.1 * a[i];
#pragma omp single
        done++;
    }
    return a[n / 2] > 0 && done == steps && team > 0 ? 0 : 1;
}
