/* page_chunks.h: into how many chunks a range is cut, and on which node each is.
 *
 * Contract. Under dataset a range has one chunk a slot, in their order. Under weighted it has those of the
 * settings in turn, again and again, as often as MOST_STRIPES runs on one node allow and chunks of
 * CHUNK_PAGES, or of a huge page where a range has those. It is an odd number of turns: of threads that begin
 * at the parts of a power of two, not all then begin in the same part of a turn. A range that is too small
 * for one turn has pages out of it, evenly apart.
 *
 * Where the kernel interleaves by weights (Linux 6.9; linux/mempolicy.h: MPOL_WEIGHTED_INTERLEAVE), and has
 * been given these, it does so for all memory, and no range is cut.
 */
#ifndef NUMAPLACE_PAGE_CHUNKS_H
#define NUMAPLACE_PAGE_CHUNKS_H

#include "memory/ranges.h"

#define MOST_STRIPES 64u
#define CHUNK_PAGES 16u

/* Let the kernel interleave the calling thread's new pages by the weights of the settings, if it can. */
bool page_chunks_by_kernel(void);
/* Return how many chunks a range has, and at most how many runs of neighbouring ones on one node. */
size_t page_chunks(const struct range *range);
size_t page_chunk_runs(const struct range *range);
/* Return the node of a chunk, and the chunk of one page of so many. */
uint16_t page_chunk_node(size_t chunk);
static inline size_t page_chunk_of(size_t page, size_t pages, size_t chunks) { return page * chunks / pages; }
/* The page at which a chunk begins. */
static inline size_t page_chunk_start(size_t chunk, size_t pages, size_t chunks) {
    return (chunk * pages + chunks - 1) / chunks;
}

#endif
