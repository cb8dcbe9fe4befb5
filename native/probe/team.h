/* team.h: the figures that team.c measures; the contract stands in probe.h. */
#ifndef NUMAPROBE_TEAM_H
#define NUMAPROBE_TEAM_H

#include "probe.h"

/* fork_join_us, barrier_us, atomic_ns, lock_ns: of a team with a thread on each PU. */
bool measure_team(const struct request *request, struct answer *answer);

#endif
