/* counters.h: the counters of a run, through perf_event_open(2), and nothing else opens any.
 *
 * Contract. Counters of the program start when it is executed and follow its threads and children. Those of
 * CPUs start as they are opened, right before that. One that cannot be opened keeps its error number and
 * counts nothing. Where the kernel forbids this user to count it, the program alone is counted, and the count
 * says so.
 */
#ifndef NUMALAUNCH_COUNTERS_H
#define NUMALAUNCH_COUNTERS_H

#include "request.h"

#include <sys/types.h>

struct counter {
    const struct event *event;
    int cpu;        /* -1: any */
    int descriptor; /* -1: not open */
    int error;      /* why it is not open, or could not be read; 0 otherwise */
    bool user_only; /* without what the kernel does for the program */
    uint64_t value, enabled_ns, running_ns;
};

struct counters {
    size_t count;
    struct counter counter[];
};

/* Open all that is asked for on a process that waits to be executed; return NULL where there is no memory. */
struct counters *counters_open(const struct request *request, pid_t pid);
/* Stop the counters and read them. */
void counters_read(struct counters *counters);

#endif
