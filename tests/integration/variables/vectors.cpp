// A vector is filled by its constructor, line 9, and used in blocks; the plain array is initialised in parallel.
#include <cstdio>
#include <omp.h>
#include <memory>
#include <vector>

int main() {
    const long n = 1l << 19;
    std::vector<double> wrong(n);
    std::unique_ptr<double[]> right(new double[n]);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        right[i] = 1;
    const double end_s = omp_get_wtime() + 0.7;
    for (int step = 0; omp_get_wtime() < end_s; step++) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < n; i++)
            right[i] += 0.5 * wrong[i];
    }
    std::printf("%f\n", right[n / 2]);
    return 0;
}
