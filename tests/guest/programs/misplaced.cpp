// misplaced.cpp: data of one of six shapes that the main thread alone touches first, or the threads that use
// it, each its own part. Then they take turns, so that two such runs differ by the place of the data alone.
// usage: misplaced SHAPE wrong|right KILOBYTES ROUNDS [ROW_KILOBYTES]
// SHAPE: array, rows, vectors (of vectors), structure (of arrays), static (at most 4 MiB), file (mapped)
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <omp.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

enum { LINE = 64 / sizeof(double), MOST = (4 << 20) / sizeof(double) };

static double fixed_size[MOST];

// Calls `part` with the ends of each thread's share of `count`, by the main thread or by each in its turn.
template <class Part> static void in_parts(bool right, long count, Part part) {
    const int parts = omp_get_max_threads();
    if (!right) {
        for (int n = 0; n < parts; n++)
            part(count * n / parts, count * (n + 1) / parts);
        return;
    }
#pragma omp parallel for ordered schedule(static, 1)
    for (int n = 0; n < parts; n++) {
#pragma omp ordered
        part(count * n / parts, count * (n + 1) / parts);
    }
}

static double of_array(const double *data, long doubles, int rounds) {
    double sum = 0;
    for (int round = 0; round < rounds; round++) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (long n = 0; n < doubles; n += LINE)
            sum += data[n];
    }
    return sum;
}

template <class Rows> static double of_rows(const Rows &data, long rows, long columns, int rounds) {
    double sum = 0;
    for (int round = 0; round < rounds; round++) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (long row = 0; row < rows; row++)
            for (long n = 0; n < columns; n += LINE)
                sum += data[row][n];
    }
    return sum;
}

static double array(bool right, long doubles, int rounds) {
    double *field = static_cast<double *>(malloc(doubles * sizeof *field));
    in_parts(right, doubles, [=](long from, long to) {
        for (long n = from; n < to; n++)
            field[n] = 1;
    });
    return of_array(field, doubles, rounds);
}

static double rows(bool right, long doubles, int rounds, long columns) {
    const long count = doubles / columns;
    double **row = static_cast<double **>(malloc(count * sizeof *row));
    in_parts(right, count, [=](long from, long to) {
        for (long one = from; one < to; one++) {
            row[one] = static_cast<double *>(malloc(columns * sizeof **row));
            for (long n = 0; n < columns; n++)
                row[one][n] = 1;
        }
    });
    return of_rows(row, count, columns, rounds);
}

static double vectors(bool right, long doubles, int rounds, long columns) {
    const long count = doubles / columns;
    std::vector<std::vector<double>> grid(count);
    in_parts(right, count, [&](long from, long to) {
        for (long one = from; one < to; one++)
            grid[one] = std::vector<double>(columns, 1.0);
    });
    return of_rows(grid, count, columns, rounds);
}

struct particles {
    double *place, *speed, *mass;
};

static double structure(bool right, long doubles, int rounds) {
    const long count = doubles / 3;
    particles all;
    all.place = static_cast<double *>(malloc(count * sizeof(double)));
    all.speed = static_cast<double *>(malloc(count * sizeof(double)));
    all.mass = static_cast<double *>(malloc(count * sizeof(double)));
    in_parts(right, count, [=](long from, long to) {
        for (long n = from; n < to; n++)
            all.place[n] = all.speed[n] = all.mass[n] = 1;
    });
    double sum = 0;
    for (int round = 0; round < rounds; round++) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (long n = 0; n < count; n += LINE)
            sum += all.place[n] * all.speed[n] * all.mass[n];
    }
    return sum;
}

static double in_static(bool right, long doubles, int rounds) {
    in_parts(right, doubles, [](long from, long to) {
        for (long n = from; n < to; n++)
            fixed_size[n] = 1;
    });
    return of_array(fixed_size, doubles, rounds);
}

// The file is a new one: its pages come to the node of the thread that reads them first, and stay there.
static double file(bool right, long doubles, int rounds) {
    const std::string path = "misplaced-" + std::to_string(getpid());
    const size_t bytes = doubles * sizeof(double);
    const int made = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (made < 0 || ftruncate(made, static_cast<off_t>(bytes)) != 0)
        return -1;
    const void *mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, made, 0);
    unlink(path.c_str());
    if (mapped == MAP_FAILED)
        return -1;
    const volatile double *weights = static_cast<const volatile double *>(mapped);
    in_parts(right, doubles, [=](long from, long to) {
        for (long n = from; n < to; n += LINE)
            (void)weights[n];
    });
    return of_array(static_cast<const double *>(mapped), doubles, rounds);
}

int main(int count, char **word) {
    if (count < 5)
        return 2;
    const std::string shape = word[1];
    const bool right = std::strcmp(word[2], "right") == 0;
    const long doubles = atol(word[3]) * 1024 / static_cast<long>(sizeof(double));
    const int rounds = atoi(word[4]);
    const long columns = (count > 5 ? atol(word[5]) : 96) * 1024 / static_cast<long>(sizeof(double));
    const double sum = shape == "array"                             ? array(right, doubles, rounds)
                       : shape == "rows"                            ? rows(right, doubles, rounds, columns)
                       : shape == "vectors"                         ? vectors(right, doubles, rounds, columns)
                       : shape == "structure"                       ? structure(right, doubles, rounds)
                       : shape == "static" && doubles <= long(MOST) ? in_static(right, doubles, rounds)
                       : shape == "file"                            ? file(right, doubles, rounds)
                                                                    : -1;
    std::printf("%.0f\n", sum);
    return sum < 0 ? 2 : 0;
}
