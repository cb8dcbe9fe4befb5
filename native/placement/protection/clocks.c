/* clocks.c: clocks are read so often that the vDSO's call must not become slower.
 *
 * The vDSO writes the time in user mode, so that a protected page is opened as by any touch. For other clocks
 * it calls the kernel, and the memory that it writes is held.
 */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "process/next_symbol.h"
#include "protection/protection.h"

#include <sched.h>
#include <time.h>

#define CALLER __builtin_return_address(0)
#define IN_VDSO                                                                                              \
    (1u << CLOCK_REALTIME | 1u << CLOCK_MONOTONIC | 1u << CLOCK_MONOTONIC_RAW |                              \
     1u << CLOCK_REALTIME_COARSE | 1u << CLOCK_MONOTONIC_COARSE | 1u << CLOCK_BOOTTIME | 1u << CLOCK_TAI)

/* A negative clock is a process's, a thread's or a device's. */
static bool is_in_vdso(clockid_t clock) { return (unsigned)clock < 32 && IN_VDSO >> clock & 1; }

typedef int (*reader)(clockid_t clock, struct timespec *time);
static AMONG_NEXT_CALLS struct next_call next_reader = NEXT_CALL(clock_gettime);

__attribute__((noinline)) static int read_other(clockid_t clock, struct timespec *time, const void *caller) {
    const reader next = (reader)next_call(&next_reader, NULL);
    if (is_in_vdso(clock) || !protection_wanted())
        return next(clock, time);
    const uint32_t hold = protection_hold(time, sizeof *time, caller);
    const int answer = next(clock, time);
    protection_release(hold);
    return answer;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *time) {
    const reader next = (reader)atomic_load_explicit(&next_reader.function, memory_order_acquire);
    if (__builtin_expect(next && is_in_vdso(clock), 1))
        return next(clock, time);
    return read_other(clock, time, CALLER);
}

/* Later C libraries have further bases besides TIME_UTC: the other clocks. */
EXPORT int timespec_get(struct timespec *time, int base) {
    if (base == TIME_UTC || !protection_wanted())
        return NEXT(timespec_get)(time, base);
    const uint32_t hold = protection_hold(time, sizeof *time, CALLER);
    const int answer = NEXT(timespec_get)(time, base);
    protection_release(hold);
    return answer;
}

#ifndef __x86_64__ /* whose vDSO has it */
EXPORT int getcpu(unsigned *processor, unsigned *node) {
    if (!protection_wanted())
        return NEXT(getcpu)(processor, node);
    const uint32_t holds[] = {protection_hold(processor, processor ? sizeof *processor : 0, CALLER),
                              protection_hold(node, node ? sizeof *node : 0, CALLER)};
    const int answer = NEXT(getcpu)(processor, node);
    for (int i = 0; i < 2; i++)
        protection_release(holds[i]);
    return answer;
}
#endif
