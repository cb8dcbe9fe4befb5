/* replayed.c: regions over an array that the main thread has initialised on node 0. Where the kernel says
 * that its pages are spread over the nodes, or together on another one, a region crashes: only in replays can
 * that be so. usage: replayed */
#define _GNU_SOURCE
#include <numa.h>
#include <numaif.h>
#include <stdio.h>
#include <stdlib.h>

#define LENGTH (1l << 19)
#define PAGE 4096l
#define NODES 64

static double *array;
static volatile int *volatile nowhere;

static void check(void) {
    const long pages = LENGTH * (long)sizeof *array / PAGE;
    long on[NODES] = {0}, most = 0, first = 0;
    for (long n = 0; n < pages; n++) {
        void *page = (char *)array + n * PAGE;
        int node = -1;
        if (move_pages(0, 1, &page, NULL, &node, 0) == 0 && node >= 0 && node < NODES)
            on[node]++;
        if (n == 0)
            first = node;
    }
    for (int node = 0; node < NODES; node++)
        most = on[node] > most ? on[node] : most;
    if (most < pages * 3 / 4)
        nowhere[first] = 1; /* ended by SIGSEGV: spread */
    if (on[0] < pages * 3 / 4)
        __builtin_trap(); /* ended by SIGILL: elsewhere */
}

int main(void) {
    array = aligned_alloc(PAGE, LENGTH * sizeof *array);
    if (!array)
        return 1;
    numa_run_on_node(0);
    for (long i = 0; i < LENGTH; i++)
        array[i] = 1;
    numa_run_on_node(-1);
    for (int t = 0; t < 8; t++) {
#pragma omp parallel
        {
#pragma omp for
            for (long i = 0; i < LENGTH; i++)
                array[i] += 1;
#pragma omp single
            check();
        }
    }
    printf("%.0f\n", array[LENGTH / 2]);
    return 0;
}
