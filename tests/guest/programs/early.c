/* early.c: says on which nodes the memory is that was there before main: what the constructor of its library
 * has touched, and pointers that the loader has relocated (position-independent programs). */
#include "early.h"
#include "arrays.h"

#define POINTERS (EARLY_BYTES / sizeof(int *))
static int pointed_at;
int *early_pointers[POINTERS] = {[0 ... POINTERS - 1] = &pointed_at};

int main(void) {
    long sum = 0;
    for (int again = 0; again < 3; again++) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (size_t i = 0; i < EARLY_BYTES; i += 64)
            sum += ++early_static[i] + ++early_mapped[i];
    }
    printf("%ld\n", sum);
    say_nodes("pointers", early_pointers, sizeof early_pointers);
    say_nodes("static", early_static, EARLY_BYTES);
    say_nodes("mapped", early_mapped, EARLY_BYTES);
    say_nodes("heap", early_heap, (size_t)(early_heap_end - early_heap));
    return 0;
}
