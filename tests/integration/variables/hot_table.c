/* All threads read one table, which the main thread filled: line 20; what each writes is its own. */
#include "seconds.h"
#include <stdio.h>
#include <stdlib.h>

#define N (1l << 19)
#define ENTRIES (1l << 19)

static unsigned mixed(unsigned x) {
    x = (x ^ x >> 16) * 0x45d9f3bu;
    x = (x ^ x >> 16) * 0x45d9f3bu;
    return x ^ x >> 16;
}

int main(void) {
    double *table = malloc(ENTRIES * sizeof *table), *out = malloc(N * sizeof *out);
    if (!table || !out)
        return 1;
    for (long i = 0; i < ENTRIES; i++)
        table[i] = (double)i;
#pragma omp parallel for schedule(static)
    for (long i = 0; i < N; i++)
        out[i] = 0.5 * (double)i;
    const double end_s = omp_get_wtime() + seconds();
    for (int step = 0; omp_get_wtime() < end_s; step++) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < N; i++)
            out[i] += table[mixed((unsigned)(i * 64 + step)) % ENTRIES];
    }
    printf("%f\n", out[N / 3]);
    return 0;
}
