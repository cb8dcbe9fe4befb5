/* numbered.c: pthreads, no OpenMP: each thread fills its own block, all are joined, twice. */
#include "arrays.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 32768L
static int threads;
static double *data;

static void *work(void *argument) {
    const long me = (long)argument;
    for (int sweep = 0; sweep < 2; sweep++)
        for (long i = me * BLOCK; i < (me + 1) * BLOCK; i++)
            data[i] = data[i] + (double)me;
    return NULL;
}

int main(int count, char **argument) {
    threads = count > 1 ? atoi(argument[1]) : 4;
    data = calloc((size_t)threads * BLOCK, sizeof *data);
    pthread_t *thread = calloc((size_t)threads, sizeof *thread);
    if (!data || !thread)
        return 1;
    for (int round = 0; round < 2; round++) {
        for (long t = 1; t < threads; t++)
            if (pthread_create(&thread[t], NULL, work, (void *)t) != 0)
                return 2;
        work((void *)0);
        for (long t = 1; t < threads; t++)
            pthread_join(thread[t], NULL);
    }
    double sum = 0;
    for (long i = 0; i < threads * BLOCK; i++)
        sum += data[i];
    printf("%.0f\n", sum);
    say_nodes("data", data, (size_t)threads * BLOCK * sizeof *data);
    free(thread);
    free(data);
    return 0;
}
