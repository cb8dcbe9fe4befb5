/* Arrays of different sizes, by which a trace tells them apart, used in one of three ways: stream, table or
 * columns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT 131072l /* elements: 1 MiB */

static void fill(double *array, long count) {
    if (!array)
        exit(1);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < count; i++)
        array[i] = 0.5 * (double)i;
}

static void fill_alone(double *array, long count) {
    if (!array)
        exit(1);
    for (long i = 0; i < count; i++)
        array[i] = 0.5 * (double)i;
}

static void stream(long steps) {
    double *often = malloc((size_t)(4 * UNIT) * sizeof *often);
    fill(often, 4 * UNIT);
    double *once = malloc((size_t)(4 * UNIT + 1024) * sizeof *once);
    fill(once, 4 * UNIT + 1024);
    double *wrong = malloc((size_t)(4 * UNIT + 2048) * sizeof *wrong);
    fill_alone(wrong, 4 * UNIT + 2048);
    while (steps-- > 0) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < 4 * UNIT; i++)
            often[i] += wrong[i];
#pragma omp parallel for schedule(static)
        for (long i = 0; i < 4 * UNIT; i++)
            often[i] += 1e-9 * once[i];
    }
    printf("%f\n", often[UNIT]);
}

static void table(long steps) {
    double *out = malloc((size_t)(8 * UNIT) * sizeof *out);
    fill(out, 8 * UNIT);
    double *looked_up = malloc((size_t)(8 * UNIT + 4096) * sizeof *looked_up);
    fill_alone(looked_up, 8 * UNIT + 4096);
    while (steps-- > 0) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < 8 * UNIT; i++)
            out[i] += looked_up[(unsigned long)i * 2654435761ul / 64 % (8 * UNIT)];
    }
    printf("%f\n", out[UNIT]);
}

static void columns(long steps) {
    const long rows = 64, width = 32768;
    double *matrix = malloc((size_t)(rows * width) * sizeof *matrix);
    fill(matrix, rows * width);
    double *sums = malloc((size_t)(width) * sizeof *sums);
    fill(sums, width);
    double *right = malloc((size_t)(rows * width + 2048) * sizeof *right);
    fill(right, rows * width + 2048);
    while (steps-- > 0) {
#pragma omp parallel for schedule(static)
        for (long column = 0; column < width; column++)
            for (long row = 0; row < rows; row++)
                sums[column] += matrix[row * width + column];
#pragma omp parallel for schedule(static)
        for (long i = 0; i < rows * width; i++)
            right[i] *= 1.0001;
    }
    printf("%f\n", sums[7] + right[7]);
}

int main(int count, char **words) {
    const long steps = count > 2 ? atol(words[2]) : 6;
    if (count > 1 && !strcmp(words[1], "table"))
        table(steps);
    else if (count > 1 && !strcmp(words[1], "columns"))
        columns(steps);
    else
        stream(steps);
    return 0;
}
