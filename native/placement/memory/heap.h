/* heap.h: small allocations of the main heap: what lies between its ranges.
 *
 * Contract. Rows of a grid, cells and tree nodes are too small to be ranges of their own, but many of them
 * fill pages. Before a region, the parts of the main heap (brk) that no range covers become ranges
 * themselves, of kind RANGE_ARENA, known by their distance from the heap's start. Left out are pages with
 * blocks that the C library, the loader or an OpenMP runtime allocated for itself: they hand them to the
 * kernel by calls that nobody sees, and a call that meets a protected page fails. The heaps that threads have
 * for themselves (malloc's arenas) are left to first touch.
 */
#ifndef NUMAPLACE_HEAP_H
#define NUMAPLACE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Once, where ranges are wanted, before the program's first instruction. */
void heap_prepare(void);
/* Whether a block allocated by the call that returns to `caller` has to be left out. A few compares. */
bool heap_for_system(const void *caller);
/* Leave a block's pages out from now on; false where it does not lie in the heap. */
bool heap_leave_out(const void *block, size_t bytes);
/* A range at this address has gone: if it was in the heap, small allocations may get its memory. */
void heap_changed(uintptr_t address);
/* Before a region: what the heap has gained becomes ranges. */
void heap_refresh(void);

#endif
