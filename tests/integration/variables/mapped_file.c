/* A file, the program's argument, is mapped in line 13, and every thread reads all of it. */
#include "seconds.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int count, char **word) {
    struct stat about;
    const int file = open(count > 1 ? word[1] : "", O_RDONLY);
    if (fstat(file, &about) != 0)
        return 1;
    const unsigned char *weights = mmap(NULL, about.st_size, PROT_READ, MAP_SHARED, file, 0);
    const double end_s = omp_get_wtime() + seconds();
    long sum = 0;
    if (weights == MAP_FAILED)
        return 1;
    while (omp_get_wtime() < end_s) {
#pragma omp parallel reduction(+ : sum)
        for (long i = 0; i < about.st_size; i += 64)
            sum += weights[i];
    }
    printf("%ld\n", sum);
    return 0;
}
