/* adapting.c: programs with steps, whose data one thread initialised; the seconds of each step's parts, and
 * at the end a sum. usage: adapting KIND SIZE STEPS
 *
 * KIND names the parts of a step, joined by `+`: stencil, multigrid, cg, gather (each thread reads all data),
 * shared (all threads write the same lines), levels (regions of a few microseconds); or it is phases
 * (stencil, then another one), or `home` (stencil, initialised by the threads that use it) or `compute` (no
 * memory), which no mapping makes faster. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *a, *b, *c;
static long *column, *anywhere, lines[64];
static long side, rows;

static void smooth(long n, double *to, const double *from) {
#pragma omp parallel for schedule(static)
    for (long y = 1; y < n - 1; y++)
        for (long x = 1; x < n - 1; x++)
            to[y * n + x] = 0.25 * (from[y * n + x - 1] + from[y * n + x + 1] + from[(y - 1) * n + x] +
                                    from[(y + 1) * n + x]);
}

static void stencil(void) {
    smooth(side, b, a);
    smooth(side, a, b);
}

/* One region, whose instances are the levels. */
static void multigrid(void) {
    for (long n = side; n >= side / 8; n /= 2)
        smooth(n, b, a);
    for (long n = side / 8; n <= side; n *= 2)
        smooth(n, a, b);
}

static void levels(void) {
    for (int n = 0; n < 6; n++)
        smooth(16, n % 2 ? a : b, n % 2 ? b : a);
}

static double cg(void) {
    double dot = 0;
#pragma omp parallel for schedule(static)
    for (long r = 0; r < rows; r++) {
        double sum = 0;
        for (int n = 0; n < 8; n++)
            sum += a[column[r * 8 + n]];
        b[r] = sum / 8;
    }
#pragma omp parallel for schedule(static) reduction(+ : dot)
    for (long r = 0; r < rows; r++)
        dot += a[r] * b[r];
#pragma omp parallel for schedule(static)
    for (long r = 0; r < rows; r++)
        a[r] = 0.5 * (a[r] + b[r]);
    return dot;
}

static double gather(void) {
    double all = 0;
#pragma omp parallel for schedule(static) reduction(+ : all)
    for (long r = 0; r < rows; r++)
        all += c[anywhere[r]];
    return all;
}

/* What the counts are does not matter, so they may be lost. */
static void shared(void) {
#pragma omp parallel for schedule(static)
    for (long n = 0; n < rows / 2; n++) {
        volatile long *line = &lines[n % 8 * 8];
        *line = *line + 1;
    }
}

static double compute(void) {
    double all = 0;
#pragma omp parallel for schedule(static) reduction(+ : all)
    for (long r = 0; r < rows; r++)
        for (int n = 1; n < 40; n++)
            all += 1.0 / (double)(r + n);
    return all;
}

static int has(const char *kind, const char *part) { return strstr(kind, part) != NULL; }

/* Add what a part takes to the step's line. */
static void timed(double *from_s) {
    const double now_s = omp_get_wtime();
    printf(" %.6f", now_s - *from_s);
    *from_s = now_s;
}

static double step(const char *kind, int late) {
    double sum = 0, from_s = omp_get_wtime();
    if (late)
        for (int n = 0; n < 3; n++)
            smooth(side / 2, b, a);
    else if (has(kind, "stencil") || has(kind, "phases") || has(kind, "home"))
        stencil();
    timed(&from_s);
    if (has(kind, "multigrid"))
        multigrid();
    if (has(kind, "cg"))
        sum += cg();
    timed(&from_s);
    if (has(kind, "gather"))
        sum += gather();
    timed(&from_s);
    if (has(kind, "shared"))
        shared();
    timed(&from_s);
    if (has(kind, "levels"))
        levels();
    timed(&from_s);
    if (has(kind, "compute"))
        sum += compute();
    timed(&from_s);
    return sum;
}

int main(int count, char **arguments) {
    const char *kind = count == 4 ? arguments[1] : "";
    side = count == 4 ? atol(arguments[2]) : 0;
    const int steps = count == 4 ? atoi(arguments[3]) : 0;
    if (side < 16)
        return 2;
    const long cells = side * side;
    rows = cells / 8;
    const size_t bytes = (size_t)(cells + 512) / 512 * 4096;
    a = aligned_alloc(4096, bytes);
    b = aligned_alloc(4096, bytes);
    c = aligned_alloc(4096, bytes);
    column = aligned_alloc(4096, bytes);
    anywhere = aligned_alloc(4096, (size_t)(rows + 512) / 512 * 4096);
    if (!a || !b || !c || !column || !anywhere)
        return 2;
#pragma omp parallel for schedule(static) if (has(kind, "home"))
    for (long n = 0; n < cells; n++)
        a[n] = b[n] = c[n] = (double)(n % 97);
    unsigned long seed = 1;
    for (long n = 0; n < rows * 8; n++) {
        seed = seed * 6364136223846793005ul + 1442695040888963407ul;
        const long near = n / 8 + (long)(seed >> 33) % 65 - 32;
        column[n] = near < 0 ? 0 : near >= rows ? rows - 1 : near;
        anywhere[n / 8] = (long)(seed >> 33) % cells;
    }
    double sum = 0;
    for (int n = 0; n < steps; n++) {
        sum += step(kind, has(kind, "phases") && n >= steps / 2);
        puts("");
    }
    for (long n = 0; n < cells; n++)
        sum += a[n];
    printf("sum %.6f\n", sum);
    return 0;
}
