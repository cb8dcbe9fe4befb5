/* A STREAM triad: prints its bandwidth after each of a few passes. */
#include <omp.h>
#include <stdio.h>

enum { N = 1 << 20, PASSES = 8 };
static double a[N], b[N], c[N];

int main(void) {
    for (int pass = 0; pass < PASSES; pass++) {
        const double began_s = omp_get_wtime();
#pragma omp parallel for
        for (int i = 0; i < N; i++)
            a[i] = b[i] + 3.0 * c[i];
        printf("Triad: %12.4f MB/s\n", 3e-6 * sizeof a / (omp_get_wtime() - began_s));
    }
    return 0;
}
