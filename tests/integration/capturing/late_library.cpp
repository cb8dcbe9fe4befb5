// late_library.cpp: a library whose constructor starts a team that allocates, while dlopen holds the loader's
// lock. Built as a library with -DLIBRARY, else the program that opens it. usage: late_library LIBRARY
#include <cstdio>
#include <cstdlib>
#ifdef LIBRARY
namespace {
double total;

struct Constructed {
    Constructed() {
#pragma omp parallel num_threads(2) reduction(+ : total)
        {
            double *const own = new double[1 << 17];
            void *aligned = nullptr;
            own[0] = 1;
            if (posix_memalign(&aligned, 64, 1 << 20) == 0)
                own[0]++;
            total += own[0];
            std::free(aligned);
            delete[] own;
        }
        std::printf("%g\n", total);
    }
} constructed;
} // namespace
#else
#include <dlfcn.h>

int main(int, char **word) {
    std::printf("%s\n", dlopen(word[1], RTLD_NOW) ? "opened" : dlerror());
    return 26;
}
#endif
