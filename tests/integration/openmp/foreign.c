/* Programs with the shapes of foreign ones: an exit code of their own, a thread count of their own, late
 * regions.
 *
 * foreign exit CODE [LESS]  one region, then ends with CODE; with LESS threads or fewer, with 0
 * foreign call N            omp_set_num_threads(N) before its regions, as some NAS benchmarks do
 * foreign half              omp_set_num_threads of half of what is asked for
 * foreign mixed N M         three equal regions: with N threads, with M, and with as many as asked for
 * foreign clause N          num_threads(N) at its region
 * foreign both N M          a large region with N threads, a small one with M
 * foreign after N           a small region as asked for, then N threads by call
 * foreign late N            a small region, N million serial steps, then the region with nearly all of the
 * time
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOUBLES = 1 << 18 };
static double *a, *b;

static void sweep(int times, int team) {
    for (int time = 0; time < times; ++time) {
#pragma omp parallel for num_threads(team)
        for (int i = 0; i < DOUBLES; ++i)
            a[i] = 0.5 * a[i] + b[i];
    }
}

static void small(int team) {
#pragma omp parallel for num_threads(team)
    for (int i = 0; i < DOUBLES / 16; ++i)
        b[i] += 1.0;
}

static void three(int one, int other) {
    for (int time = 0; time < 40; ++time) {
#pragma omp parallel for num_threads(one)
        for (int i = 0; i < DOUBLES; ++i)
            a[i] = 0.5 * a[i] + b[i];
#pragma omp parallel for num_threads(other)
        for (int i = 0; i < DOUBLES; ++i)
            b[i] = 0.5 * b[i] + a[i];
#pragma omp parallel for
        for (int i = 0; i < DOUBLES; ++i)
            a[i] = 0.25 * a[i] + b[i];
    }
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    int number = count > 2 ? atoi(arguments[2]) : 0, other = count > 3 ? atoi(arguments[3]) : 0;
    a = malloc(sizeof *a * DOUBLES);
    b = malloc(sizeof *b * DOUBLES);
    for (int i = 0; i < DOUBLES; ++i)
        a[i] = b[i] = i;
    if (strcmp(what, "call") == 0)
        omp_set_num_threads(number);
    if (strcmp(what, "half") == 0)
        omp_set_num_threads(omp_get_max_threads() / 2);
    if (strcmp(what, "after") == 0) {
        small(omp_get_max_threads());
        omp_set_num_threads(number);
    }
    if (strcmp(what, "late") == 0) {
        small(omp_get_max_threads());
        for (volatile long step = 0; step < number * 1000000L;)
            step = step + 1;
        sweep(1000, omp_get_max_threads());
    }
    sweep(4, strcmp(what, "clause") == 0 || strcmp(what, "both") == 0 ? number : omp_get_max_threads());
    if (strcmp(what, "both") == 0)
        small(other);
    if (strcmp(what, "mixed") == 0)
        three(number, other);
    printf("%f\n", a[DOUBLES - 1]);
    return strcmp(what, "exit") == 0 && omp_get_max_threads() > other ? number : 0;
}
