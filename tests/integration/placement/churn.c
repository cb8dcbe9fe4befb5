/* churn.c: allocates and frees blocks of mixed sizes in several threads; and forks while others do.
 *
 *     churn BLOCKS THREADS FORKS [BYTES]    BYTES: all blocks of this size
 *
 * Says a checksum of what the blocks held, and the nanoseconds that the blocks took on standard error.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HELD = 64 };

static long blocks, threads, bytes;
static char *passed_on; /* from thread to thread: freed by another than the allocating one */

static uint64_t work(uint32_t state, long count) {
    char *held[HELD] = {0};
    uint64_t sum = 0;
    for (long i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        const uint32_t at = state >> 26;
        if (held[at]) {
            sum += (unsigned char)held[at][0];
            held[at] =
                state & 1 << 20 ? __atomic_exchange_n(&passed_on, held[at], __ATOMIC_ACQ_REL) : held[at];
            free(held[at]);
        }
        const size_t size = bytes             ? (size_t)bytes
                            : state & 1 << 10 ? 100000 + (state & 0xffff)
                                              : 16 + (state & 0x3ff);
        held[at] = malloc(size);
        held[at][0] = (char)state;
        held[at][size - 1] = 1;
    }
    for (int i = 0; i < HELD; i++)
        free(held[i]);
    return sum;
}

static void *run(void *number) {
    return (void *)(uintptr_t)work((uint32_t)(uintptr_t)number + 1, blocks / threads);
}

static void fork_often(long forks) {
    for (long i = 0; i < forks; i++) {
        const pid_t child = fork();
        if (child < 0)
            abort();
        if (child == 0) {
            passed_on = NULL;
            _exit((int)(work((uint32_t)i + 1, 100) % 100));
        }
        int status;
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
            WEXITSTATUS(status) != (int)(work((uint32_t)i + 1, 100) % 100))
            abort();
    }
}

int main(int count, char **arguments) {
    if (count < 4)
        return 2;
    blocks = atol(arguments[1]);
    threads = atol(arguments[2]);
    bytes = count > 4 ? atol(arguments[4]) : 0;
    pthread_t *started = malloc((size_t)threads * sizeof *started);
    struct timespec from, to;
    uint64_t sum = 0;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (long i = 0; i < threads; i++)
        pthread_create(&started[i], NULL, run, (void *)(uintptr_t)i);
    fork_often(atol(arguments[3]));
    for (long i = 0; i < threads; i++) {
        void *part;
        pthread_join(started[i], &part);
        sum += (uintptr_t)part;
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%ju\n", (uintmax_t)sum);
    fprintf(stderr, "%jd\n", (intmax_t)(to.tv_sec - from.tv_sec) * 1000000000 + (to.tv_nsec - from.tv_nsec));
    return 0;
}
