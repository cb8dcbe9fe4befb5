/* Regions in the shapes of NPB, Rodinia and LULESH, one a word on the command line. */
#include "kinds.h"

#include <omp.h>
#include <sched.h>
#include <stdlib.h>

/* NPB CG: the whole solver is one region, with sums over all threads between its loops. */
static void cg(void) {
    for (int t = 0; t < TIMES; t++) {
        uint64_t rho = 0;
#pragma omp parallel
        for (int step = 0; step < 4; step++) {
#pragma omp for
            for (long row = 0; row < N; row++) {
                uint64_t sum = 0;
                for (long k = 8 * row; k < 8 * row + 8; k++)
                    sum += a[column[k]];
                b[row] = sum;
            }
#pragma omp for reduction(+ : rho)
            for (long row = 0; row < N; row++)
                rho += b[row] & 255;
#pragma omp for nowait
            for (long row = 0; row < N; row++)
                a[row] += b[row] ^ rho;
#pragma omp barrier
        }
    }
}

/* NPB MG: one region for all levels, called with more and with less to do. */
static void mg(void) {
    for (int t = 0; t < 2 * TIMES; t++)
        for (long step = 1; step <= 64; step *= 4) {
#pragma omp parallel for
            for (long i = step; i < N - step; i += step)
                for (int round = 0; round < ROUNDS; round++)
                    b[i] += (a[i - step] + a[i + step]) >> 1;
        }
}

/* NPB IS: each thread's own counts, allocated in the region, added up under a lock. */
static void is(void) {
    for (int t = 0; t < TIMES; t++) {
        uint64_t count[256] = {0};
#pragma omp parallel
        {
            uint64_t *own = calloc(256, sizeof *own);
#pragma omp for schedule(guided)
            for (long i = 0; i < N; i++)
                for (int round = 0; round < ROUNDS; round++)
                    own[mixed(a[i] + (uint64_t)round) & 255]++;
#pragma omp critical
            for (int n = 0; n < 256; n++)
                count[n] += own[n];
            free(own);
        }
        for (int n = 0; n < 256; n++)
            b[n] += count[n];
    }
}

/* NPB LU: each thread waits for the flag of the one before it. */
static void lu(void) {
    static int done[1024];
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
        {
            const int me = omp_get_thread_num(), team = omp_get_num_threads();
            __atomic_store_n(&done[me], 0, __ATOMIC_SEQ_CST);
#pragma omp barrier
            for (int row = 1; row <= 16; row++) {
                while (me > 0 && __atomic_load_n(&done[me - 1], __ATOMIC_ACQUIRE) < row)
                    sched_yield();
                for (long i = me * N / team; i < (me + 1) * N / team; i++)
                    a[i] = mixed(a[i] + (uint64_t)row);
                __atomic_store_n(&done[me], row, __ATOMIC_RELEASE);
            }
        }
    }
}

static uint64_t drawn;
#pragma omp threadprivate(drawn)

/* NPB EP: numbers from a state of each thread's own. */
static void ep(void) {
    uint64_t hits = 0;
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel for reduction(+ : hits)
        for (long i = 0; i < ROUNDS * N; i++) {
            drawn = mixed((uint64_t)i);
            hits += drawn >> 63;
        }
    }
    b[1] += hits;
}

/* Rodinia BFS: a level an instance, until nothing changes. */
static void bfs(void) {
    for (int t = 0; t < TIMES; t++) {
        int changed = 0;
#pragma omp parallel for schedule(dynamic, 256) reduction(| : changed)
        for (long i = 0; i < N; i++)
            for (int edge = 1; edge <= ROUNDS; edge++)
                changed |= b[mixed((uint64_t)(i + edge)) % N] > a[i];
        a[t] += (uint64_t)changed;
    }
}

