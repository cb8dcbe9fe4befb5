/* workers.c: plain threads without OpenMP, on an array that the main thread filled alone. The main thread
 * works too, as number 0, beside those that it creates.
 *
 * usage: workers THREADS PAGES. Page p of P belongs to thread p * T / P. It prints a checksum that does not
 * depend on the number of threads. */
#include "arrays.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096
#define MOST_THREADS 64

static long threads, pages;
static unsigned char *array;
static long sums[MOST_THREADS];
static pthread_barrier_t all_here; /* one that ended sooner would leave its place to the next */

static void *work(void *number) {
    const long n = (long)number;
    pthread_barrier_wait(&all_here);
    for (long page = (pages * n + threads - 1) / threads; page < (pages * (n + 1) + threads - 1) / threads;
         page++)
        for (long i = 0; i < PAGE; i += 64)
            sums[n] += array[page * PAGE + i]++;
    pthread_barrier_wait(&all_here); /* and where none is left, nobody is at work */
    return NULL;
}

int main(int count, char **argument) {
    threads = count > 1 ? atol(argument[1]) : 1;
    pages = count > 2 ? atol(argument[2]) : 64;
    array = aligned_alloc(PAGE, (size_t)pages * PAGE);
    if (!array || threads > MOST_THREADS)
        return 2;
    memset(array, 3, (size_t)pages * PAGE);
    pthread_barrier_init(&all_here, NULL, (unsigned)threads);
    pthread_t thread[MOST_THREADS];
    for (long n = 1; n < threads; n++)
        if (pthread_create(&thread[n], NULL, work, (void *)n) != 0)
            return 1;
    work(NULL);
    for (long n = 1; n < threads; n++)
        pthread_join(thread[n], NULL);
    long sum = 0;
    for (long n = 0; n < threads; n++)
        sum += sums[n];
    printf("%ld\n", sum);
    say_nodes("array", array, (size_t)pages * PAGE);
    free(array);
    return 0;
}
