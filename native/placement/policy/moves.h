/* moves.h: pages on their way to a node, some at a time.
 *
 * Contract. One queue a slot, allocated when first used. May be called in a signal handler, with signals
 * blocked.
 */
#ifndef NUMAPLACE_MOVES_H
#define NUMAPLACE_MOVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Queue pages for a node; when the slot's queue is full, first move what is in it. `absent` is called for
 * each block of which a page is not there yet. */
typedef void (*moves_absent)(uintptr_t start, size_t pages);
void moves_add(uint32_t slot, uintptr_t start, size_t pages, uint16_t node, moves_absent absent);
/* Move what is queued. */
void moves_flush(moves_absent absent);

#endif
