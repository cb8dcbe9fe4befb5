/* clock.h: the figures that clock.c measures; the contract stands in probe.h. */
#ifndef NUMAPROBE_CLOCK_H
#define NUMAPROBE_CLOCK_H

#include "probe.h"

/* frequency_GHz: of the slowest of the PUs while all of them are busy. */
bool measure_frequency(const struct request *request, struct answer *answer);
/* instructions_per_ns: of plain code, all PUs together, counted as x86-64 has it. */
bool measure_work(const struct request *request, struct answer *answer);

#endif
