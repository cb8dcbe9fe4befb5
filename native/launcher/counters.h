/* counters.h: the only file that opens counters of a run (perf_event_open(2)).
 *
 * Contract. Counters of the program start when it is executed and follow its threads and children. Those of
 * CPUs start as they are opened, right before that. A counter that cannot be opened keeps its error number
 * and counts nothing. Where this user may not count the kernel's own work, only the program is counted and
 * `user_only` is set. One thread calls these functions.
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
    bool user_only; /* the kernel's work for the program is not counted */
    uint64_t value, enabled_ns, running_ns;
};

struct counters {
    size_t count;
    struct counter counter[];
};

/* Open all requested counters on a process that waits to be executed; return NULL if there is no memory. */
struct counters *counters_open(const struct request *request, pid_t pid);
/* Stop the counters and read them. */
void counters_read(struct counters *counters);

#endif
