// A class holds an array from operator new; its constructor initialises it by the calling thread alone, line 14.
#include <omp.h>

#include <cstdio>

constexpr long N = 1l << 19;

class Field {
public:
    explicit Field(long count) : count(count) {
        wrong = new double[count];
        for (long i = 0; i < count; i++)
            // the first touch
            wrong[i] = 0.5;
    }
    Field(const Field &) = delete;
    Field &operator=(const Field &) = delete;
    ~Field() { delete[] wrong; }
    void add(const double *other) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < count; i++)
            wrong[i] += other[i];
    }
    double *wrong;
    long count;
};

int main() {
    Field field(N);
    double *right = new double[N];
#pragma omp parallel for schedule(static)
    for (long i = 0; i < N; i++)
        right[i] = static_cast<double>(i);
    const double end_s = omp_get_wtime() + 0.7;
    while (omp_get_wtime() < end_s)
        field.add(right);
    std::printf("%f\n", field.wrong[N / 2]);
    delete[] right;
    return 0;
}
