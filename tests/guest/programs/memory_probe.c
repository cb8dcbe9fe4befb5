/* memory_probe.c: how fast processors get to one node's memory, by the clock.
 *
 *     memory_probe chase CPU NODE KILOBYTES ROUNDS          nanoseconds of a load that the next one waits for
 *     memory_probe read CPU[,CPU...] NODE KILOBYTES ROUNDS  bytes a nanosecond (GB/s), all processors
 * together memory_probe write CPU[,CPU...] NODE KILOBYTES ROUNDS
 *
 * One line a round. Each processor has so many kilobytes of its own on the node, to be a multiple of the
 * caches, and before the first round it fills the caches with other lines. */
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

enum { STEPS = 2048, MOST = 64, BIND = 2 };

struct line {
    uint64_t next, rest[7];
};

enum what { CHASE, READ, WRITE };

static enum what what;
static int node, rounds, threads, cpus[MOST];
static uint64_t count_of_lines;
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

static struct line *new_lines(void) {
    struct line *lines = mmap(NULL, count_of_lines * sizeof *lines, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (lines == MAP_FAILED)
        fail("no memory");
    return lines;
}

static struct line *memory_on_node(void) {
    struct line *lines = new_lines();
    const unsigned long mask = 1ul << node;
    if (syscall(SYS_mbind, lines, count_of_lines * sizeof *lines, BIND, &mask, 64ul, 0u) != 0)
        fail("no memory on the node");
    /* One cycle through all lines in an order that no prefetcher follows (a power of two, Hull and Dobell
     * 1962). */
    for (uint64_t n = 0; n < count_of_lines; n++)
        lines[n].next = (n * 4093 + 7919) % count_of_lines;
    return lines;
}

/* So that the caches hold nothing of the memory that is measured, and nothing that must be written back. */
static uint64_t fill_caches(void) {
    volatile struct line *other = new_lines();
    uint64_t sum = 0;
    for (uint64_t n = 0; n < count_of_lines; n++)
        other[n].next = n;
    for (uint64_t n = 0; n < count_of_lines; n++)
        sum += other[n].next;
    munmap((void *)(uintptr_t)other, count_of_lines * sizeof *other);
    return sum & (count_of_lines - 1);
}

static uint64_t work(struct line *lines, uint64_t at) {
    if (what == CHASE) {
        for (int n = 0; n < STEPS; n++)
            at = lines[at].next;
    } else if (what == READ) {
        for (uint64_t n = 0; n < count_of_lines; n++)
            at += *(volatile uint64_t *)&lines[n].rest[0];
    } else {
        for (uint64_t n = 0; n < count_of_lines; n++)
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
    uint64_t at = fill_caches();
    /* Before the first round of writing, one that only fills the caches with lines to be written back. */
    for (int n = what == WRITE ? -1 : 0; n < rounds; n++) {
        pthread_barrier_wait(&barrier);
        began_s[self] = now_s();
        at = work(lines, at);
        ended_s[self] = now_s();
        pthread_barrier_wait(&barrier);
        if (self == 0 && n >= 0) {
            double first_s = began_s[0], last_s = ended_s[0];
            for (int other = 1; other < threads; other++) {
                first_s = began_s[other] < first_s ? began_s[other] : first_s;
                last_s = ended_s[other] > last_s ? ended_s[other] : last_s;
            }
            const double taken_ns = (last_s - first_s) * 1e9;
            printf("%.6g\n", what == CHASE ? taken_ns / STEPS
                                           : (double)threads *
                                                 (double)(count_of_lines * sizeof(struct line)) / taken_ns);
        }
    }
    result += at;
    return NULL;
}

int main(int count, char **arguments) {
    static const char *const names[] = {"chase", "read", "write"};
    if (count != 6)
        fail("usage: memory_probe chase|read|write CPU[,CPU...] NODE KILOBYTES ROUNDS");
    while (strcmp(arguments[1], names[what]) != 0)
        if (what++ == WRITE)
            fail("what?");
    for (char *name = strtok(arguments[2], ","); name && threads < MOST; name = strtok(NULL, ","))
        cpus[threads++] = atoi(name);
    node = atoi(arguments[3]);
    count_of_lines = strtoull(arguments[4], NULL, 10) * 1024 / sizeof(struct line);
    rounds = atoi(arguments[5]);
    if (count_of_lines < 2 || (count_of_lines & (count_of_lines - 1)))
        fail("the kilobytes are no power of two");
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
