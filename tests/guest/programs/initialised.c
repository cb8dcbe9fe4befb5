/* initialised.c: an array that one thread or all threads initialise, and all read; the seconds of each
 * reading, and with `pages` at the end how many of its pages are on which node, by the kernel's answer.
 * usage: initialised serial|parallel KILOBYTES ROUNDS [pages] */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STEP = 64 / sizeof(long) /* a line */, PAGE = 4096 / sizeof(long), NODES = 64 };

static void say_nodes(long *data, long longs) {
    long on[NODES] = {0};
    for (long n = 0; n < longs; n += PAGE) {
        void *page = data + n;
        int node = -1;
        if (syscall(SYS_move_pages, 0, 1ul, &page, NULL, &node, 0) == 0 && node >= 0 && node < NODES)
            on[node]++;
    }
    printf("pages");
    for (int node = 0; node < NODES; node++)
        if (on[node])
            printf(" %d:%ld", node, on[node]);
    printf("\n");
}

int main(int count, char **arguments) {
    const int parallel = count >= 4 && strcmp(arguments[1], "parallel") == 0;
    const long longs = count >= 4 ? atol(arguments[2]) * 1024 / (long)sizeof(long) : 0;
    const int rounds = count >= 4 ? atoi(arguments[3]) : 0;
    long *data = longs > 0 ? aligned_alloc(4096, (size_t)longs * sizeof *data) : NULL;
    if (!data)
        return 2;
    long sum = 0;
#pragma omp parallel for schedule(static) if (parallel)
    for (long n = 0; n < longs; n += STEP)
        data[n] = n;
    for (int round = 0; round < rounds; round++) {
        const double began_s = omp_get_wtime();
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (long n = 0; n < longs; n += STEP)
            sum += data[n];
        printf("%.6f\n", omp_get_wtime() - began_s);
    }
    if (count == 5 && strcmp(arguments[4], "pages") == 0)
        say_nodes(data, longs);
    free(data);
    return sum < 0;
}
