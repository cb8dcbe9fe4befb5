/* address_space.c: says how much address space the process has had at most (KB) when it has run two regions
 * and has allocated and mapped some memory.
 *
 *     address_space THREADS [SECONDS]    computes for at least so long
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define BYTES (4ul << 20)

static char array[BYTES];

static long use(char *memory, int threads) {
    long sum = 0;
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : sum)
    for (unsigned long i = 0; i < BYTES; i += 64)
        sum += ++memory[i];
    return sum;
}

static long peak_kb(void) {
    char line[256];
    long found = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmPeak: %ld", &found) == 1)
            break;
    if (status)
        (void)fclose(status);
    return found;
}

int main(int count, char **words) {
    const int threads = count > 1 ? atoi(words[1]) : 1;
    const double least_s = count > 2 ? atof(words[2]) : 0;
    char *block = calloc(1, BYTES), *small = malloc(80000);
    char *mapped = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!block || !small || mapped == MAP_FAILED)
        return 1;
    long sum = 0;
    const double until = omp_get_wtime() + least_s;
    do
        sum += use(array, threads) + use(block, threads) + use(mapped, threads);
    while (omp_get_wtime() < until);
    printf("%ld\n", peak_kb());
    free(small);
    free(block);
    return sum == 0;
}
