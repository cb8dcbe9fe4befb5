// solver.cpp: conjugate gradients on a square grid's five-point matrix in sparse rows, in C++ vectors: three
// kinds of region, several an iteration. A vector's constructor initialises it serially; with `parallel` the
// threads touch it first. usage: solver serial|parallel SIDE ITERATIONS
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace {

bool in_parallel;

// Leaves memory as it comes, so that whoever fills it touches it first.
template <class T> struct Untouched : std::allocator<T> {
    template <class U> struct rebind { using other = Untouched<U>; };
    template <class U> void construct(U *place) { ::new (static_cast<void *>(place)) U; }
    template <class U, class... More> void construct(U *place, More &&...more) {
        ::new (static_cast<void *>(place)) U(static_cast<More &&>(more)...);
    }
};
template <class T> using Array = std::vector<T, Untouched<T>>;

template <class T, class Value> Array<T> filled(long count, Value value) {
    Array<T> made(static_cast<std::size_t>(count));
#pragma omp parallel for schedule(static) if (in_parallel)
    for (long n = 0; n < count; n++)
        made[n] = value(n);
    return made;
}

double dot(const Array<double> &a, const Array<double> &b) {
    double sum = 0;
    const long count = static_cast<long>(a.size());
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long n = 0; n < count; n++)
        sum += a[n] * b[n];
    return sum;
}

// y = x + factor * z
void combine(Array<double> &y, const Array<double> &x, double factor, const Array<double> &z) {
    const long count = static_cast<long>(y.size());
#pragma omp parallel for schedule(static)
    for (long n = 0; n < count; n++)
        y[n] = x[n] + factor * z[n];
}

} // namespace

int main(int count, char **arguments) {
    const long side = count == 4 ? std::atol(arguments[2]) : 0;
    const int iterations = count == 4 ? std::atoi(arguments[3]) : 0;
    if (side < 2)
        return 2;
    in_parallel = std::strcmp(arguments[1], "parallel") == 0;
    const long rows = side * side;
    constexpr int WIDTH = 5;
    auto columns = filled<int>(rows * WIDTH, [&](long n) {
        const long row = n / WIDTH, steps[WIDTH] = {-side, -1, 0, 1, side}, column = row + steps[n % WIDTH];
        return static_cast<int>(column < 0 || column >= rows ? row : column);
    });
    auto values = filled<double>(rows * WIDTH, [&](long n) { return n % WIDTH == 2 ? 5.0 : -1.0; });
    auto x = filled<double>(rows, [](long) { return 0.0; });
    auto residual = filled<double>(rows, [](long n) { return static_cast<double>(n % 7); });
    auto direction = filled<double>(rows, [&](long n) { return residual[n]; });
    auto product = filled<double>(rows, [](long) { return 0.0; });
    double rest = dot(residual, residual);
    for (int iteration = 0; iteration < iterations && rest > 0; iteration++) {
#pragma omp parallel for schedule(static)
        for (long row = 0; row < rows; row++) {
            double sum = 0;
            for (long n = row * WIDTH; n < (row + 1) * WIDTH; n++)
                sum += values[n] * direction[columns[n]];
            product[row] = sum;
        }
        const double length = rest / dot(direction, product);
        combine(x, x, length, direction);
        combine(residual, residual, -length, product);
        const double next = dot(residual, residual);
        combine(direction, residual, next / rest, direction);
        rest = next;
    }
    std::printf("%.6g\n", rest);
    return 0;
}
