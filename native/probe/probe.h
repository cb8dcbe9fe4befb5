/* probe.h: what one measurement asks for and gives.
 *
 * Contract. Every `measure_` function uses the threads of one team, the n-th of them on the n-th PU of the
 * request, and gives for each figure one value a round. A round lasts at least `round_s`, and what comes
 * before the first round fills the caches and wakes the cores. Functions return false after setting `failed`
 * (what they could not do) and `error` (the system's number for why). One call at a time.
 */
#ifndef NUMAPROBE_PROBE_H
#define NUMAPROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { MOST_PUS = 4096, MOST_ROUNDS = 100, MOST_FIGURES = 4, LINE_BYTES = 64 };

struct request {
    int pus[MOST_PUS];
    int count; /* of PUs */
    int rounds;
    double round_s;
    int node;     /* the operating system's number, -1: wherever pages fall */
    size_t bytes; /* of memory that is measured */
};

struct figure {
    const char *name;
    double value[MOST_ROUNDS];
};

struct answer {
    struct figure figures[MOST_FIGURES];
    int count;      /* of figures */
    double on_node; /* share of the pages on the requested node, -1: unknown */
    double huge;    /* share of the memory in huge pages, -1: unknown */
    const char *failed;
    int error;
};

/* Add a figure to the answer, its values to be set. */
struct figure *new_figure(struct answer *answer, const char *name);
/* Set why a measurement failed; return false. */
bool fails(struct answer *answer, const char *what, int error);
/* Bind the calling thread to the PU of its number in the team; return 0 or an error number. */
int bind_thread(const struct request *request);
/* Bind each thread of a team with `threads` threads; return false after setting why that failed. */
bool bind_team(const struct request *request, int threads, struct answer *answer);

static inline double of_clock_s(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double now_s(void) { return of_clock_s(CLOCK_MONOTONIC); }

/* The calling thread's processor time: what other programs take of its PU is not in it. */
static inline double own_s(void) { return of_clock_s(CLOCK_THREAD_CPUTIME_ID); }

#endif
