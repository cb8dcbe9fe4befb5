/* huge.h: transparent huge pages: 2 MB that the kernel keeps on one node and moves as a unit.
 *
 * Where the kernel makes huge pages by itself, a range of at least HUGE_RANGE_BYTES is placed by whole 2 MB
 * blocks of addresses: a block goes to the node of its first page. Otherwise each page is placed by itself. A
 * range's first and last block may hold pages of a neighbour too. Where the kernel joins them to one huge
 * page later (khugepaged), the huge page is on the node chosen by the range that moved its part last. All
 * functions except the first may be called by any thread and in a signal handler.
 */
#ifndef NUMAPLACE_HUGE_H
#define NUMAPLACE_HUGE_H

#include <stdbool.h>
#include <stddef.h>

#include "memory/ranges.h"

#define HUGE_BYTES (2ul << 20)
#define HUGE_RANGE_BYTES (4ul << 20)

/* Read the kernel's setting, once. */
void huge_prepare(void);
/* Whether a range is placed by huge pages. */
bool huge_range(const struct range *range);
/* Return the page whose node applies to `page`: itself, or the first of its huge page inside the range. */
size_t huge_head(const struct range *range, size_t page);
/* Return the first page >= `page` that begins a block, or the number of pages of the range. */
size_t huge_next(const struct range *range, size_t page);

#endif
