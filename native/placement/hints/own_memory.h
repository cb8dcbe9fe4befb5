/* own_memory.h: whether memory is this process's alone: anonymous and private.
 *
 * Contract. Asks the kernel, by system calls alone. What it answers may be untrue a moment later: all that is
 * then done with the memory does no harm.
 */
#ifndef NUMAPLACE_OWN_MEMORY_H
#define NUMAPLACE_OWN_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Whether each page of [start, end) is mapped, of no file and not shared. */
bool memory_is_own(uintptr_t start, uintptr_t end);

#endif
