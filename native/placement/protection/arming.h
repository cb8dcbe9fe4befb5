/* arming.h: protecting the blocks of a range (protection.h), for next touch and the profile.
 *
 * Contract. Any thread, but not in a signal handler. A range is divided into blocks at the first call; pages
 * are numbered within the range.
 */
#ifndef NUMAPLACE_ARMING_H
#define NUMAPLACE_ARMING_H

#include "protection/touch.h"

#include <stddef.h>
#include <stdint.h>

/* The program wants huge pages here (madvise). */
void protection_huge(const void *start, size_t bytes);

/* Return how many blocks a range has now, 0 where it cannot be protected; and the pages of one: the first,
 * and in `pages` their number. */
size_t protection_blocks(struct range *range);
size_t protection_block_first(struct range *range, size_t block, size_t *pages);
/* Return the block that holds a page. */
size_t protection_block_of(struct range *range, size_t page);
/* Return a word for the caller's use, zero at first, shared by the pages of one finest block (before any
 * coarsening), or NULL if there is none. It is freed with the range. */
_Atomic uint32_t *protection_note(const struct range *range, size_t page);
/* Open the range and give it blocks of at least `pages`. */
void protection_coarsen(struct range *range, size_t pages);
/* The same, for about so many blocks of at most so many pages. */
void protection_coarsen_to(struct range *range, size_t blocks, size_t most_pages);
/* Protect blocks, except those that are not open or are held by a system call; return how many were. */
size_t protection_arm(struct range *range, size_t first, size_t count, enum purpose purpose);
/* Protect pages for their first touch, in groups aligned to 1 << `shift` bytes that are opened together (the
 * listener is told each group's first opened block); return how many blocks were. */
size_t protection_arm_groups(struct range *range, size_t first, size_t pages, uint32_t shift);
/* Open those that are still armed for this purpose; this does not count as a touch. Return how many were. */
size_t protection_disarm(struct range *range, size_t first, size_t count, enum purpose purpose);

#endif
