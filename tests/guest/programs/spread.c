/* One thread initialises two arrays, of which the program itself spread one over all nodes before; all
 * threads use them in blocks. usage: spread SECONDS */
#define _GNU_SOURCE
#include <numa.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH (1l << 18)

int main(int count, char **arguments) {
    double *heaped = malloc(LENGTH * sizeof *heaped);
    double *spread = aligned_alloc(4096, LENGTH * sizeof *spread);
    if (count != 2 || !heaped || !spread)
        return 2;
    numa_interleave_memory(spread, LENGTH * sizeof *spread, numa_all_nodes_ptr);
    for (long i = 0; i < LENGTH; i++)
        heaped[i] = spread[i] = 1;
    const double end_s = omp_get_wtime() + atof(arguments[1]);
    while (omp_get_wtime() < end_s) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < LENGTH; i++)
            heaped[i] += spread[i];
    }
    printf("%d\n", heaped[0] > 1 && spread[LENGTH - 1] == 1);
    return 0;
}
