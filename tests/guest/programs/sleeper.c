/* sleeper.c: regions that take long where a thread's pages are on another node, in a guest whose times mean
 * nothing else: each thread sleeps 1 ms, and STRANGE ms more for each block of its part that is on another
 * node than the thread; with `home`, that is not where one thread has initialised it. usage:
 * sleeper ROUNDS [where|home|nested|tiny|stops|exit] */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STRANGE = 5, PAGE = 4096, BLOCK = 16 /* pages */, BLOCKS = 8, PART = BLOCK * BLOCKS };

static void sleep_ms(long ms) {
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static int node_of(void *page) {
    int node = -1;
    return syscall(SYS_move_pages, 0, 1ul, &page, NULL, &node, 0) == 0 ? node : -1;
}

static int own_node(void) {
    unsigned cpu, node = 0;
    syscall(SYS_getcpu, &cpu, &node, NULL);
    return (int)node;
}

int main(int count, char **arguments) {
    const int rounds = count > 1 ? atoi(arguments[1]) : 0, threads = omp_get_max_threads();
    const char *how = count > 2 ? arguments[2] : "";
    char *data = aligned_alloc(BLOCK * PAGE, (size_t)threads * PART * PAGE);
    long sum = 0;
    if (!data)
        return 2;
    memset(data, 1, (size_t)threads * PART * PAGE);
    const int first = node_of(data), at_home = strcmp(how, "home") == 0;
    for (int n = 0; n < rounds; n++) {
        if (strcmp(how, "tiny") == 0) {
#pragma omp parallel reduction(+ : sum)
            sum += omp_get_thread_num();
        } else if (strcmp(how, "nested") == 0) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
#pragma omp parallel num_threads(2) reduction(+ : sum)
            sum += 1;
        } else {
            long found = 0;
#pragma omp parallel reduction(+ : found)
            {
                char *part = data + (size_t)omp_get_thread_num() * PART * PAGE;
                for (int page = 0; page < PART; page++)
                    found += part[(size_t)page * PAGE];
                int strange = 0;
                for (int block = 0; block < BLOCKS; block++)
                    strange += node_of(part + (size_t)block * BLOCK * PAGE) != (at_home ? first : own_node());
                sleep_ms(1 + STRANGE * strange);
            }
            sum += found;
        }
    }
    cpu_set_t mask;
    sched_getaffinity(0, sizeof mask, &mask);
    printf("%ld sum, %d threads, %d PUs\n", sum, threads, CPU_COUNT(&mask));
    if (strcmp(how, "stops") == 0) {
        fflush(stdout);
        alarm(1);
#pragma omp parallel
        for (;;)
            pause();
    }
    int right = 0;
    for (int n = 0; n < threads; n++)
        right += node_of(data + (size_t)n * PART * PAGE) == n * 4 / threads;
    if (strcmp(how, "where") == 0)
        printf("%d of %d parts on the nodes in their order\n", right, threads);
    int left = 0;
    for (int page = 0; page < threads * PART; page++)
        left += node_of(data + (size_t)page * PAGE) == first;
    if (at_home)
        printf("%d of %d pages at home\n", left, threads * PART);
    return strcmp(how, "exit") == 0 ? 26 : 0;
}
