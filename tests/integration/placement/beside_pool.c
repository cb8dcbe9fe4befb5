/* beside_pool.c: regions of two threads beside a pool of so many that wait, started before; prints for each
 * instance the PU that each thread of the team may run on.
 *
 * usage: beside_pool IDLE */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PUS = 1024, INSTANCES = 300 };

static void *rest(void *unused) {
    (void)unused;
    for (;;)
        pause();
    return NULL;
}

static int only_pu(void) {
    unsigned char mask[PUS / 8] = {0};
    int only = -1;
    syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    for (int pu = 0; pu < PUS; pu++)
        if (mask[pu / 8] >> pu % 8 & 1)
            only = only == -1 ? pu : -2;
    return only;
}

int main(int count, char **words) {
    for (int n = 0; n < (count > 1 ? atoi(words[1]) : 0); n++) {
        pthread_t thread;
        pthread_create(&thread, NULL, rest, NULL);
    }
    for (int n = 0; n < INSTANCES; n++) {
        int pu[2] = {-1, -1};
#pragma omp parallel num_threads(2)
        pu[omp_get_thread_num()] = only_pu();
        printf("%d %d\n", pu[0], pu[1]);
        usleep(1000);
    }
    return 0;
}
