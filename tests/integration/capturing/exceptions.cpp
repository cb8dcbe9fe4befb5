// Regions that throw and catch, with vectors and a static initialiser, as C++ programs have them.
#include <cstdio>
#include <stdexcept>
#include <vector>

static std::vector<double> values(1 << 18, 1.0);

static double checked(double value) {
    if (value < 0)
        throw std::runtime_error("negative");
    return value;
}

int main() {
    long caught = 0;
    for (int step = 0; step < 12; step++) {
#pragma omp parallel for reduction(+ : caught)
        for (long i = 0; i < static_cast<long>(values.size()); i++) {
            try {
                values[i] += checked(i % 4096 == 0 ? -1.0 : 0.5 / (1 + values[i] * values[i]));
            } catch (const std::runtime_error &) {
                caught++;
            }
        }
    }
    double sum = 0;
    for (double value : values)
        sum += value;
    std::printf("%.6f %ld\n", sum, caught);
    return 0;
}
