/* team.c: what waiting for each other costs the threads of a team.
 *
 * As the EPCC OpenMP microbenchmarks do (Bull, EWOMP 1999): a construct is repeated so often that the clock's
 * resolution does not matter, with next to nothing in it. */
#define _GNU_SOURCE
#include "team.h"

#include <omp.h>

enum { LEAST_TIMES = 4, MOST_TIMES = 1 << 28 };

/* One counter with a line of its own: it is what threads fetch from each other. */
static struct {
    _Alignas(2 * LINE_BYTES) uint64_t value;
    char rest[2 * LINE_BYTES - sizeof(uint64_t)];
} counter;

/* Each does its construct `times` times and returns how long that took. */
static double regions_s(int threads, long times) {
    const double began_s = now_s();
    for (long n = 0; n < times; n++) {
#pragma omp parallel num_threads(threads) default(none)
        __asm__ volatile("" ::: "memory");
    }
    return now_s() - began_s;
}

static double barriers_s(int threads, long times) {
    double began_s = 0;
#pragma omp parallel num_threads(threads) default(none) shared(times, began_s)
    {
#pragma omp barrier
#pragma omp master
        began_s = now_s();
        for (long n = 0; n < times; n++) {
#pragma omp barrier
        }
    }
    return now_s() - began_s;
}

static double additions_s(int threads, long times) {
    double began_s = 0;
#pragma omp parallel num_threads(threads) default(none) shared(times, began_s, counter)
    {
#pragma omp master
        began_s = now_s();
#pragma omp barrier
        for (long n = 0; n < times; n++) {
#pragma omp atomic
            counter.value++;
        }
    }
    return now_s() - began_s;
}

static double entries_s(int threads, long times) {
    double began_s = 0;
#pragma omp parallel num_threads(threads) default(none) shared(times, began_s, counter)
    {
#pragma omp master
        began_s = now_s();
#pragma omp barrier
        for (long n = 0; n < times; n++) {
#pragma omp critical
            counter.value++;
        }
    }
    return now_s() - began_s;
}

/* The time of one, in nanoseconds: of the construct, or with `shared_out` of one thread's turn in it. */
static void rounds_of(const struct request *request, double (*run_s)(int, long), bool shared_out,
                      double unit_s, struct figure *figure) {
    long times = LEAST_TIMES;
    double taken_s;
    while ((taken_s = run_s(request->count, times)) < request->round_s && times < MOST_TIMES)
        times *= taken_s * 4 < request->round_s ? 4 : 2;
    for (int round = 0; round < request->rounds; round++) {
        const double each_s = run_s(request->count, times) / (double)times;
        figure->value[round] = each_s / (shared_out ? request->count : 1) / unit_s;
    }
}

bool measure_team(const struct request *request, struct answer *answer) {
    if (!bind_team(request, request->count, answer))
        return false;
    rounds_of(request, regions_s, false, 1e-6, new_figure(answer, "fork_join_us"));
    rounds_of(request, barriers_s, false, 1e-6, new_figure(answer, "barrier_us"));
    rounds_of(request, additions_s, true, 1e-9, new_figure(answer, "atomic_ns"));
    rounds_of(request, entries_s, true, 1e-9, new_figure(answer, "lock_ns"));
    return true;
}
