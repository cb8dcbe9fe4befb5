/* pages.c: an OpenMP program whose output tells whether anything went wrong while its memory was protected.
 *
 *     pages ITERATIONS FILE
 *
 * Each thread writes and reads its share of a large array, and at the edges its neighbour's; thread 0 also
 * writes the array to FILE, reads it back and starts a program in the middle of a region. Nothing is printed
 * but the sum.
 */
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define COUNT (1l << 20)

static double fixed[1 << 16];

int main(int argc, char **argv) {
    const int iterations = argc == 3 ? atoi(argv[1]) : 0;
    double *a = malloc(COUNT * sizeof *a), *b = calloc(COUNT, sizeof *b), sum = 0;
    FILE *file = argc == 3 ? fopen(argv[2], "w+") : NULL;
    sigset_t all;
    if (!a || !b || !file)
        return 2;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
#pragma omp parallel for
    for (long n = 0; n < COUNT; n++)
        a[n] = (double)(n % 1000);
    for (int iteration = 0; iteration < iterations; iteration++) {
#pragma omp parallel
        {
#pragma omp for reduction(+ : sum)
            for (long n = 0; n < COUNT; n++) {
                b[n] = a[n] + a[(n + 4096) % COUNT] + fixed[n % (1 << 16)];
                sum += b[n];
            }
            if (omp_get_thread_num() == 0 && iteration % 8 == 0) {
                rewind(file);
                if (fwrite(b, sizeof *b, COUNT, file) != COUNT || fflush(file) != 0 ||
                    pread(fileno(file), a, COUNT / 2 * sizeof *a, 0) != (ssize_t)(COUNT / 2 * sizeof *a) ||
                    system("true") != 0)
                    abort();
                for (long n = 0; n < COUNT / 2; n++)
                    a[n] = (double)(n % 1000);
            }
        }
#pragma omp parallel for
        for (long n = 0; n < 1 << 16; n++)
            fixed[n] += 1;
    }
    printf("%.1f\n", sum);
    return 0;
}
