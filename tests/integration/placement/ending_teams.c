/* ending_teams.c: nested teams of many sizes, whose threads libgomp ends and starts again, with blocks on the
 * heap meanwhile. usage: ending_teams ROUNDS */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { KB = 1024, LARGEST = 400, PAGE = 4096 };

static long used(unsigned *seed) {
    const size_t bytes = (size_t)(rand_r(seed) % LARGEST + 1) * KB;
    unsigned char *block = malloc(bytes);
    long sum = 0;
    if (!block)
        return 0;
    for (size_t at = 0; at < bytes; at += PAGE)
        block[at] = 1;
#pragma omp parallel num_threads(1 + (int)(bytes / KB % 4)) reduction(+ : sum)
    for (size_t at = (size_t)omp_get_thread_num() * PAGE; at < bytes;
         at += (size_t)omp_get_num_threads() * PAGE)
        sum += block[at];
    if (rand_r(seed) % 4 == 0) {
        unsigned char *larger = realloc(block, 2 * bytes);
        block = larger ? larger : block;
    }
    free(block);
    return sum;
}

int main(int count, char **words) {
    const int rounds = count > 1 ? atoi(words[1]) : 0;
    long sum = 0;
    unsigned own = 1;
    omp_set_max_active_levels(3);
    for (int round = 0; round < rounds; round++) {
        sum += used(&own);
#pragma omp parallel num_threads(1 + round % 5) reduction(+ : sum)
        {
            unsigned seed = (unsigned)(round * 100 + omp_get_thread_num());
            for (int n = 0; n < 5; n++)
                sum += used(&seed);
        }
    }
    printf("%ld\n", sum);
    return 0;
}
