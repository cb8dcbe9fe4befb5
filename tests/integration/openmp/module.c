/* A library with regions, to be loaded with dlopen: its OpenMP runtime is its own. */
#include <omp.h>

static int arrived, late;

/* The barrier is the last act of this function, so that the compiler jumps to it. */
__attribute__((noinline)) static void arrive(void) {
#pragma omp atomic
    arrived++;
#pragma omp barrier
}

__attribute__((noinline)) static void share(void) {
    arrive();
    if (arrived != omp_get_num_threads() || omp_get_thread_num() >= arrived)
#pragma omp atomic
        late++;
}

/* Return the sum of a dynamic loop, times ten, plus the threads that saw too few others. */
int run(int threads) {
    int sum = 0;
    arrived = 0;
#pragma omp parallel num_threads(threads)
    share();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 3) reduction(+ : sum)
    for (int n = 0; n < 100; n++)
        sum += n;
    return sum * 10 + late;
}
