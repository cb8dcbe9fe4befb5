/* several DOUBLES [THREADS]: five regions that need memory in different ways, a few times each, with
 * THREADS threads whatever was asked for.
 *
 * A stream, a gather at random, arithmetic in cache, a transposition and a sweep over one shared small array.
 */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int n, side;
static double *a, *b, *c;
static uint32_t *at;

static void stream(void) {
#pragma omp parallel for
    for (int i = 0; i < n; ++i)
        a[i] = b[i] + 0.5 * c[i];
}

static void gather(void) {
#pragma omp parallel for
    for (int i = 0; i < n / 4; ++i)
        c[i] = b[at[i]];
}

static void compute(void) {
#pragma omp parallel for
    for (int i = 0; i < n / 8; ++i) {
        double x = a[i];
        for (int step = 0; step < 20; ++step)
            x = x * 0.999 + sqrt(x + step);
        a[i] = x;
    }
}

static void transpose(void) {
#pragma omp parallel for
    for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j)
            b[(size_t)i * side + j] = c[(size_t)j * side + i];
}

static void sum(void) {
    double total = 0;
#pragma omp parallel for reduction(+ : total)
    for (int i = 0; i < n; ++i)
        total += b[i & 4095] * a[i];
    c[0] = total;
}

int main(int count, char **arguments) {
    n = count > 1 ? atoi(arguments[1]) : 1 << 18;
    side = (int)sqrt((double)n);
    if (count > 2)
        omp_set_num_threads(atoi(arguments[2]));
    a = malloc(sizeof *a * n);
    b = malloc(sizeof *b * n);
    c = malloc(sizeof *c * n);
    at = malloc(sizeof *at * n);
    uint32_t seed = 1;
    for (int i = 0; i < n; ++i) {
        seed = seed * 1664525u + 1013904223u;
        at[i] = (uint32_t)(((uint64_t)seed * (uint64_t)n) >> 32);
        a[i] = b[i] = c[i] = i;
    }
    for (int time = 0; time < 4; ++time) {
        stream();
        gather();
        compute();
        transpose();
        sum();
    }
    printf("%f\n", c[0]);
    return 0;
}
