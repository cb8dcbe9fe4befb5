/* clock.c: the frequency of cores, and what they execute of plain code, while others are busy or not. */
#define _GNU_SOURCE
#include "clock.h"

#include <omp.h>

enum { TURNS = 1000, ADDITIONS = 64, ELEMENTS = 256 };

/* TURNS * ADDITIONS additions of which each needs the result of the one before: one cycle each on every
 * processor since the 1990s. The addend is in a register: recent cores add constants at renaming, in no time.
 */
static void add_up(void) {
    uint64_t sum = 0, addend = 1;
    __asm__ volatile("" : "+r"(addend));
    for (int turn = 0; turn < TURNS; turn++) {
#define ONE                                                                                                  \
    sum += addend;                                                                                           \
    __asm__ volatile("" : "+r"(sum));
#define FOUR ONE ONE ONE ONE
#define SIXTEEN FOUR FOUR FOUR FOUR
        SIXTEEN SIXTEEN SIXTEEN SIXTEEN
    }
}

#if defined(__x86_64__)
/* Plain code: loops over doubles in the first cache as gcc -O2 makes them, half of the elements for a sum,
 * whose additions wait for each other, and half for a stencil, whose elements do not. Returns how many
 * instructions. */
static uint64_t work(double *data) {
    enum { SUM = 6, STENCIL = 8, TURNS_OF_WORK = 64 };
    double sum = 0, factor = 0.5;
    for (int turn = 0; turn < TURNS_OF_WORK; turn++) {
        double *at = data, *end = data + ELEMENTS;
        __asm__ volatile("1: movsd (%[at]), %%xmm0\n\t"
                         "mulsd 8(%[at]), %%xmm0\n\t"
                         "addsd %%xmm0, %[sum]\n\t"
                         "add $8, %[at]\n\t"
                         "cmp %[end], %[at]\n\t"
                         "jne 1b"
                         : [at] "+r"(at), [sum] "+x"(sum)
                         : [end] "r"(end)
                         : "xmm0", "memory", "cc");
        at = data;
        __asm__ volatile("1: movsd (%[at]), %%xmm0\n\t"
                         "addsd 8(%[at]), %%xmm0\n\t"
                         "addsd 16(%[at]), %%xmm0\n\t"
                         "mulsd %[factor], %%xmm0\n\t"
                         "movsd %%xmm0, 4096(%[at])\n\t"
                         "add $8, %[at]\n\t"
                         "cmp %[end], %[at]\n\t"
                         "jne 1b"
                         : [at] "+r"(at)
                         : [end] "r"(end), [factor] "x"(factor)
                         : "xmm0", "memory", "cc");
    }
    return (uint64_t)TURNS_OF_WORK * ELEMENTS * (SUM + STENCIL);
}
#endif

/* What one thread does in a turn: additions, or instructions of plain code. */
static uint64_t do_turn(bool additions, double *data) {
#if defined(__x86_64__)
    if (!additions)
        return work(data);
#else
    (void)additions, (void)data;
#endif
    add_up();
    return (uint64_t)TURNS * ADDITIONS;
}

/* The slowest thread's rate, or that of all together, per nanosecond, a value a round; a round that wakes the
 * cores goes before. */
static bool rates(const struct request *request, struct answer *answer, bool additions,
                  struct figure *figure) {
    if (!bind_team(request, request->count, answer))
        return false;
    for (int round = 0; round < request->rounds; round++)
        figure->value[round] = additions ? 1e9 : 0;
#pragma omp parallel num_threads(request->count) default(none) shared(request, additions, figure)
    {
        double data[4 * ELEMENTS] = {0};
        for (int round = -1; round < request->rounds; round++) {
#pragma omp barrier
            const double began_s = now_s();
            double taken_s = 0;
            uint64_t done = 0;
            while (taken_s < request->round_s) {
                done += do_turn(additions, data);
                taken_s = now_s() - began_s;
            }
            const double rate = (double)done / (taken_s * 1e9);
#pragma omp critical
            if (round >= 0) {
                double *value = &figure->value[round];
                *value = !additions ? *value + rate : rate < *value ? rate : *value;
            }
        }
    }
    return true;
}

bool measure_frequency(const struct request *request, struct answer *answer) {
    return rates(request, answer, true, new_figure(answer, "frequency_GHz"));
}

bool measure_work(const struct request *request, struct answer *answer) {
#if !defined(__x86_64__)
    return fails(answer, "count instructions on this kind of processor", 0);
#endif
    return rates(request, answer, false, new_figure(answer, "instructions_per_ns"));
}
