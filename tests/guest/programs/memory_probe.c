/* memory_probe.c: how fast processors get to one node's memory, by the clock.
 *
 *     memory_probe chase CPU NODE ROUNDS          nanoseconds of a load that the next one waits for
 *     memory_probe read CPU[,CPU...] NODE ROUNDS  bytes a nanosecond (GB/s) that all processors together read
 *     memory_probe write CPU[,CPU...] NODE ROUNDS the same, written
 *
 * One line a round. Each processor has 1 MB of its own on the node, and goes through it once before the first
 * round. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LINES = 16384, STEPS = 2048, MOST = 64, BIND = 2 };

struct line {
    uint64_t next, rest[7];
};

enum what { CHASE, READ, WRITE };

static enum what what;
static int node, rounds, threads, cpus[MOST];
static pthread_barrier_t barrier;
static double began_s[MOST], ended_s[MOST];
static volatile uint64_t result;

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void fail(const char *why) {
    (void)fprintf(stderr, "memory_probe: %s\n", why);
    exit(1);
}

static struct line *memory_on_node(void) {
    struct line *lines =
        mmap(NULL, LINES * sizeof *lines, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const unsigned long mask = 1ul << node;
    if (lines == MAP_FAILED || syscall(SYS_mbind, lines, LINES * sizeof *lines, BIND, &mask, 64ul, 0u) != 0)
        fail("no memory on the node");
    /* One cycle through all lines in an order that no prefetcher follows (Hull and Dobell's conditions hold).
     */
    for (uint64_t n = 0; n < LINES; n++)
        lines[n].next = (n * 4093 + 7919) % LINES;
    return lines;
}

static uint64_t work(struct line *lines, uint64_t at) {
    if (what == CHASE) {
        for (int n = 0; n < STEPS; n++)
            at = lines[at].next;
    } else if (what == READ) {
        for (int n = 0; n < LINES; n++)
            at += *(volatile uint64_t *)&lines[n].rest[0];
    } else {
        for (int n = 0; n < LINES; n++)
            *(volatile uint64_t *)&lines[n].rest[0] = at;
    }
    return at;
}

static void *one(void *given) {
    const int self = *(int *)given;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpus[self], &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        fail("no such processor");
    struct line *lines = memory_on_node();
    uint64_t at = 0;
    for (int n = 0; n < rounds; n++) {
        pthread_barrier_wait(&barrier);
        began_s[self] = now_s();
        at = work(lines, at);
        ended_s[self] = now_s();
        pthread_barrier_wait(&barrier);
        if (self == 0) {
            double first_s = began_s[0], last_s = ended_s[0];
            for (int other = 1; other < threads; other++) {
                first_s = began_s[other] < first_s ? began_s[other] : first_s;
                last_s = ended_s[other] > last_s ? ended_s[other] : last_s;
            }
            const double taken_ns = (last_s - first_s) * 1e9;
            printf("%.6g\n", what == CHASE ? taken_ns / STEPS
                                           : (double)threads * LINES * sizeof(struct line) / taken_ns);
        }
    }
    result += at;
    return NULL;
}

int main(int count, char **arguments) {
    static const char *const names[] = {"chase", "read", "write"};
    if (count != 5)
        fail("usage: memory_probe chase|read|write CPU[,CPU...] NODE ROUNDS");
    while (strcmp(arguments[1], names[what]) != 0)
        if (what++ == WRITE)
            fail("what?");
    for (char *name = strtok(arguments[2], ","); name && threads < MOST; name = strtok(NULL, ","))
        cpus[threads++] = atoi(name);
    node = atoi(arguments[3]);
    rounds = atoi(arguments[4]);
    pthread_t thread[MOST];
    int number[MOST];
    if (threads == 0 || pthread_barrier_init(&barrier, NULL, (unsigned)threads) != 0)
        fail("no processor is named");
    for (int n = 0; n < threads; n++) {
        number[n] = n;
        if (pthread_create(&thread[n], NULL, one, &number[n]) != 0)
            fail("no thread can be started");
    }
    for (int n = 0; n < threads; n++)
        pthread_join(thread[n], NULL);
    return 0;
}
