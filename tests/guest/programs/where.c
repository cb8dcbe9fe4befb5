/* where.c: an array that the main thread alone initialises and all threads then read; says how many of its
 * pages are on which node, by the kernel's answer. usage: where MEGABYTES SECONDS */
#define _GNU_SOURCE
#include <numaif.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PAGE 4096L

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int count, char **argument) {
    const long pages = (count > 1 ? atol(argument[1]) : 1) * 256;
    const double until = seconds() + (count > 2 ? atof(argument[2]) : 0);
    unsigned char *data = aligned_alloc(PAGE, (size_t)(pages * PAGE));
    if (!data)
        return 1;
    for (long i = 0; i < pages * PAGE; i += 64)
        data[i] = 1;
    long sum = 0;
    do {
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (long p = 0; p < pages; p++)
            for (long i = 0; i < PAGE; i += 64)
                sum += data[p * PAGE + i];
    } while (seconds() < until);
    long on[64] = {0}, elsewhere = 0;
    for (long p = 0; p < pages; p++) {
        void *page = data + p * PAGE;
        int node = -1;
        move_pages(0, 1, &page, NULL, &node, 0);
        if (node >= 0 && node < 64)
            on[node]++;
        else
            elsewhere++;
    }
    for (int n = 0; n < 64; n++)
        if (on[n])
            printf("%d:%ld ", n, on[n]);
    printf("nowhere:%ld\n", elsewhere);
    free(data);
    return sum > 0 ? 0 : 2;
}
