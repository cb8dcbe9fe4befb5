// allocate.cpp: allocates in every way that C++ knows, and says what it reads back.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

struct alignas(256) Wide {
    char bytes[256];
};

struct Throws {
    char bytes[200000];
    Throws() { throw 5; }
};

__attribute__((noinline)) static char *site(std::size_t bytes) { return new char[bytes]; }
__attribute__((noinline)) static char *other_site(std::size_t bytes) { return new char[bytes]; }
__attribute__((noinline)) static void *plain(std::size_t bytes) { return ::operator new(bytes); }
__attribute__((noinline)) static char *quiet(std::size_t bytes) { return new (std::nothrow) char[bytes]; }
__attribute__((noinline)) static Wide *wide(std::size_t count) { return new Wide[count]; }
__attribute__((noinline)) static Wide *wide_and_quiet(std::size_t count) { return new (std::nothrow) Wide[count]; }

static void refused() {
    volatile std::size_t absurd = std::size_t(1) << 62;
    for (int i = 0; i < 3; i++) {
        try {
            site(absurd);
            std::puts("not refused");
        } catch (const std::bad_alloc &error) {
            std::printf("refused: %s\n", error.what());
        }
    }
    std::printf("quietly: %d\n", quiet(absurd) != nullptr);
    std::set_new_handler([] { throw 4; });
    try {
        plain(absurd);
    } catch (int number) {
        std::printf("handler: %d\n", number);
    }
    std::set_new_handler(nullptr);
    try {
        delete new Throws;
    } catch (int number) {
        std::printf("constructor: %d\n", number);
    }
}

static long in_threads() {
    std::vector<std::thread> threads;
    std::vector<long> sums(8);
    for (int t = 0; t < 8; t++)
        threads.emplace_back([t, &sums] {
            for (int i = 0; i < 200; i++) {
                std::vector<long> values(20000);
                std::iota(values.begin(), values.end(), long(t));
                sums[t] += std::accumulate(values.begin(), values.end(), 0L);
            }
        });
    for (auto &thread : threads)
        thread.join();
    return std::accumulate(sums.begin(), sums.end(), 0L);
}

int main() {
    char *first = site(100000), *second = site(100000), *third = other_site(100000), *small = site(10);
    first[99999] = second[99999] = third[99999] = small[9] = 1;
    delete[] first;
    delete[] second;
    delete[] third;
    delete[] small;
    ::operator delete(plain(150000));
    delete[] quiet(100000);
    Wide *wides = wide(1000), *more = wide_and_quiet(1000);
    std::printf("aligned: %d %d\n", std::uintptr_t(wides) % 256 == 0, std::uintptr_t(more) % 256 == 0);
    wides[999].bytes[3] = more[999].bytes[3] = 3;
    delete[] wides;
    delete[] more;
    std::vector<double> vector(1 << 17, 1.5);
    vector.resize(1 << 19, 2.5);
    std::printf("vector: %g\n", std::accumulate(vector.begin(), vector.end(), 0.0));
    std::string text;
    for (int i = 0; i < 1000000; i++)
        text += char('a' + i % 26);
    std::printf("string: %zu %c\n", text.size(), text[999999]);
    auto shared = std::make_shared<Wide[]>(2000);
    shared[1999].bytes[0] = 9;
    refused();
    std::printf("threads: %ld\n", in_threads());
    return 4;
}
