/* static_arrays.c: three static arrays, first touched by the threads that use them. Page p of P of each array
 * belongs to thread p * T / P. */
#include "arrays.h"

#ifndef LENGTH
#define LENGTH 65536L /* 512 KB an array */
#endif
#ifndef ALIGNMENT
#define ALIGNMENT 32 /* with ARRAY_PAGE no page is shared by two arrays */
#endif
static _Alignas(ALIGNMENT) double a[LENGTH], b[LENGTH], c[LENGTH];
static _Alignas(ALIGNMENT) double filled[LENGTH] = {1}; /* in .data, so the file has its pages */

int main(void) {
    say_array("a", a, sizeof a);
    say_array("b", b, sizeof b);
    say_array("c", c, sizeof c);
    say_array("filled", filled, sizeof filled);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < LENGTH; i++) {
        a[i] = (double)(i % 9);
        b[i] = (double)(i % 4);
        filled[i] += 1;
    }
    for (int n = 0; n < 3; n++) {
#pragma omp parallel for schedule(static)
        for (long i = 0; i < LENGTH; i++)
            c[i] = a[i] + 3 * b[i] + filled[i] + (double)n;
    }
    long long sum = 0;
    for (long i = 0; i < LENGTH; i++)
        sum += (long long)c[i];
    printf("%lld\n", sum);
    say_nodes("a", a, sizeof a);
    say_nodes("b", b, sizeof b);
    say_nodes("c", c, sizeof c);
    say_nodes("filled", filled, sizeof filled);
    return 0;
}
