/* chunks.h: the pages of a replay under the page policy `dataset`: each array cut into one chunk a thread.
 *
 * Arrays are the program's allocations, static objects and mappings of 64 KiB and more, which the library
 * notes as the one for whole runs does (native/placement/memory/ranges.h). A fork's child has its parent's
 * notes. What lies between them in the heap is cut likewise (heap.h).
 */
#ifndef NUMACAPTURE_CHUNKS_H
#define NUMACAPTURE_CHUNKS_H

#include "exchange.h"

#include <stdbool.h>
#include <stdint.h>

/* Note arrays from now on; once, before the program's first instruction. */
void chunks_prepare(void);
/* In the child: note the small allocations of the heap as far as the job asks for them, and then no more. */
void chunks_stay(const struct job *job);
/* Whether a page belongs to an array; then `node` is where the job wants it: job->node is by chunk. */
bool chunks_node(const struct job *job, uintptr_t page, int *node);

#endif
