// An object whose constructor makes a member of 1,024 rows of 16 KiB in its list, line 7, used in blocks of rows.
#include <cstdio>
#include <omp.h>
#include <vector>

struct Grid {
    Grid(long n, long m) : rows(n, std::vector<double>(m, 0.5)) {}
    std::vector<std::vector<double>> rows;
};

int main() {
    const long rows = 1024, columns = 2048;
    Grid temperature(rows, columns);
    const double end_s = omp_get_wtime() + 0.7;
    while (omp_get_wtime() < end_s) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < rows; i++)
            for (long j = 0; j < columns; j++)
                temperature.rows[i][j] += 1;
    }
    std::printf("%f\n", temperature.rows[rows / 2][7]);
    return 0;
}
