/* chase.h: the figures that chase.c measures; the contract stands in probe.h. */
#ifndef NUMAPROBE_CHASE_H
#define NUMAPROBE_CHASE_H

#include "probe.h"

/* latency_ns: a load that the next one waits for, from memory; bytes is a power of two, far above the caches.
 */
bool measure_latency(const struct request *request, struct answer *answer);
/* latency_ns: the same from whichever cache holds all of the bytes, a power of two. */
bool measure_cache(const struct request *request, struct answer *answer);

#endif