/* Rodinia NW: a wave through a table, a barrier a diagonal. */
static void nw(void) {
    enum { SIDE = 160 };
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
        for (long wave = 2; wave < 2 * SIDE - 1; wave++) {
#pragma omp for
            for (long i = 1; i < wave; i++) {
                const long j = wave - i;
                if (i < SIDE && j < SIDE)
                    a[i * SIDE + j] += a[(i - 1) * SIDE + j] ^ a[i * SIDE + j - 1];
            }
        }
    }
}

/* Rodinia hot spot: a stencil over collapsed loops. */
static void hotspot(void) {
    enum { SIDE = 181 };
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel for collapse(2) schedule(static, 8)
        for (long i = 1; i < SIDE - 1; i++)
            for (long j = 1; j < SIDE - 1; j++)
                for (int round = 0; round < ROUNDS; round++)
                    b[i * SIDE + j] += a[(i - 1) * SIDE + j] + a[(i + 1) * SIDE + j] + a[i * SIDE + j + 1];
    }
}

/* LULESH: short regions by the dozen, with temporaries of each step. */
static void lulesh(void) {
    for (int t = 0; t < 6 * TIMES; t++) {
        uint64_t *force = malloc(N * sizeof *force);
#pragma omp parallel for
        for (long i = 0; i < N; i++)
            force[i] = mixed(a[i]);
#pragma omp parallel for firstprivate(t)
        for (long i = 0; i < N; i++)
            a[i] += force[i] >> t % 8;
        free(force);
    }
}

static void locks(void) {
    omp_lock_t lock;
    omp_nest_lock_t nested;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nested);
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel for
        for (long i = 0; i < N / 8; i++) {
            omp_set_lock(&lock);
            a[0] += (uint64_t)i;
            omp_unset_lock(&lock);
            omp_set_nest_lock(&nested);
            omp_set_nest_lock(&nested);
            a[1]++;
            omp_unset_nest_lock(&nested);
            omp_unset_nest_lock(&nested);
#pragma omp atomic
            a[2] += 3;
        }
    }
}

static void depend(void) {
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel
#pragma omp single
        for (long block = 0; block < 16; block++) {
#pragma omp task depend(out : a[block * N / 16]) firstprivate(block)
            for (long i = block * N / 16; i < (block + 1) * N / 16; i++)
                a[i] = mixed(a[i]);
#pragma omp task depend(in : a[block * N / 16]) depend(out : b[block * N / 16]) firstprivate(block)
            for (long i = block * N / 16; i < (block + 1) * N / 16; i++)
                b[i] += a[i];
        }
    }
}

static void sections(void) {
    for (int t = 0; t < TIMES; t++) {
#pragma omp parallel sections
        {
#pragma omp section
            for (long i = 0; i < N * 2; i++)
                a[i % N] = mixed(a[i % N]);
#pragma omp section
            for (long i = 0; i < N * 2; i++)
                b[i % N] = mixed(b[i % N]);
        }
    }
}

/* A program with its own number of threads, another one from phase to phase. */
static void teams(void) {
    for (int t = 0; t < 2 * TIMES; t++) {
        omp_set_num_threads(t < TIMES ? 1 : 3);
#pragma omp parallel for
        for (long i = 0; i < N; i++)
            for (int round = 0; round < ROUNDS; round++)
                a[i] = mixed(a[i]);
#pragma omp parallel for num_threads(2)
        for (long i = 0; i < N; i++)
            for (int round = 0; round < ROUNDS; round++)
                b[i] = mixed(b[i]);
    }
}

int main(int count, char **word) {
    static const struct kind kinds[] = {{"cg", cg},       {"mg", mg},           {"is", is},
                                        {"lu", lu},       {"ep", ep},           {"bfs", bfs},
                                        {"nw", nw},       {"hotspot", hotspot}, {"lulesh", lulesh},
                                        {"locks", locks}, {"depend", depend},   {"sections", sections},
                                        {"teams", teams}, {NULL, NULL}};
    return run_kinds(kinds, count, word);
}
