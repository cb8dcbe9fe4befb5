// A matrix of 1,024 rows of 16 KiB, vectors that the main thread fills, line 9, used in blocks of rows.
#include <cstdio>
#include <omp.h>
#include <vector>

int main() {
    const long rows = 1024, columns = 2048;
    std::vector<double> right(rows * columns);
    std::vector<std::vector<double>> matrix(rows, std::vector<double>(columns, 0.5));
#pragma omp parallel for schedule(static)
    for (long i = 0; i < rows * columns; i++)
        right[i] = 1;
    const double end_s = omp_get_wtime() + 0.7;
    for (int step = 0; omp_get_wtime() < end_s; step++) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < rows; i++)
            for (long j = 0; j < columns; j++)
                matrix[i][j] += right[i * columns + j];
    }
    std::printf("%f\n", matrix[rows / 2][7]);
    return 0;
}
