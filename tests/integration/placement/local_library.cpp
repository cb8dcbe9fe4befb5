// local_library.cpp: a C++ library for a C program that loads it by RTLD_LOCAL: its operators are in no global scope.
#include <cstdio>
#include <new>
#include <vector>

extern "C" int fill();

int fill() {
    volatile std::size_t absurd = std::size_t(1) << 62;
    std::vector<int> values(1 << 20, 3);
    for (int i = 0; i < 1000; i++) {
        std::vector<int> small(std::size_t(i) + 1, i);
        values[std::size_t(i)] += small.back();
    }
    try {
        static_cast<char *>(::operator new(absurd))[0] = 1;
    } catch (const std::bad_alloc &error) {
        std::printf("refused: %s\n", error.what());
    }
    return values[999] + values[1000];
}
