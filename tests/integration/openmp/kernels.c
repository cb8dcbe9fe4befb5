/* kernels.c: small OpenMP programs whose regions, work and memory accesses are known, by name of the first
 * argument. */
#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 64

struct node {
    struct node *next;
    uint64_t value;
    char rest[LINE_BYTES - 16];
};

static volatile uint64_t sink;

static void *memory(size_t bytes) {
    void *at = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!at)
        exit(9);
    return at;
}

/* A permutation of 0 .. n-1 that is one cycle (Sattolo's algorithm): cycle[i] comes after i. */
static uint32_t *cycle(size_t n) {
    uint32_t *next = memory(n * sizeof *next);
    uint64_t state = 12345;
    for (size_t i = 0; i < n; i++)
        next[i] = (uint32_t)i;
    for (size_t i = n - 1; i > 0; i--) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t j = (state >> 33) % i;
        uint32_t kept = next[i];
        next[i] = next[j];
        next[j] = kept;
    }
    return next;
}

/* Work of a known length that touches no memory. */
static __attribute__((noinline)) uint64_t count_up(uint64_t n, uint64_t x) {
    for (uint64_t i = 0; i < n; i++)
        __asm__ volatile("add $1, %0" : "+r"(x));
    return x;
}

/* Two regions, run 5 and 2 times. */
static void regions(size_t n) {
    for (int i = 0; i < 7; i++) {
        if (i % 3 != 2) {
#pragma omp parallel
            sink = count_up(n, 1);
        } else {
#pragma omp parallel
            sink = count_up(2 * n, 2);
        }
    }
}

/* Thread t does (t + 1) n turns. */
static void split(size_t n) {
#pragma omp parallel
    sink = count_up(n * (size_t)(omp_get_thread_num() + 1), 1);
}

/* Thread 0 works, the others wait for it. */
static void imbalance(size_t n) {
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0)
            sink = count_up(n, 1);
#pragma omp barrier
        sink = count_up(100, 1);
    }
}

/* Three barriers in one region. */
static void barriers(size_t n) {
#pragma omp parallel
    for (int i = 0; i < 3; i++) {
        sink = count_up(n, 1);
#pragma omp barrier
    }
}

static void loop(size_t n, char schedule) {
    if (schedule == 'd') {
#pragma omp parallel for schedule(dynamic)
        for (int i = 0; i < 64; i++)
            sink = count_up(n, 1);
    } else if (schedule == 'r') {
#pragma omp parallel for schedule(runtime)
        for (int i = 0; i < 64; i++)
            sink = count_up(n, 1);
    } else {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < 64; i++)
            sink = count_up(n, 1);
    }
}

/* Every thread waits for its left neighbour by reading a flag over and over, as NPB's LU does; n planes. */
static void pipeline(size_t n) {
    static volatile int done[1024][16];
    memset((void *)done, 0, sizeof done);
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        for (int plane = 1; plane <= (int)n; plane++) {
            if (me > 0)
                while (done[me - 1][0] < plane) {
#pragma omp flush
                }
            sink = count_up(2000, 1);
            done[me][0] = plane;
#pragma omp flush
        }
    }
}

static void touch(double *a, size_t n, int parallel) {
    if (parallel) {
#pragma omp parallel for schedule(static)
        for (size_t i = 0; i < n; i++)
            a[i] = 1.0;
    } else {
        for (size_t i = 0; i < n; i++)
            a[i] = 1.0;
    }
}

/* n doubles in each of three arrays; where the first one lies goes to a file. */
static void triad(size_t n, int parallel, int times, const char *path) {
    double *a = memory(8 * n), *b = memory(8 * n), *c = memory(8 * n);
    touch(a, n, parallel);
    touch(b, n, parallel);
    touch(c, n, parallel);
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%p %zu\n", (void *)a, 8 * n);
        fclose(file);
    }
    for (int i = 0; i < times; i++) {
#pragma omp parallel for schedule(static)
        for (size_t j = 0; j < n; j++)
            a[j] = b[j] + 3.0 * c[j];
    }
    sink = (uint64_t)a[n / 2];
}

/* Reads n lines in an order that no loaded value tells. */
static void gather(size_t n) {
    double *a = memory(n * LINE_BYTES);
    touch(a, n * LINE_BYTES / 8, 0);
#pragma omp parallel
    {
        double sum = 0;
        uint64_t state = 99u + (uint64_t)omp_get_thread_num();
        for (size_t i = 0; i < n; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            sum += a[state % n * (LINE_BYTES / 8)];
        }
        sink = (uint64_t)sum;
    }
}

static struct node *list_of(size_t n) {
    struct node *nodes = memory(n * sizeof *nodes);
    uint32_t *next = cycle(n);
    for (size_t i = 0; i < n; i++) {
        nodes[i].next = next[i] ? &nodes[next[i]] : NULL;
        nodes[i].value = i;
    }
    free(next);
    return nodes;
}

