/* Cycles over grids of different sizes, as a multigrid solver does them: one function, and so one region,
 * smooths all of them.
 *
 * Arguments: kind, points of the largest grid, cycles. Kinds: "levels", four grids, each with an eighth of
 * the points of the one above; "alike", four equal grids; "single", four equal grids, each smoothed by
 * whichever thread comes first; "smooth", grids of sizes that go up and down without a gap. The main thread
 * fills all grids. Prints a check sum.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 4, SIZES = 38 };

struct grid {
    long points;
    double *from, *to;
};

__attribute__((noinline)) static void relax(struct grid *g) {
    const double *from = g->from;
    double *to = g->to;
#pragma omp parallel for schedule(static)
    for (long n = 1; n < g->points - 1; n++)
        to[n] = 0.25 * from[n - 1] + 0.5 * from[n] + 0.25 * from[n + 1];
    g->from = to;
    g->to = (double *)from;
}

__attribute__((noinline)) static void relax_by_one(struct grid *g) {
    const double *from = g->from;
    double *to = g->to;
#pragma omp parallel
#pragma omp single
    for (long n = 1; n < g->points - 1; n++)
        to[n] = 0.25 * from[n - 1] + 0.5 * from[n] + 0.25 * from[n + 1];
    g->from = to;
    g->to = (double *)from;
}

static void fill(struct grid *g, long points) {
    g->points = points;
    g->from = malloc((size_t)points * sizeof *g->from);
    g->to = malloc((size_t)points * sizeof *g->to);
    if (!g->from || !g->to)
        exit(1);
    for (long n = 0; n < points; n++)
        g->from[n] = g->to[n] = (double)(n % 7);
}

int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "levels";
    const long points = argc > 2 ? atol(argv[2]) : 1 << 16;
    const int cycles = argc > 3 ? atoi(argv[3]) : 10;
    struct grid grids[LEVELS];
    for (int level = 0; level < LEVELS; level++)
        fill(&grids[level], strcmp(kind, "levels") == 0 ? points >> (3 * level) : points);
    for (int cycle = 0, n = 0; cycle < cycles; cycle++) {
        for (int level = 0; level < LEVELS; level++, n++) {
            if (strcmp(kind, "smooth") == 0) /* from a tenth of the points to all of them, and back */
                grids[level].points =
                    points / 10 + points * 9 / 10 * labs(n % SIZES - SIZES / 2) / (SIZES / 2);
            (strcmp(kind, "single") ? relax : relax_by_one)(&grids[level]);
        }
        for (int level = LEVELS - 2; level > 0; level--)
            (strcmp(kind, "single") ? relax : relax_by_one)(&grids[level]);
    }
    double sum = 0;
    for (int level = 0; level < LEVELS; level++)
        for (long n = 0; n < grids[level].points; n++)
            sum += grids[level].from[n];
    printf("%.6g\n", sum);
    return 0;
}
