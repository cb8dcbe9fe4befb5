/* An empty parallel region, over and over: prints the nanoseconds a region of the fastest batch. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define BATCH 2000

int main(int argc, char **argv) {
    const int threads = argc > 1 ? atoi(argv[1]) : 1;
    const int batches = argc > 2 ? atoi(argv[2]) : 100;
    double best = 1e9;
    for (int b = 0; b < batches; b++) {
        const double began = omp_get_wtime();
        for (int n = 0; n < BATCH; n++) {
#pragma omp parallel num_threads(threads)
            __asm__ volatile("" ::: "memory");
        }
        const double took = omp_get_wtime() - began;
        if (took < best)
            best = took;
    }
    printf("%.2f\n", best / BATCH * 1e9);
    return 0;
}
