/* adapting.c: programs with steps, whose data one thread initialised; the seconds of each step, and at the
 * end a sum. usage: adapting stencil|cg|multigrid|short|phases SIZE STEPS */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *a, *b;
static long *column;
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

int main(int count, char **arguments) {
    const char *kind = count == 4 ? arguments[1] : "";
    side = rows = count == 4 ? atol(arguments[2]) : 0;
    const int steps = count == 4 ? atoi(arguments[3]) : 0, sparse = strcmp(kind, "cg") == 0;
    const long cells = sparse ? rows : side * side;
    if (side < 16)
        return 2;
    a = aligned_alloc(4096, (size_t)(cells + 512) / 512 * 4096);
    b = aligned_alloc(4096, (size_t)(cells + 512) / 512 * 4096);
    column = aligned_alloc(4096, (size_t)(rows * 8 + 512) / 512 * 4096);
    if (!a || !b || !column)
        return 2;
    unsigned long seed = 1;
    for (long n = 0; n < cells; n++)
        a[n] = b[n] = (double)(n % 97);
    for (long n = 0; n < rows * 8; n++) {
        seed = seed * 6364136223846793005ul + 1442695040888963407ul;
        const long near = n / 8 + (long)(seed >> 33) % 65 - 32;
        column[n] = near < 0 ? 0 : near >= rows ? rows - 1 : near;
    }
    double sum = 0;
    for (int step = 0; step < steps; step++) {
        const double began_s = omp_get_wtime();
        if (sparse)
            sum += cg();
        else if (strcmp(kind, "multigrid") == 0)
            multigrid();
        else if (strcmp(kind, "phases") == 0 && step >= steps / 2)
            for (int n = 0; n < 3; n++)
                smooth(side / 2, b, a);
        else
            stencil();
        printf("%.6f\n", omp_get_wtime() - began_s);
    }
    for (long n = 0; n < cells; n++)
        sum += a[n];
    printf("sum %.6f\n", sum);
    return 0;
}
