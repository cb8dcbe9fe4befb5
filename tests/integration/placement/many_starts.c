/* many_starts.c: threads that are started all at once, each of which asks the kernel for its mask before it
 * does anything else; prints how many may run on one PU alone, for each PU, and how many found their own
 * number where their creator asked for it.
 *
 * usage: many_starts pthread|c11|detached THREADS */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#define MOST_PUS 4096

static atomic_int alone_on[MOST_PUS], known, ready;
static int wanted;

/* Where the C library is to write a thread's number before the thread begins. */
static pthread_t *places;

static int begins(void *number) {
    unsigned char mask[MOST_PUS / 8] = {0};
    const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    int pus = 0, last = 0;
    for (int pu = 0; pu < 8 * bytes; pu++)
        if (mask[pu / 8] >> pu % 8 & 1) {
            pus++;
            last = pu;
        }
    if (pus == 1)
        alone_on[last]++;
    known += pthread_equal(places[(intptr_t)number], pthread_self()) != 0;
    ready++;
    while (ready < wanted) /* all are alive at one time */
        usleep(1000);
    return 0;
}

static void *begins_posix(void *number) {
    begins(number);
    return NULL;
}

int main(int count, char **words) {
    if (count != 3 || (wanted = atoi(words[2])) < 1 || !(places = calloc((size_t)wanted, sizeof *places)))
        return 2;
    const int c11 = strcmp(words[1], "c11") == 0, detached = strcmp(words[1], "detached") == 0;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 << 10);
    if (detached)
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (int n = 0; n < wanted; n++)
        if (c11 ? thrd_create(&places[n], begins, (void *)(intptr_t)n) != thrd_success
                : pthread_create(&places[n], &attributes, begins_posix, (void *)(intptr_t)n) != 0)
            return 1;
    for (int n = 0; n < wanted && !detached; n++)
        pthread_join(places[n], NULL);
    while (ready < wanted)
        usleep(1000);
    for (int pu = 0; pu < MOST_PUS; pu++)
        if (alone_on[pu])
            printf("%d %d\n", pu, alone_on[pu]);
    printf("known %d\n", known);
    return 0;
}
