/* where.c: an array that the main thread alone initialises and all threads then read; says how many of its
 * pages are on which node, by the kernel's answer. With `moved` it ends as soon as no node has three quarters
 * of them. usage: where MEGABYTES SECONDS [moved] */
#define _GNU_SOURCE
#include <numaif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAGE 4096L
#define NODES 64

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Counts the pages on each node, the last of which stands for none; returns the largest count. */
static long look(unsigned char *data, long pages, long *on) {
    long most = 0;
    memset(on, 0, (NODES + 1) * sizeof *on);
    for (long p = 0; p < pages; p++) {
        void *page = data + p * PAGE;
        int node = -1;
        move_pages(0, 1, &page, NULL, &node, 0);
        const long count = ++on[node >= 0 && node < NODES ? node : NODES];
        most = count > most ? count : most;
    }
    return most;
}

int main(int count, char **argument) {
    const long pages = (count > 1 ? atol(argument[1]) : 1) * 256;
    const double until = seconds() + (count > 2 ? atof(argument[2]) : 0);
    unsigned char *data = aligned_alloc(PAGE, (size_t)(pages * PAGE));
    if (!data)
        return 1;
    for (long i = 0; i < pages * PAGE; i += 64)
        data[i] = 1;
    const int until_moved = count > 3 && strcmp(argument[3], "moved") == 0;
    long sum = 0, most, on[NODES + 1];
    do {
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (long p = 0; p < pages; p++)
            for (long i = 0; i < PAGE; i += 64)
                sum += data[p * PAGE + i];
        most = look(data, pages, on);
    } while (seconds() < until && !(until_moved && most < pages * 3 / 4));
    for (int n = 0; n < NODES; n++)
        if (on[n])
            printf("%d:%ld ", n, on[n]);
    printf("nowhere:%ld\n", on[NODES]);
    free(data);
    return sum > 0 ? 0 : 2;
}
