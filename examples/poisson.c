/* poisson.c: a small application: the potential of charges in a box, by the method of conjugate gradients.
 *
 *     gcc -g -O2 -fopenmp -o poisson poisson.c -lm
 *     ./poisson [CELLS_A_SIDE [MOST_STEPS]]
 *
 * The matrix of the 3-D Laplace operator is stored by rows (CSR), as solvers of any mesh store it. One thread
 * reads the "mesh" and builds the matrix; the vectors are filled by all threads. Each step has five parallel
 * regions: a sparse matrix times a vector, two dot products, two updates. What there is to gain is in the
 * matrix, which lies on one node.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct matrix {
    long rows;
    long *start;
    int *column;
    double *value;
};

static void *allocated(size_t count, size_t bytes) {
    void *memory = malloc(count * bytes);
    if (!memory) {
        fprintf(stderr, "poisson: out of memory\n");
        exit(1);
    }
    return memory;
}

/* Six neighbours of each cell; what lies outside the box is at potential 0. */
static struct matrix laplace(long n) {
    struct matrix a = {n * n * n, NULL, NULL, NULL};
    a.start = allocated((size_t)a.rows + 1, sizeof *a.start);
    a.column = allocated((size_t)a.rows * 7, sizeof *a.column);
    a.value = allocated((size_t)a.rows * 7, sizeof *a.value);
    const long step[6] = {-n * n, -n, -1, 1, n, n * n};
    long at = 0;
    for (long row = 0; row < a.rows; row++) {
        const long x = row % n, y = row / n % n, z = row / n / n;
        const int inside[6] = {z > 0, y > 0, x > 0, x < n - 1, y < n - 1, z < n - 1};
        a.start[row] = at;
        for (int side = 0; side < 6; side++)
            if (inside[side]) {
                a.column[at] = (int)(row + step[side]);
                a.value[at++] = -1;
            }
        a.column[at] = (int)row;
        a.value[at++] = 6;
    }
    a.start[a.rows] = at;
    return a;
}

static void multiply(const struct matrix *a, const double *x, double *y) {
#pragma omp parallel for schedule(static)
    for (long row = 0; row < a->rows; row++) {
        double sum = 0;
        for (long k = a->start[row]; k < a->start[row + 1]; k++)
            sum += a->value[k] * x[a->column[k]];
        y[row] = sum;
    }
}

static double dot(long n, const double *x, const double *y) {
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* y = x + factor y */
static void scale_and_add(long n, double factor, const double *x, double *y) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        y[i] = x[i] + factor * y[i];
}

/* Advance the solution and the residual along the direction. */
static void advance(long n, double length, const double *direction, const double *image, double *x,
                    double *r) {
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++) {
        x[i] += length * direction[i];
        r[i] -= length * image[i];
    }
}

int main(int count, char **arguments) {
    const long n = count > 1 ? strtol(arguments[1], NULL, 10) : 48;
    const int most = count > 2 ? atoi(arguments[2]) : 40;
    if (n < 2 || n > 400 || most < 1) {
        fprintf(stderr, "usage: poisson [CELLS_A_SIDE [MOST_STEPS]], 2 to 400 cells and at least 1 step\n");
        return 2;
    }
    const struct matrix a = laplace(n);
    const size_t rows = (size_t)a.rows;
    double *x = allocated(rows, sizeof *x), *r = allocated(rows, sizeof *r);
    double *direction = allocated(rows, sizeof *direction), *image = allocated(rows, sizeof *image);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < a.rows; i++) {
        x[i] = image[i] = 0;
        r[i] = direction[i] = i == a.rows / 3 ? 1 : i == 2 * a.rows / 3 ? -1 : 0;
    }
    const double first = dot(a.rows, r, r);
    double left = first;
    int step = 0;
    while (step < most && left > 1e-16 * first) {
        multiply(&a, direction, image);
        advance(a.rows, left / dot(a.rows, direction, image), direction, image, x, r);
        const double now = dot(a.rows, r, r);
        scale_and_add(a.rows, now / left, r, direction);
        left = now;
        step++;
    }
    printf("poisson n=%ld steps=%d residual=%.3e energy=%.6f\n", n, step, sqrt(left / first),
           x[a.rows / 3] - x[2 * a.rows / 3]);
    free(a.start);
    free(a.column);
    free(a.value);
    free(x);
    free(r);
    free(direction);
    free(image);
    return 0;
}
