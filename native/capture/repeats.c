/* repeats.c: series of instances by the clock. */
#define _GNU_SOURCE
#include "repeats.h"

#include "absent.h"
#include "emptying.h"

#include "memory/range.h"
#include "process/system.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ENOUGH 32u /* replays, however short */

static const struct job *job;
static void (*instance)(void);
static struct outcome *outcome;
static bool can_empty;

/* Return how long an instance took. */
static uint64_t timed_ns(void) {
    absent_give_back();
    const uint64_t began = system_now_ns();
    instance();
    return system_now_ns() - began;
}

/* Of an outcome, or of none yet. */
struct times {
    uint64_t *wall_ns, *emptied_ns;
    uint32_t *replays, *emptied;
};

/* Caches take several short ones to fill: of those that fit into the time of the copies, the last count. */
static void repeat(const struct times *into) {
    const uint64_t first = system_now_ns();
    for (uint32_t n = 1;; n++) {
        into->wall_ns[(n - 1) % MOST_REPLAYS] = timed_ns();
        *into->replays = n < MOST_REPLAYS ? n : MOST_REPLAYS;
        if (n >= job->replays && (system_now_ns() - first >= outcome->copy_ns || n >= ENOUGH))
            return;
    }
}

static int by_length(const void *one, const void *other) {
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

static uint64_t median_ns(const struct times *times) {
    uint64_t sorted[MOST_REPLAYS];
    memcpy(sorted, times->wall_ns, sizeof sorted);
    qsort(sorted, *times->replays, sizeof *sorted, by_length);
    return sorted[*times->replays / 2];
}

static void repeat_emptied(const struct times *into) {
    if (!can_empty || median_ns(into) >= job->enough_ns)
        return;
    for (uint32_t n = 0; n < job->replays && n < MOST_REPLAYS; n++) {
        emptying_run();
        into->emptied_ns[n] = timed_ns();
        *into->emptied = n + 1;
    }
}

/* An instance of the second series may wait forever for what the one before has left in these pages: the
 * thread that has nothing else to do ends the process then. */
enum { NOT_BEGUN, BEGUN, OVER };
static _Atomic uint32_t absent_state = NOT_BEGUN;
static uint64_t absent_limit_ns;

static bool absent_over(void) {
    uint32_t begun = BEGUN;
    return atomic_compare_exchange_strong(&absent_state, &begun, OVER);
}

void repeats_end_at_limit(void) {
    while (atomic_load(&absent_state) == NOT_BEGUN)
        syscall(SYS_futex, &absent_state, FUTEX_WAIT_PRIVATE, (uint32_t)NOT_BEGUN, NULL, NULL, 0u);
    struct timespec left = {(time_t)(absent_limit_ns / 1000000000u), (long)(absent_limit_ns % 1000000000u)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
    if (absent_over())
        syscall(SYS_exit_group, 0);
}

static void absent_begin(uint64_t limit_ns) {
    absent_limit_ns = limit_ns;
    atomic_store(&absent_state, BEGUN);
    syscall(SYS_futex, &absent_state, FUTEX_WAKE_PRIVATE, 1u, NULL, NULL, 0u);
}

/* If the region has touched pages that were absent, a second series without these replaces the first one,
 * unless an instance fails without them, does not end, or takes far less time. The time limit goes by the
 * very first instance, which had to do without them, too. */
void repeats_make(const struct job *of, void (*run)(void), void *scope, struct outcome *into) {
    job = of;
    instance = run;
    outcome = into;
    can_empty = job->fill_bytes && emptying_prepare(scope, outcome->team ? outcome->team : job->threads,
                                                    job->fill_bytes, outcome->pages * PAGE_BYTES);
    uint64_t wall_ns[MOST_REPLAYS] = {0}, emptied_ns[MOST_REPLAYS] = {0};
    uint32_t replays = 0, emptied = 0;
    const struct times told = {outcome->wall_ns, outcome->emptied_ns, &outcome->replays, &outcome->emptied};
    const struct times absent = {wall_ns, emptied_ns, &replays, &emptied};
    const uint64_t began = system_now_ns();
    repeat(&told);
    repeat_emptied(&told);
    if (!absent_touched())
        return;
    absent_begin(4 * (system_now_ns() - began + 2 * job->replays * outcome->first_ns));
    repeat(&absent);
    if (median_ns(&absent) < median_ns(&told) * 3 / 4)
        return;
    repeat_emptied(&absent);
    if (!absent_over())
        return;
    memcpy(outcome->wall_ns, wall_ns, sizeof wall_ns);
    memcpy(outcome->emptied_ns, emptied_ns, sizeof emptied_ns);
    outcome->replays = replays;
    outcome->emptied = emptied;
}
