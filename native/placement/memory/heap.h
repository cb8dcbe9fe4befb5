/* heap.h: small allocations in the main heap, between its ranges.
 *
 * Contract. Rows of a grid, cells and tree nodes are too small to be ranges of their own, but many of them
 * fill pages. Before a region, the parts of the main heap (brk) that no range covers become ranges
 * themselves, of kind RANGE_ARENA, identified by their offset from the heap's start. Left out are pages with
 * blocks that the C library, the loader or an OpenMP runtime allocated for itself: they pass them to the
 * kernel by system calls that cannot be intercepted, and such a call fails on a protected page. Per-thread
 * heaps (malloc's arenas) are left to first touch.
 */
#ifndef NUMAPLACE_HEAP_H
#define NUMAPLACE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Call once, before the program's first instruction, if ranges are needed. */
void heap_prepare(void);
/* Whether to leave out a block allocated by the call that returns to `caller`. Costs a few comparisons. */
bool heap_for_system(const void *caller);
/* Leave a block's pages out from now on; return false if it is not in the heap. */
bool heap_leave_out(const void *block, size_t bytes);
/* A range at this address was freed: if it was in the heap, small allocations may reuse its memory. */
void heap_changed(uintptr_t address);
/* Before a region, on the encountering thread: make ranges of the heap's new part. */
void heap_refresh(void);
/* Make ranges of the heap's new part for the time until the next heap_refresh, and return whether an address
 * is in that part. */
void heap_look_early(void);
bool heap_is_early(uintptr_t address);

#endif
