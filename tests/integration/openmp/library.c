/* library.c: regions whose work is the OpenMP runtime's or the C library's, by name of the first argument;
 * the second is how much. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS 1000

static volatile uint64_t sink;

/* A loop of no work: all that happens is the runtime's. */
static void empty(int n) {
    for (int turn = 0; turn < 3; turn++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < n; i++)
            __asm__ volatile("");
    }
}

static int ascending(const void *a, const void *b) {
    const int one = *(const int *)a, other = *(const int *)b;
    return (one > other) - (one < other);
}

/* n keys, by a function that the C library calls. */
static void sort(int n) {
    for (int turn = 0; turn < 3; turn++) {
#pragma omp parallel
        {
            int keys[KEYS];
            for (int i = 0; i < n; i++)
                keys[i] = (i * 7919) % n;
            qsort(keys, (size_t)n, sizeof *keys, ascending);
            sink = (uint64_t)keys[0];
        }
    }
}

/* n blocks a thread. */
static void allocate(int n) {
    for (int turn = 0; turn < 3; turn++) {
#pragma omp parallel
        for (int i = 0; i < n; i++) {
            void *volatile block = malloc(100 + (size_t)i % 50);
            free(block);
        }
    }
}

/* n times 64 KB a thread, each after the runtime has called the C library for itself. */
static void fill(int n) {
    static char all[64][65536];
    for (int turn = 0; turn < 3; turn++) {
#pragma omp parallel
        for (int i = 0; i < n; i++) {
            sink = omp_get_wtime() > 0;
            char *mine = all[omp_get_thread_num()];
            memset(mine, i, sizeof all[0]);
            __asm__ volatile("" : : "r"(mine) : "memory");
        }
    }
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(int);
    } kernels[] = {{"empty", empty}, {"sort", sort}, {"allocate", allocate}, {"fill", fill}};
    for (size_t k = 0; count > 2 && k < sizeof kernels / sizeof *kernels; k++)
        if (strcmp(arguments[1], kernels[k].name) == 0)
            kernels[k].run(atoi(arguments[2]));
    return 0;
}
