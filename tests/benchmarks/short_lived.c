/* short_lived.c: regions in which each thread allocates large blocks, uses them and frees them, beside an
 * array that lives as long as the program; one line an iteration with the wall time and the processor time of
 * all threads, both in nanoseconds a block.
 *
 *     short_lived BLOCKS ITERATIONS FILE    BLOCKS: of a thread and iteration, of 128 KiB
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 128 << 10, LIVES = 1 << 20 };

static double processor_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    const int blocks = argc == 4 ? atoi(argv[1]) : 0, iterations = argc == 4 ? atoi(argv[2]) : 0;
    FILE *file = argc == 4 ? fopen(argv[3], "w") : NULL;
    double *lives = calloc(LIVES, sizeof *lives), sum = 0;
    if (blocks < 1 || !file || !lives) {
        fprintf(stderr, "usage: short_lived BLOCKS ITERATIONS FILE, with memory for 8 MiB\n");
        return 2;
    }
    for (int iteration = 0; iteration < iterations; iteration++) {
        const double start_s = omp_get_wtime(), start_processor_s = processor_s();
#pragma omp parallel reduction(+ : sum)
        for (int block = 0; block < blocks; block++) {
            double *const own = malloc(BYTES);
            if (!own)
                exit(1);
            const size_t at =
                ((size_t)block * 977 + (size_t)omp_get_thread_num() * 40009) % (LIVES - BYTES / sizeof *own);
            for (size_t i = 0; i < BYTES / sizeof *own; i++)
                own[i] = lives[at + i] + block;
            for (size_t i = 0; i < BYTES / sizeof *own; i++)
                sum += own[i];
            free(own);
        }
        fprintf(file, "%.3f %.3f\n", (omp_get_wtime() - start_s) * 1e9 / blocks,
                (processor_s() - start_processor_s) * 1e9 / blocks);
        fflush(file);
    }
    printf("%g\n", sum);
    return fclose(file) != 0;
}
