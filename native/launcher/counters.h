/* counters.h: opens and reads the counters of a run (perf_event_open(2)), and writes them to a file.
 *
 * Contract. Counters of the program start when it is executed and follow its threads and children. Those of
 * CPUs start as they are opened, right before that. A counter that cannot be opened keeps its error number
 * and counts nothing. Where this user may not count the kernel's own work, only the program is counted and
 * `user_only` is set. One thread calls these functions.
 *
 * The file, which collect/measuring/counters/perf/counts.py reads, holds one JSON object, version 1:
 *     {"version": 1, "counts": [{"event": "local", "cpu": 0, "value": 1, "enabled_ns": 2, "running_ns": 2,
 *                                "user_only": false}, {"event": "remote", "cpu": 0, "errno": 13}]}
 * `cpu` is null for an event that is counted wherever the program runs. The times are those of
 * perf_event_open(2): `running_ns` advances while the event is counted, `enabled_ns` while it is enabled (a
 * multiplexed counter is counted part of the time). For an event of the program on one CPU, `enabled_ns` may
 * also advance while the program runs on others.
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
/* Write the counters to a file and close it; return whether all was written. */
bool counters_write(int descriptor, const struct counters *counters);

#endif
