/* moves.h: moves pages to their nodes, in batches.
 *
 * Contract. One queue a slot, allocated when first used. moves_add may be called in a signal handler, with
 * signals blocked; `absent` is called under the queue's lock.
 */
#ifndef NUMAPLACE_MOVES_H
#define NUMAPLACE_MOVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Queue pages for a node; if the slot's queue is full, first move its blocks. `absent` is called for each
 * block with a page that was never touched. */
typedef void (*moves_absent)(uintptr_t start, size_t pages);
void moves_add(uint32_t slot, uintptr_t start, size_t pages, uint16_t node, moves_absent absent);
/* Move the queued blocks of a slot. */
void moves_flush_slot(uint32_t slot, moves_absent absent);
/* Move all queued blocks, of every slot. */
void moves_flush(moves_absent absent);

#endif
