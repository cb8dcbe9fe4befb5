/* processor_clock.c: preloaded by replays.py --processor-time: the program's processor time as the clock.
 *
 * On a computer that is busy with other work, an instance whose threads wait for their turn on a processor
 * takes many times as long; its threads' processor time together does not. Python keeps the real clock. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *into) {
    const int is_python = strncmp(program_invocation_short_name, "python", 6) == 0;
    return (int)syscall(SYS_clock_gettime,
                        clock == CLOCK_MONOTONIC && !is_python ? CLOCK_PROCESS_CPUTIME_ID : clock, into);
}
