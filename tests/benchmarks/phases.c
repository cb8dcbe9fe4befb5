/* phases.c: a region that two threads share, and one whose threads take turns, in each step of a time loop.
 *
 *     phases STEPS
 *
 * Prints the seconds of the time loop but for its first steps, in which a plan leaves regions as they are. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 1 << 16, DEEP = 16, TURN = 16, FIRST = 4 };

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
        for (long i = 0; i < N; i++)
            for (int n = 0; n < DEEP; n++)
                a[i] += 1 / (1 + a[i] * a[i]);
#pragma omp parallel for ordered
        for (long i = 0; i < N; i += TURN)
#pragma omp ordered
            sum += a[i];
    }
    (void)fprintf(stderr, "%.0f\n", sum);
    printf("%.9f\n", now_s() - began_s);
    return 0;
}
