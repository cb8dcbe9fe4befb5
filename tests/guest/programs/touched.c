/* touched.c: regions over two arrays that the main thread has initialised on node 0, beside a third that no
 * region touches. Each thread has a quarter of `own`, the same one in every instance, and a quarter of
 * `shared`, the next one in the next instance. Where the kernel says that pages are on the nodes of those who
 * touch them, or cut by arrays, a region crashes: only in replays can that be so. usage: touched */
#define _GNU_SOURCE
#include <numa.h>
#include <numaif.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define PAGE 4096l
#define PAGES 256l
#define QUARTER (PAGES / THREADS)

static char *own, *shared, *untouched;
static volatile int *volatile nowhere;
static volatile int instances, zero;

static int node_of(char *page) {
    void *at = page;
    int node = -1;
    return move_pages(0, 1, &at, NULL, &node, 0) == 0 ? node : -1;
}

/* Whether three of four neighbours in a quarter are on different nodes. */
static bool alternates(char *array) {
    long changes = 0;
    for (long n = 1; n < QUARTER; n++)
        changes += node_of(array + n * PAGE) != node_of(array + (n - 1) * PAGE);
    return changes > QUARTER * 3 / 4;
}

/* Whether three of four pages are on their quarter's node: thread n runs on node n. */
static bool at_home(char *array) {
    long right = 0;
    for (long n = 0; n < PAGES; n++)
        right += node_of(array + n * PAGE) == n / QUARTER;
    return right > PAGES * 3 / 4;
}

static void check(void) {
    if (at_home(own) && at_home(shared) && at_home(untouched))
        __asm__("int3"); /* ended by SIGTRAP: dataset */
    if (at_home(own) && alternates(shared))
        nowhere[0] = 1; /* ended by SIGSEGV: mix */
    if (alternates(own) && alternates(shared))
        __builtin_trap(); /* ended by SIGILL: balance */
    if (at_home(own))
        nowhere = (volatile int *)(long)(instances / zero); /* ended by SIGFPE: locality */
}

static void touch(char *array, int quarter) {
    for (long n = quarter * QUARTER; n < (quarter + 1) * QUARTER; n++)
        for (long at = 0; at < PAGE; at += 64)
            array[n * PAGE + at]++;
}

int main(void) {
    own = aligned_alloc(PAGE, PAGES * PAGE);
    shared = aligned_alloc(PAGE, PAGES * PAGE);
    untouched = aligned_alloc(PAGE, PAGES * PAGE);
    if (!own || !shared || !untouched)
        return 1;
    numa_run_on_node(0);
    for (long at = 0; at < PAGES * PAGE; at++)
        own[at] = shared[at] = untouched[at] = 1;
    numa_run_on_node(-1);
    for (int t = 0; t < 8; t++) {
#pragma omp parallel
        {
            const int thread = omp_get_thread_num(), before = instances;
#pragma omp barrier
            touch(own, thread);
            touch(shared, (thread + before) % THREADS);
#pragma omp single
            {
                check();
                instances = before + 1;
            }
        }
    }
    printf("%d %d\n", own[0], shared[PAGE]);
    return 0;
}
