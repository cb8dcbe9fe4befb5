/* report.h: the file that says what was counted; collect/measuring/counters/perf/counts.py reads it.
 *
 * One JSON object, version 1:
 *     {"version": 1, "counts": [{"event": "local", "cpu": 0, "value": 1, "enabled_ns": 2, "running_ns": 2,
 *                                "user_only": false}, {"event": "remote", "cpu": 0, "errno": 13}]}
 * `cpu` is null for an event that is counted wherever the program runs. The times are those of
 * perf_event_open(2): `running_ns` advances while the event is counted, `enabled_ns` while it is enabled (a
 * multiplexed counter is counted part of the time). For an event of the program on one CPU, `enabled_ns` may
 * also advance while the program runs on others.
 */
#ifndef NUMALAUNCH_REPORT_H
#define NUMALAUNCH_REPORT_H

#include "counters.h"

/* Write the counters to a file and close it; return whether all was written. */
bool report_write(int descriptor, const struct counters *counters);

#endif
