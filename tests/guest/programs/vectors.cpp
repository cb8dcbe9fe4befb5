// vectors.cpp: std::vector and new/delete, some of it allocated by the threads inside a region, some given
// back and allocated again after the first regions.
#include "arrays.h"

#include <cstdio>
#include <memory>
#include <numeric>
#include <vector>

int main() {
    const long length = 65536;
    std::vector<double> values(length, 1.0);
    auto *other = new double[length];
    for (long i = 0; i < length; i++)
        other[i] = static_cast<double>(i % 3);
    double total = 0;
    for (int round = 0; round < 3; round++) {
        std::vector<double> later(length); // memory that is allocated after the placement
#pragma omp parallel for schedule(static)
        for (long i = 0; i < length; i++)
            later[i] = values[i] + other[i];
#pragma omp parallel for schedule(static)
        for (long i = 0; i < length; i++)
            values[i] = later[i] / 2;
        total += std::accumulate(later.begin(), later.end(), 0.0);
    }
    long long parts = 0;
#pragma omp parallel reduction(+ : parts)
    {
        std::unique_ptr<double[]> own(new double[length / 4]);
        for (long i = 0; i < length / 4; i++)
            own[i] = static_cast<double>(i % 5);
        parts += static_cast<long long>(std::accumulate(own.get(), own.get() + length / 4, 0.0)) > 0;
    }
    say_nodes("values", values.data(), values.size() * sizeof values[0]);
    say_nodes("other", other, length * sizeof *other);
    delete[] other;
    std::printf("%.0f %d\n", total, parts > 0);
    return 0;
}
