/* repeated.c: one instruction that stores, and one that moves, so many bytes; a region each, three times. */
#include <stdlib.h>

int main(int count, char **arguments) {
    const size_t n = count > 1 ? strtoul(arguments[1], NULL, 10) : 4096;
    char *from = aligned_alloc(4096, n), *to = aligned_alloc(4096, n);
    if (!from || !to)
        return 1;
    for (int turn = 1; turn <= 3; turn++) {
#pragma omp parallel num_threads(1)
        {
            void *at = from;
            size_t left = n;
            __asm__ volatile("rep stosb" : "+D"(at), "+c"(left) : "a"(turn) : "memory");
        }
#pragma omp parallel num_threads(1)
        {
            void *at = to;
            const void *source = from;
            size_t left = n;
            __asm__ volatile("rep movsb" : "+D"(at), "+S"(source), "+c"(left) : : "memory");
        }
    }
    return to[n - 1] == 3 ? 0 : 1;
}
