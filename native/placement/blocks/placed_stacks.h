/* placed_stacks.h: finds the number of a call stack again without walking it.
 *
 * Contract. Of a stack that was walked, it is known where each of its return addresses lies. A call that
 * returns to the same place from the same frame, with the same return addresses there, has the same stack.
 * Lock-free; any thread. Numbers are those of call_stacks.h.
 */
#ifndef NUMAPLACE_PLACED_STACKS_H
#define NUMAPLACE_PLACED_STACKS_H

#include <stdint.h>

/* Return the number of the stack of a call of this library that returns to `caller`, from the frame with this
 * canonical address; 0 where it has to be walked. */
uint32_t placed_stack_known(const void *caller, const void *frame);
/* Walk it and return its number, 0 where there is none. */
uint32_t placed_stack_walk(const void *caller, const void *frame);

#endif
