/* early.h: pages that were there before the process's memory policy was set.
 *
 * Contract. The loader writes to the program's data, and the constructors of its libraries to theirs, to the
 * heap and to mappings of their own, before this library can set a policy. A policy applies to pages that are
 * touched later; and setting one for a range with MPOL_MF_MOVE moves no page that is already on one of its
 * nodes. Therefore these pages are queried and moved one by one, to the node that the policy would have
 * chosen.
 *
 * Covered are the heap, the writable data of the program and of its libraries except the system's, and, while
 * the process has one thread, its other private memory: otherwise it may be stacks of threads. Shared memory
 * is left alone.
 */
#ifndef NUMAPLACE_EARLY_H
#define NUMAPLACE_EARLY_H

#include <stddef.h>
#include <stdint.h>

/* Move the pages that are already there: interleaved over several nodes, or to the only one. */
void early_move(const uint16_t *nodes, size_t count);

#endif
