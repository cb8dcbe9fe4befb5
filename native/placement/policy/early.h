/* early.h: pages that were there before the process's memory policy was set.
 *
 * Contract. The loader writes to the program's data, and the constructors of its libraries to theirs, to the
 * heap and to mappings of their own, before this library can say where to. A policy is for pages that come
 * later; and setting one for a range together with MPOL_MF_MOVE moves nothing that lies on any of its nodes.
 * So these pages are asked for and moved one by one, to where the policy would have put them.
 *
 * Looked at are the heap, the writable data of the program and of its libraries but for the system's, and, as
 * long as the process has one thread, its other private memory: the rest may be stacks of threads. Shared
 * memory is left alone.
 */
#ifndef NUMAPLACE_EARLY_H
#define NUMAPLACE_EARLY_H

#include <stddef.h>
#include <stdint.h>

/* Move what is there already: dealt out over several nodes as interleaving does, or to the only one. */
void early_move(const uint16_t *nodes, size_t count);

#endif
