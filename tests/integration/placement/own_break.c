/* own_break.c: a program with its own sbrk, which takes a lock, as UCX puts one in front of the C library's.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__curbrk; /* the C library's */

static pthread_rwlock_t events = PTHREAD_RWLOCK_INITIALIZER;
static int calls;

void *sbrk(intptr_t more) {
    void *const end = __curbrk;
    pthread_rwlock_rdlock(&events);
    calls++;
    pthread_rwlock_unlock(&events);
    return more && brk((char *)end + more) != 0 ? (void *)-1 : end;
}

int main(void) {
    enum { BLOCKS = 2000, DOUBLES = 512 };
    static double *block[BLOCKS];
    double sum = 0;
    for (int b = 0; b < BLOCKS; b++)
        block[b] = calloc(DOUBLES, sizeof **block);
    for (int round = 0; round < 5; round++) {
#pragma omp parallel for reduction(+ : sum)
        for (int b = 0; b < BLOCKS; b++)
            for (int n = 0; n < DOUBLES; n++)
                sum += block[b][n] += b;
    }
    for (int b = 0; b < BLOCKS; b++)
        free(block[b]);
    const char *const first = sbrk(4096), *const end = sbrk(0); /* it is the one that is called */
    printf("%.0f %d %d\n", sum, calls, end == first + 4096);
}
