/* chase.c: each thread follows a random cycle of its own through memory: one line an iteration with the wall
 * time and the processor time of all threads, both in nanoseconds a step.
 *
 *     chase BYTES STEPS ITERATIONS FILE [huge]
 *
 * BYTES are a thread's; a step goes to another cache line. With `huge`, in transparent huge pages.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define LINE 64

static double processor_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Sattolo's algorithm: one cycle through all lines. The first word of a line names the next. */
static void make_cycle(uint32_t (*line)[LINE / 4], uint32_t lines, uint64_t random) {
    for (uint32_t n = 0; n < lines; n++)
        line[n][0] = n;
    for (uint32_t n = lines - 1; n > 0; n--) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint32_t other = (uint32_t)((random >> 33) % n), held = line[n][0];
        line[n][0] = line[other][0];
        line[other][0] = held;
    }
}

int main(int argc, char **argv) {
    const size_t bytes = argc >= 5 ? strtoull(argv[1], NULL, 10) & ~(size_t)(LINE - 1) : 0;
    const long steps = argc >= 5 ? atol(argv[2]) : 0;
    const int iterations = argc >= 5 ? atoi(argv[3]) : 0;
    FILE *file = argc >= 5 ? fopen(argv[4], "w") : NULL;
    const int threads = omp_get_max_threads();
    char *memory = aligned_alloc(2u << 20, bytes * (size_t)threads);
    if (bytes < 2 * LINE || !file || !memory) {
        fprintf(stderr, "usage: chase BYTES STEPS ITERATIONS FILE [huge]\n");
        return 2;
    }
    if (argc == 6)
        madvise(memory, bytes * (size_t)threads, MADV_HUGEPAGE);
    uint32_t sum = 0;
#pragma omp parallel
    make_cycle((uint32_t(*)[LINE / 4])(memory + bytes * (size_t)omp_get_thread_num()),
               (uint32_t)(bytes / LINE), (uint64_t)omp_get_thread_num());
    for (int iteration = 0; iteration < iterations; iteration++) {
        const double start_s = omp_get_wtime(), start_processor_s = processor_s();
#pragma omp parallel reduction(+ : sum)
        {
            uint32_t(*line)[LINE / 4] =
                (uint32_t(*)[LINE / 4])(memory + bytes * (size_t)omp_get_thread_num());
            uint32_t at = 0;
            for (long n = 0; n < steps; n++)
                at = line[at][0];
            sum += at;
        }
        fprintf(file, "%.6f %.6f\n", (omp_get_wtime() - start_s) * 1e9 / (double)steps,
                (processor_s() - start_processor_s) * 1e9 / (double)steps);
        fflush(file);
    }
    fprintf(file, "%u\n", sum);
    return fclose(file) != 0;
}
