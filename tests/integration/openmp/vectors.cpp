// vectors.cpp: standard vectors and exceptions in OpenMP regions.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

int main(int count, char **arguments) {
    const std::size_t n = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1000;
    std::vector<double> a(n), b(n);
#pragma omp parallel for
    for (std::size_t i = 0; i < n; i++) {
        a[i] = 1.0;
        b[i] = 2.0;
    }
    for (int turn = 0; turn < 3; turn++) {
#pragma omp parallel for
        for (std::size_t i = 0; i < n; i++)
            a[i] += b.at(i);
    }
    try {
        a.at(n) = 0;
    } catch (const std::out_of_range &) {
        std::printf("%f\n", a[n - 1]);
    }
}
