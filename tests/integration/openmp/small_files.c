/* small_files.c: allows itself no file that grows, then runs a parallel region. */
#include <stdio.h>
#include <sys/resource.h>

int main(void) {
    const struct rlimit none = {0, 0};
    double sum = 0;
    setrlimit(RLIMIT_FSIZE, &none);
#pragma omp parallel for reduction(+ : sum)
    for (int n = 0; n < 1000000; n++)
        sum += n;
    return sum < 0;
}
