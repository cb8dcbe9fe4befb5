/* grown.c: a program whose array is a mapping of its own that grows (mremap) after all threads have used it.
 *
 * usage: grown PAGES. Page p of P of the array belongs to thread p * T / P, whatever P is at the time: PAGES
 * at first, and four times that in the end. It prints a checksum that does not depend on the number of
 * threads. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096

static long use(unsigned char *array, long pages) {
    long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long page = 0; page < pages; page++)
        for (long i = 0; i < PAGE; i += 64)
            sum += ++array[page * PAGE + i];
    return sum;
}

int main(int count, char **argument) {
    const long most = 4 * (count > 1 ? atol(argument[1]) : 64);
    long sum = 0, pages = most / 4;
    unsigned char *array =
        mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (array == MAP_FAILED)
        return 1;
    for (;; pages *= 2) {
        for (int again = 0; again < 4; again++)
            sum += use(array, pages);
        if (pages == most)
            break;
        array = mremap(array, (size_t)pages * PAGE, (size_t)pages * 2 * PAGE, MREMAP_MAYMOVE);
        if (array == MAP_FAILED)
            return 2;
    }
    printf("%ld\n", sum);
    return 0;
}
