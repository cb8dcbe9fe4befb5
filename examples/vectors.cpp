// vectors.cpp: a moving average over long vectors, with a first-touch fault that C++ hides.
//
//     g++ -g -O2 -fopenmp -o vectors vectors.cpp
//     ./vectors [VALUES [STEPS]]
//
// std::vector's constructor writes every element, and it runs on one thread: all pages of `prices` and
// `means` lie on that thread's node. `weights` is filled by all threads and is where it is used. `numapredict
// variables ./vectors` names the two vectors and the line; `numapredict ./vectors` says what spreading the
// pages gains.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

int main(int count, char **arguments) {
    const std::size_t values = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 4000000;
    const int steps = count > 2 ? std::atoi(arguments[2]) : 100;
    if (values < 8 || steps < 1) {
        std::fprintf(stderr, "usage: vectors [VALUES [STEPS]], at least 8 values and 1 step\n");
        return 2;
    }
    std::vector<double> prices(values, 100.0);             // one thread touches all pages here
    std::vector<double> means(values);                     // and here
    std::unique_ptr<double[]> weights(new double[values]); // nobody has touched these yet
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < values; i++)
        weights[i] = 1.0 + static_cast<double>(i % 7) / 7;

    for (int step = 0; step < steps; step++) {
#pragma omp parallel for schedule(static)
        for (std::size_t i = 2; i < values - 2; i++)
            means[i] =
                weights[i] * (prices[i - 2] + prices[i - 1] + prices[i] + prices[i + 1] + prices[i + 2]) / 5;
#pragma omp parallel for schedule(static)
        for (std::size_t i = 2; i < values - 2; i++)
            prices[i] = 0.5 * prices[i] + 0.25 * means[i] + 25.0;
    }
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::size_t i = 0; i < values; i++)
        sum += prices[i];
    std::printf("vectors values=%zu steps=%d mean=%.6f\n", values, steps, sum / static_cast<double>(values));
    return 0;
}
