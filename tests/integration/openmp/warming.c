/* warming.c: one region that warms up in short steps, then goes on in long ones: the same loop over more of
 * arrays that were initialised serially.
 *
 * Arguments: doubles in each array, how many of them the warm-up works on, its steps, and the steps in all.
 */
#include <stdlib.h>

int main(int count, char **arguments) {
    if (count < 5)
        return 1;
    const size_t n = strtoul(arguments[1], NULL, 10), few = strtoul(arguments[2], NULL, 10);
    const long warm = atol(arguments[3]), steps = atol(arguments[4]);
    double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    if (!a || !b || few > n)
        return 1;
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] = (double)i;
#pragma omp parallel
    for (long step = 0; step < steps; step++) {
        const size_t end = step < warm ? few : n;
#pragma omp for
        for (size_t i = 0; i < end; i++)
            b[i] = 0.5 * a[i] + b[i];
#pragma omp for
        for (size_t i = 0; i < end; i++)
            a[i] = 0.5 * b[i] + 0.1 * a[i];
    }
    return a[n / 2] > 0 ? 0 : 1;
}
