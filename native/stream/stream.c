/* clang-format off */
/* numapredict-stream: moves a known number of bytes from and to the memory of one node, by threads on given PUs.
 *
 *     numapredict-stream BYTES PASSES NODE CPUS [write]
 *
 * CPUS is a list of PUs, such as 0-3,8. A thread on each maps its share of BYTES on NODE (the operating system's
 * number, -1: wherever it falls), writes it once, and then reads it PASSES times from beginning to end. Lines are read
 * in order and once a pass, so that a pass over memory that is much larger than the caches moves BYTES; what comes
 * before the first pass is the same for any number of them. With `write` a pass writes to each line instead, which
 * moves it there and, later, back. In the end one line of JSON:
 *
 *     {"bytes": bytes a pass, "passes": passes, "time_s": time of all passes, "on_node": share of pages on NODE,
 *      "sum": sum of what was read, or of what stands there after writing, modulo 2^64}
 *
 * The first word of line L of a thread's share is L times LINE_WORDS, and a pass of writing adds 1 to it: so `sum` is
 * known beforehand, and proves that every line was visited in every pass.
 *
 * on_node is -1 if the kernel does not report it. Exit code: 0; 2 for wrong arguments and 3 for what the
 * system refuses, with one line on standard error. Read by collect/measuring/counters/load.py.
 */
/* clang-format on */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <numa.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS 4096
#define LINE_WORDS 8 /* of 8 bytes: a line of 64 */
#define ASKED 64     /* pages queried by a thread */

struct share {
    pthread_t thread;
    uint64_t *data;
    size_t words;
    uint64_t sum;
    const char *failed;
    int cpu, error;
    int right, wrong; /* pages on the node, and elsewhere */
};

static struct share shares[MOST_THREADS];
static int threads, node;
static long passes;
static bool writing;
static pthread_barrier_t barrier;
static double began_s, ended_s;

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static _Thread_local int libnuma_error;

/* libnuma calls these where a call fails, instead of printing lines of its own: numa(3). */
void numa_error(char *where) {
    (void)where;
    libnuma_error = errno;
}

void numa_warn(int number, char *format, ...) { (void)number, (void)format; }

static void ask_kernel(struct share *s) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = s->words * 8 / page;
    void *where[ASKED];
    int status[ASKED];
    for (size_t n = 0; n < ASKED; n++)
        where[n] = (char *)s->data + n * pages / ASKED * page;
    if (node < 0 || numa_move_pages(0, ASKED, where, NULL, status, 0) != 0)
        return;
    for (size_t n = 0; n < ASKED; n++) {
        s->right += status[n] == node;
        s->wrong += status[n] != node;
    }
}

static bool fails(struct share *s, const char *what, int error) {
    s->failed = what;
    s->error = error;
    return false;
}

static bool prepare(struct share *s) {
    struct bitmask *one = numa_bitmask_setbit(numa_allocate_cpumask(), (unsigned)s->cpu);
    if (numa_sched_setaffinity(0, one) != 0)
        return fails(s, "bind a thread to its PU", errno);
    numa_free_cpumask(one);
    numa_set_bind_policy(1); /* no page elsewhere, should the node be full */
    s->data = node < 0 ? numa_alloc(s->words * 8) : numa_alloc_onnode(s->words * 8, node);
    if (!s->data || libnuma_error)
        return fails(s, s->data ? "bind memory to the node" : "map memory", s->data ? libnuma_error : errno);
    for (size_t n = 0; n < s->words; n++)
        s->data[n] = n;
    ask_kernel(s);
    return true;
}

static void *work(void *argument) {
    struct share *s = argument;
    const bool ready = prepare(s);
    pthread_barrier_wait(&barrier);
    if (s == shares)
        began_s = now_s();
    volatile uint64_t *data = s->data;
    uint64_t sum = 0;
    for (long pass = 0; ready && !writing && pass < passes; pass++)
        for (size_t n = 0; n < s->words; n += LINE_WORDS)
            sum += data[n];
    for (long pass = 0; ready && writing && pass < passes; pass++)
        for (size_t n = 0; n < s->words; n += LINE_WORDS)
            data[n]++;
    pthread_barrier_wait(&barrier);
    if (s == shares)
        ended_s = now_s();
    for (size_t n = 0; ready && writing && n < s->words; n += LINE_WORDS)
        sum += data[n];
    s->sum = sum;
    return NULL;
}

static bool number(const char *text, long least, long *into) {
    char *end;
    errno = 0;
    *into = strtol(text, &end, 10);
    return !errno && end != text && !*end && *into >= least;
}

static bool read_cpus(const char *list) {
    const struct bitmask *cpus = numa_parse_cpustring_all(list);
    for (unsigned cpu = 0; cpus && cpu < cpus->size && threads < MOST_THREADS; cpu++)
        if (numa_bitmask_isbitset(cpus, cpu))
            shares[threads++].cpu = (int)cpu;
    return threads > 0;
}

int main(int count, char **argument) {
    long bytes, where;
    writing = count == 6 && strcmp(argument[5], "write") == 0;
    if (count != 5 + writing || !number(argument[1], 1, &bytes) || !number(argument[2], 0, &passes) ||
        !number(argument[3], -1, &where) || where > INT_MAX || !read_cpus(argument[4]) ||
        bytes / threads < (1 << 20)) {
        (void)fprintf(stderr,
                      "usage: numapredict-stream BYTES PASSES NODE CPUS [write], BYTES at least 1 MiB a "
                      "CPU, all CPUS of this computer\n");
        return 2;
    }
    if (numa_available() < 0) {
        (void)fprintf(stderr, "numapredict-stream: this kernel has no NUMA support\n");
        return 3;
    }
    node = (int)where;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), share = (size_t)bytes / (size_t)threads / page * page;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int n = 0; n < threads; n++) {
        shares[n].words = share / 8;
        const int error = pthread_create(&shares[n].thread, NULL, work, &shares[n]);
        if (error) {
            (void)fprintf(stderr, "numapredict-stream: cannot start a thread: %s\n", strerror(error));
            _exit(3); /* the others wait for it */
        }
    }
    int right = 0, wrong = 0;
    uint64_t sum = 0;
    for (int n = 0; n < threads; n++) {
        pthread_join(shares[n].thread, NULL);
        right += shares[n].right;
        wrong += shares[n].wrong;
        sum += shares[n].sum;
    }
    for (int n = 0; n < threads; n++)
        if (shares[n].failed) {
            (void)fprintf(stderr, "numapredict-stream: cannot %s: %s\n", shares[n].failed,
                          strerror(shares[n].error));
            return 3;
        }
    printf("{\"bytes\": %zu, \"passes\": %ld, \"time_s\": %.9f, \"on_node\": %.4f, \"sum\": %" PRIu64 "}\n",
           share * (size_t)threads, passes, ended_s - began_s,
           right + wrong ? (double)right / (right + wrong) : -1.0, sum);
    return 0;
}
