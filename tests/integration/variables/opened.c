/* opened.c: a library with parallel regions; with OTHER_THREAD they are begun by a thread of its own. */
#include "seconds.h"
#include <pthread.h>
#include <stdlib.h>

#define N (1l << 19)

static void *add(void *unused) {
    double *left = malloc(N * sizeof *left);
    double *right = malloc(N * sizeof *right);
    if (!left || !right)
        abort();
    for (long i = 0; i < N; i++)
        left[i] = right[i] = (double)i;
    for (const double end_s = omp_get_wtime() + seconds(); omp_get_wtime() < end_s;)
#pragma omp parallel for schedule(static)
        for (long i = 0; i < N; i++)
            left[i] += right[i];
    free(left);
    free(right);
    return unused;
}

void work(void) {
#ifdef OTHER_THREAD
    pthread_t thread;
    if (pthread_create(&thread, NULL, add, NULL) != 0 || pthread_join(thread, NULL) != 0)
        abort();
#else
    add(NULL);
#endif
}
