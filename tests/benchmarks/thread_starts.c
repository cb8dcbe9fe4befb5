/* thread_starts.c: prints, in microseconds, what a thread takes that is started and joined at once (the
 * median), what many take that are started one after the other and then joined, and what as many take that
 * are all alive at one time.
 *
 * With PUs, the program binds its threads itself: the first thread and every second one to the first PU, the
 * rest to the other.
 *
 * usage: thread_starts SINGLE MANY [PU PU] */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_barrier_t all_alive;
static pthread_attr_t attributes[2];

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void *ends(void *nothing) { return nothing; }

static void *meets(void *nothing) {
    pthread_barrier_wait(&all_alive);
    return nothing;
}

static int by_size(const void *a, const void *b) {
    const double first = *(const double *)a, second = *(const double *)b;
    return first < second ? -1 : first > second;
}

static double single_us(int threads) {
    double *took = malloc((size_t)threads * sizeof *took);
    for (int n = 0; n < threads; n++) {
        pthread_t thread;
        const double began = now_us();
        if (pthread_create(&thread, &attributes[1], ends, NULL) != 0)
            exit(1);
        pthread_join(thread, NULL);
        took[n] = now_us() - began;
    }
    qsort(took, (size_t)threads, sizeof *took, by_size);
    const double median = took[threads / 2];
    free(took);
    return median;
}

static double many_us(int threads, void *(*routine)(void *)) {
    pthread_t *thread = malloc((size_t)threads * sizeof *thread);
    const double began = now_us();
    for (int n = 0; n < threads; n++)
        if (pthread_create(&thread[n], &attributes[(n + 1) % 2], routine, NULL) != 0)
            exit(1);
    if (routine == meets)
        pthread_barrier_wait(&all_alive);
    for (int n = 0; n < threads; n++)
        pthread_join(thread[n], NULL);
    const double took = now_us() - began;
    free(thread);
    return took;
}

int main(int count, char **words) {
    if (count != 3 && count != 5)
        return 2;
    for (int n = 0; n < 2; n++) {
        pthread_attr_init(&attributes[n]);
        if (count == 3)
            continue;
        cpu_set_t mask;
        CPU_ZERO(&mask);
        CPU_SET(atoi(words[3 + n]), &mask);
        if (n == 0)
            sched_setaffinity(0, sizeof mask, &mask);
        pthread_attr_setaffinity_np(&attributes[n], sizeof mask, &mask);
    }
    const int single = atoi(words[1]), many = atoi(words[2]);
    pthread_barrier_init(&all_alive, NULL, (unsigned)many + 1);
    const double alone = single_us(single), ended = many_us(many, ends);
    printf("%.3f %.3f %.3f\n", alone, ended, many_us(many, meets));
    return 0;
}
