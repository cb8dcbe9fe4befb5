/* set_by_another.c: the mask of a thread is set by another one while the thread enters its first parallel
 * region; prints how many of the threads then run where they were told to.
 *
 * usage: set_by_another PU THREADS */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int there, go, set;
static int kept, pu;

static void *enters(void *unused) {
    there = 1;
    while (!go)
        sched_yield();
#pragma omp parallel num_threads(1)
    (void)omp_get_thread_num();
    while (!set)
        sched_yield();
    cpu_set_t mask;
    CPU_ZERO(&mask);
    syscall(SYS_sched_getaffinity, 0, sizeof mask, &mask);
    kept += CPU_COUNT(&mask) == 1 && CPU_ISSET(pu, &mask);
    return unused;
}

int main(int count, char **words) {
    if (count != 3)
        return 2;
    pu = atoi(words[1]);
    const int threads = atoi(words[2]);
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(pu, &mask);
    for (int n = 0; n < threads; n++) {
        pthread_t thread;
        there = go = set = 0;
        if (pthread_create(&thread, NULL, enters, NULL) != 0)
            return 1;
        while (!there)
            sched_yield();
        go = 1;
        for (volatile int wait = 0; wait < n % 50 * 40; wait++)
            continue;
        if (pthread_setaffinity_np(thread, sizeof mask, &mask) != 0)
            return 1;
        set = 1;
        pthread_join(thread, NULL);
    }
    printf("%d\n", kept);
    return 0;
}
