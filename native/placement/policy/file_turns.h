/* file_turns.h: interleaving the pages of a mapped file over the page nodes.
 *
 * Contract. Blocks of pages go to the nodes in turn, by the place in the file: what the kernel moves as one
 * (a folio) is not cut. A part of a file, which has a block for each node, stays as it is where each node has
 * pages of it already, as the kernel's own interleaving leaves them.
 */
#ifndef NUMAPLACE_FILE_TURNS_H
#define NUMAPLACE_FILE_TURNS_H

#include "memory/range.h"

#define FILE_QUERY 128 /* pages: a thread that maps or unmaps a file may have a small stack */

/* Choose the size of its blocks, before all else, for a file that was mapped: what is left of it later keeps
 * them. */
void file_turns_begin(struct range *range);
/* Return how many pages a part has. */
size_t file_part(const struct range *range);
/* Return the node whose turn a page is. */
uint16_t file_turn(const struct range *range, size_t page);
/* The same under interleave, or -1 where its part of the file is spread already. */
int file_interleaved(const struct range *range, size_t page);
/* Ask where pages are, FILE_QUERY at most; return of how many. */
size_t file_query(const struct range *range, size_t first, size_t count, void **page, int *status);

#endif
