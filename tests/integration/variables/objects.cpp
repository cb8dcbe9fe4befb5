/* Two objects of a class that allocates in its constructor; line 21 initialises one of them by one thread. */
#include <cstdio>
#include <omp.h>

static const long N = 1l << 19;

struct Field {
    double *cells;
    explicit Field(long n) : cells(new double[n]) {}
    Field(const Field &) = delete;
    ~Field() { delete[] cells; }
};

int main() {
    Field right(N), spare(N);
    Field wrong(N);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < N; i++)
        right.cells[i] = spare.cells[i] = 1;
    for (long i = 0; i < N; i++)
        wrong.cells[i] = 1;
    const double end_s = omp_get_wtime() + 0.7;
    while (omp_get_wtime() < end_s) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < N; i++)
            right.cells[i] += wrong.cells[i] + spare.cells[i];
    }
    std::printf("%f\n", right.cells[N / 2]);
}