static void list(size_t n) {
    struct node *nodes = list_of(n);
#pragma omp parallel
    {
        uint64_t sum = 0;
        for (const struct node *at = nodes; at; at = at->next)
            sum += at->value;
        sink = sum;
    }
}

/* The same with nothing to do on the way: the loop looks like waiting, but every turn reads another line. */
static void walk(size_t n) {
    struct node *nodes = list_of(n);
#pragma omp parallel
    {
        const struct node *at = nodes;
        while (at->next)
            at = at->next;
        sink = at->value;
    }
}

/* The same with indices. One number a line, so that every step is a miss. */
static void indices(size_t n) {
    uint32_t *order = cycle(n), *next = memory(n * LINE_BYTES);
    for (size_t i = 0; i < n; i++)
        next[i * (LINE_BYTES / 4)] = order[i];
#pragma omp parallel
    {
        uint32_t at = 0;
        for (size_t i = 0; i < n; i++)
            at = next[at * (size_t)(LINE_BYTES / 4)];
        sink = at;
    }
}

/* n times: one thread writes 16 lines, the other reads them, a barrier in between. */
static void exchange(size_t n) {
    static volatile uint64_t shared[16][LINE_BYTES / 8];
#pragma omp parallel
    for (size_t i = 0; i < n; i++) {
        if (omp_get_thread_num() == 0)
            for (int line = 0; line < 16; line++)
                shared[line][0] = i;
#pragma omp barrier
        if (omp_get_thread_num() == 1)
            for (int line = 0; line < 16; line++)
                sink = shared[line][0];
#pragma omp barrier
    }
}

static void many(size_t n) {
    for (size_t i = 0; i < n; i++) {
#pragma omp parallel
        sink = count_up(200, 1);
    }
}

static void nested(size_t n) {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
        sink = count_up(n, 1);
    }
}

/* One thread makes tasks, and the others have no share of their own: they run them at the end of the region.
 */
static void tasks(size_t n) {
#pragma omp parallel
#pragma omp single nowait
    for (size_t task = 0; task < n; task++) {
#pragma omp task
        sink = count_up(10000, 1);
    }
}

/* A thread like any other, which does some work of its own and then starts a region. */
static void *apart_thread(void *given) {
    const size_t n = *(const size_t *)given;
    sink = count_up(100 * n, 1);
#pragma omp parallel num_threads(4)
    sink = count_up(n, 1);
    return NULL;
}

static void *pausing_thread(void *unused) {
    usleep(200000);
    return unused;
}

/* Four of them, one after the other. Before each but the first, a thread that only waits takes the number of
   the one before, so that the next one gets that of a thread of its team. The pauses let ended threads be
   gone. */
static void apart(size_t n) {
    for (int round = 0; round < 4; round++) {
        pthread_t waiting, id;
        const int waits = round > 0 && pthread_create(&waiting, NULL, pausing_thread, NULL) == 0;
        usleep(20000);
        if (pthread_create(&id, NULL, apart_thread, &n) == 0)
            pthread_join(id, NULL);
        if (waits)
            pthread_join(waiting, NULL);
        usleep(50000);
    }
}

/* Only two threads of the team are there while a dynamic loop is dealt out. */
static void late(size_t n) {
#pragma omp parallel
    {
        if (omp_get_thread_num() >= 2)
            usleep(2000000);
#pragma omp for schedule(dynamic, 1)
        for (size_t i = 0; i < 200; i++)
            sink = count_up(n, 1);
    }
}

int main(int count, char **arguments) {
    const char *name = count > 1 ? arguments[1] : "";
    size_t n = count > 2 ? strtoull(arguments[2], NULL, 10) : 1000;
    int parallel = count > 3 && strcmp(arguments[3], "parallel") == 0;
    if (strcmp(name, "regions") == 0)
        regions(n);
    else if (strcmp(name, "split") == 0)
        split(n);
    else if (strcmp(name, "imbalance") == 0)
        imbalance(n);
    else if (strcmp(name, "barriers") == 0)
        barriers(n);
    else if (strcmp(name, "dynamic") == 0 || strcmp(name, "static") == 0 || strcmp(name, "runtime") == 0)
        loop(n, name[0]);
    else if (strcmp(name, "pipeline") == 0)
        pipeline(n);
    else if (strcmp(name, "triad") == 0)
        triad(n, parallel, count > 4 ? atoi(arguments[4]) : 1, count > 5 ? arguments[5] : NULL);
    else if (strcmp(name, "gather") == 0)
        gather(n);
    else if (strcmp(name, "list") == 0)
        list(n);
    else if (strcmp(name, "walk") == 0)
        walk(n);
    else if (strcmp(name, "indices") == 0)
        indices(n);
    else if (strcmp(name, "exchange") == 0)
        exchange(n);
    else if (strcmp(name, "many") == 0)
        many(n);
    else if (strcmp(name, "nested") == 0)
        nested(n);
    else if (strcmp(name, "tasks") == 0)
        tasks(n);
    else if (strcmp(name, "apart") == 0)
        apart(n);
    else if (strcmp(name, "late") == 0)
        late(n);
    else
        return 2;
    return 0;
}
