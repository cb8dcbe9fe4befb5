/* phases.c: a region that two threads share, and one whose threads take turns, in each step of a time loop.
 *
 *     phases STEPS
 *
 * The shares of the first region are mostly waits, so that it scales on a busy computer, too. Prints the
 * seconds of the time loop but for its first steps, in which a plan leaves regions as they are. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SHARES = 8, WAIT_US = 2000, N = 1 << 19, FIRST = 4 };

static double a[N];

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int count, char **words) {
    const int steps = count > 1 ? atoi(words[1]) : 100;
    double sum = 0, began_s = 0;
    for (int step = 0; step < steps; step++) {
        if (step == FIRST)
            began_s = now_s();
#pragma omp parallel for
        for (int i = 0; i < SHARES; i++) {
            usleep(WAIT_US);
            a[i] += i;
        }
#pragma omp parallel for ordered schedule(static, 1)
        for (long i = 0; i < N; i += 64)
#pragma omp ordered
            sum += a[i];
    }
    (void)fprintf(stderr, "%.0f\n", sum);
    printf("%.9f\n", now_s() - began_s);
    return 0;
}
