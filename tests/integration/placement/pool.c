/* pool.c: a pool of threads that compute, beside some that never do; ends once each that works is bound to a
 * PU of its own, as far as there are enough, and no idle one is bound to any of these PUs. Prints how many
 * are, and says "never" after a minute of processor time.
 *
 * usage: pool WORKERS MAIN IDLE PUS [OWN]: the main thread computes with them, or (MAIN 0) waits for them;
 * the first worker binds itself to the PU of number OWN. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, PUS = 1024, LIMIT_S = 60, TURNS = 30 };

static atomic_bool settled;
static atomic_int warm; /* threads that have worked for a while */
static _Atomic pid_t working[MOST], idle[MOST];
static int workers, with_main, idlers, pus, own = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t end = PTHREAD_COND_INITIALIZER;

/* The only PU that a thread may run on, or -1; -2 if there is no such thread yet. */
static int only_pu(pid_t thread) {
    unsigned char mask[PUS / 8] = {0};
    int only = -1, found = 0;
    if (!thread || syscall(SYS_sched_getaffinity, thread, sizeof mask, mask) < 0)
        return -2;
    for (int pu = 0; pu < PUS; pu++)
        if (mask[pu / 8] >> pu % 8 & 1) {
            found++;
            only = pu;
        }
    return found == 1 ? only : -1;
}

/* How many threads have PUs of their own; -1 while one PU has several, or not all have begun. */
static int alone(void) {
    bool taken[PUS] = {false};
    int bound = 0;
    for (int n = 0; n < workers + with_main; n++) {
        const int pu = only_pu(working[n]);
        if (pu == -2 || (pu >= 0 && taken[pu]))
            return -1;
        if (pu >= 0) {
            taken[pu] = true;
            bound++;
        }
    }
    for (int n = 0; n < idlers; n++) {
        const int pu = only_pu(idle[n]);
        if (pu == -2 || (pu >= 0 && taken[pu]))
            return -1;
    }
    return bound;
}

static void *compute(void *number) {
    const int n = (int)(long)number;
    volatile double x = 1;
    struct timespec used;
    if (n == 0 && own >= 0) {
        cpu_set_t mask;
        CPU_ZERO(&mask);
        CPU_SET(own, &mask);
        sched_setaffinity(0, sizeof mask, &mask);
    }
    working[n] = gettid();
    for (int turn = 0; !settled; turn++) {
        for (int i = 0; i < 1000000; i++)
            x = x * 1.0000001;
        warm += turn == TURNS;
        if (warm < workers + with_main)
            continue;
        const int wanted = workers + with_main < pus ? workers + with_main : pus, now = alone();
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        pthread_mutex_lock(&lock);
        if (!settled && now == wanted)
            printf("%d of %d alone\n", now, workers + with_main);
        else if (!settled && used.tv_sec >= LIMIT_S)
            puts("never");
        if (now == wanted || used.tv_sec >= LIMIT_S)
            settled = true;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *rest(void *number) {
    idle[(long)number] = gettid();
    pthread_mutex_lock(&lock);
    while (!settled)
        pthread_cond_wait(&end, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int count, char **words) {
    pthread_t thread[2 * MOST];
    if (count < 5)
        return 2;
    workers = atoi(words[1]);
    with_main = atoi(words[2]);
    idlers = atoi(words[3]);
    pus = atoi(words[4]);
    own = count > 5 ? atoi(words[5]) : -1;
    for (long n = 0; n < idlers; n++)
        pthread_create(&thread[n], NULL, rest, (void *)n);
    for (long n = 0; n < workers; n++)
        pthread_create(&thread[idlers + n], NULL, compute, (void *)n);
    if (with_main)
        compute((void *)(long)workers);
    for (int n = idlers; n < idlers + workers; n++)
        pthread_join(thread[n], NULL);
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&end);
    pthread_mutex_unlock(&lock);
    for (int n = 0; n < idlers; n++)
        pthread_join(thread[n], NULL);
    return 26;
}
