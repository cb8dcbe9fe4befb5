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

/* Plain code: loops over doubles in the first cache, half of the elements for a sum, whose additions wait for
 * each other, and half for a stencil, whose elements do not. The empty statement keeps compilers from
 * unrolling and vectorising them. Returns how many instructions that is for x86-64 (gcc -O2), on any
 * processor: traces of programs count those too. */
static uint64_t work(double *data) {
    enum { SUM = 6, STENCIL = 8, TURNS_OF_WORK = 64 };
    double sum = 0, *const end = data + ELEMENTS;
#define AS_IT_STANDS(at) __asm__ volatile("" : "+r"(at)::"memory")
    for (int turn = 0; turn < TURNS_OF_WORK; turn++) {
        for (double *at = data; at != end; at++) {
            AS_IT_STANDS(at);
            sum += at[0] * at[1];
        }
        for (double *at = data; at != end; at++) {
            AS_IT_STANDS(at);
            at[2 * ELEMENTS] = (at[0] + at[1] + at[2]) * 0.5;
        }
    }
    data[3 * ELEMENTS] = sum;
    return (uint64_t)TURNS_OF_WORK * ELEMENTS * (SUM + STENCIL);
}

/* What one thread does in a turn: additions, or instructions of plain code. */
static uint64_t do_turn(bool additions, double *data) {
    if (!additions)
        return work(data);
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
            const double end_s = now_s() + request->round_s, began_s = own_s();
            uint64_t done = 0;
            do
                done += do_turn(additions, data);
            while (now_s() < end_s);
            const double rate = (double)done / ((own_s() - began_s) * 1e9);
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
    return rates(request, answer, false, new_figure(answer, "instructions_per_ns"));
}
