/* pace.c: the period of the profile's turns, which follows their cost. */
#include "profile/pace.h"

#include <time.h>

#define SHORTEST_PERIOD_NS 1000000u
#define LONGEST_PERIOD_NS 50000000u
#define SHORTEST_WINDOW_NS 4000000u
#define LONGEST_WINDOW_NS 100000000u
#define WINDOW_SHARE 10 /* of the time so far: in a short program blocks are opened earlier */
#define FAULT_NS 15000  /* of a thread, as measured, for a signal, a system call and the wait */
#define WAKE_NS 10000   /* of the thread that this one takes the processor from */
/* Processor time by time inside regions; above it, periods grow, well below, they shrink. */
#define COST_LIMIT 0.03
#define COST_TURNS 8 /* about so many turns make the cost */
#define GOLDEN_RATIO 0x9e3779b97f4a7c15u

static uint64_t period_ns = SHORTEST_PERIOD_NS, pauses;
static double cost_ns;

uint64_t pace_window_ns(uint64_t clock_ns) {
    const uint64_t wanted = clock_ns / WINDOW_SHARE;
    if (wanted < SHORTEST_WINDOW_NS)
        return SHORTEST_WINDOW_NS;
    return wanted < LONGEST_WINDOW_NS ? wanted : LONGEST_WINDOW_NS;
}

void pace_turn(uint64_t spent_ns, uint32_t faults) {
    cost_ns += ((double)(WAKE_NS + spent_ns + (uint64_t)FAULT_NS * faults) - cost_ns) / COST_TURNS;
    const double share = cost_ns / (double)period_ns;
    if (share > COST_LIMIT)
        period_ns += period_ns / 4;
    else if (share < COST_LIMIT / 2)
        period_ns -= period_ns / 8;
    if (period_ns < SHORTEST_PERIOD_NS)
        period_ns = SHORTEST_PERIOD_NS;
    else if (period_ns > LONGEST_PERIOD_NS)
        period_ns = LONGEST_PERIOD_NS;
}

void pace_wait(uint32_t periods) {
    const uint64_t mean_ns = periods * period_ns;
    const uint64_t part = (uint64_t)((unsigned __int128)(++pauses * GOLDEN_RATIO) * mean_ns >> 64);
    const uint64_t ns = mean_ns / 2 + part;
    const struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    nanosleep(&time, NULL); /* delays.c holds only the arguments of calls that wait */
}
