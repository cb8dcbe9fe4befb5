/* wide.c: one parallel region with a multiplication of AVX-512. */
#include <immintrin.h>
#include <stdio.h>

int main(void) {
    double values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
#pragma omp parallel num_threads(2)
#pragma omp single
    _mm512_storeu_pd(values, _mm512_mul_pd(_mm512_loadu_pd(values), _mm512_set1_pd(2)));
    printf("%g\n", values[7]);
    return 0;
}
