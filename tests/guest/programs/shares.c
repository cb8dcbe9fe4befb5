/* shares.c: whether a thread's pages follow it when its share of a region ends, or only at the region's end.
 *
 * The main thread initialises all pages. In the region, each other thread in turn touches its own, fewer than
 * are moved at a time, and ends its share; the main thread stays in the region and waits until they have left
 * its node. Prints each thread's number, the node that it ran on, and the nodes of its pages at that moment.
 * usage: shares SECONDS, the longest wait for a thread */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64, THREADS = 4 };

static char *data;
static atomic_int turn;
static unsigned node_of[THREADS];

static void touch(int thread) {
    unsigned cpu = 0;
    getcpu(&cpu, &node_of[thread]);
    for (size_t n = 0; n < PAGES; n++)
        ++*(volatile char *)(data + ((size_t)thread * PAGES + n) * PAGE);
}

/* The node of all of a thread's pages, or -1. */
static int node_of_pages(int thread) {
    void *page[PAGES];
    int status[PAGES];
    for (size_t n = 0; n < PAGES; n++)
        page[n] = data + ((size_t)thread * PAGES + n) * PAGE;
    /* Under move_pages of libnuma the library would protect nothing. */
    if (syscall(SYS_move_pages, 0, (unsigned long)PAGES, page, NULL, status, 0) != 0)
        return -1;
    for (size_t n = 1; n < PAGES; n++)
        if (status[n] != status[0])
            return -1;
    return status[0];
}

static void watch(time_t longest_s) {
    for (int thread = 1; thread < THREADS; thread++) {
        const time_t until = time(NULL) + longest_s;
        const int before = node_of_pages(thread);
        int now = before;
        turn = thread;
        while ((now < 0 || now == before) && time(NULL) < until) {
            usleep(1000);
            now = node_of_pages(thread);
        }
        printf("%d:%u:%d ", thread, node_of[thread], now);
    }
}

int main(int count, char **argument) {
    const time_t longest_s = count > 1 ? atol(argument[1]) : 30;
    data = aligned_alloc(PAGE, (size_t)THREADS * PAGES * PAGE);
    if (!data)
        return 1;
    memset(data, 1, (size_t)THREADS * PAGES * PAGE);
#pragma omp parallel num_threads(THREADS)
    {
        const int thread = omp_get_thread_num();
        if (thread == 0)
            watch(longest_s);
        else {
            while (turn != thread)
                sched_yield();
            touch(thread);
        }
    }
    printf("\n");
    free(data);
    return 0;
}
