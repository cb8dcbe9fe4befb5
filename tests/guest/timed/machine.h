/* machine.h: the figures of the machine that the guest is to be like, from a file that configuration.py
 * writes.
 *
 * Contract. All times are picoseconds of the guest's clock: those of the description times the stated factor.
 * In tables the row is the processor's node and the column the memory's; entry [row * nodes + column]. The
 * file: "timed 1", then "name value..." in the order of the fields of struct machine.
 */
#ifndef NUMAPREDICT_TIMED_MACHINE_H
#define NUMAPREDICT_TIMED_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct machine {
    uint64_t nodes, processors; /* processors: of one node */
    uint64_t line_bytes;        /* a power of two */
    uint64_t node_bytes;        /* memory of one node */
    uint64_t node_stride;       /* from one node's first address to the next's, as the emulator gives them */
    uint64_t private_sets, private_ways;
    uint64_t shared_sets, shared_ways;
    uint64_t instruction_ps, shared_ps;
    uint64_t overlap;                            /* independent misses under way at once */
    uint64_t *latency_ps;                        /* nodes x nodes: a load that the next one waits for */
    uint64_t *read_ps, *write_back_ps;           /* nodes x nodes: a line of one thread's stream */
    uint64_t *node_read_ps, *node_write_back_ps; /* nodes: a line at the memory controller */
    uint64_t links;
    uint64_t *link_read_ps, *link_write_back_ps; /* links */
    uint64_t *route;                             /* nodes x nodes x links: 1 where the way takes the link */
};

/* False with one line in `error` if the file is none, or names impossible figures. */
bool machine_read(struct machine *, FILE *, const char **error);
void machine_free(struct machine *);

#endif
