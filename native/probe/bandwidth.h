/* bandwidth.h: the figures that bandwidth.c measures; the contract stands in probe.h. */
#ifndef NUMAPROBE_BANDWIDTH_H
#define NUMAPROBE_BANDWIDTH_H

#include "probe.h"

/* node_write_GBps, node_read_GBps: all threads together; thread_read_GBps, thread_write_GBps: the first
 * alone. */
bool measure_bandwidth(const struct request *request, struct answer *answer);

#endif
