/* call_stacks.h: the distinct call stacks of a profile, numbered.
 *
 * Contract. Noting one takes no lock and may be done in a signal handler. Numbers begin with 1; 0 is no
 * stack: not known, or no room. Entries are never removed. Resolving is done under one lock, profile.c's.
 */
#ifndef NUMAPLACE_CALL_STACKS_H
#define NUMAPLACE_CALL_STACKS_H

#include "protection/touch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STACK_FRAMES 16u

/* Call once, before any other; false if there is no memory: then no stack is noted. */
bool call_stacks_prepare(void);
/* Return the number of the stack of a touch, or of the calling thread's call of this library. */
uint32_t call_stack_of_touch(const struct touch *touch);
uint32_t call_stack_here(void);
/* Return the number of a stack of so many addresses, each that of the last byte of a call. */
uint32_t call_stack_noted(const uintptr_t *address, size_t depth);
/* Return how often call_stack_here has returned this number before, and count this time. */
uint32_t call_stack_uses(uint32_t number);
/* Look up the modules of a stack's frames, unless that was done: at the latest while they are still loaded.
 */
void call_stack_resolve(uint32_t number);
/* Return the number of numbers; and a resolved stack, NULL where the number is not in use. */
uint32_t call_stacks_count(void);
struct resolved_frame {
    const char *module; /* path; "" for code that belongs to no file */
    uint64_t offset;    /* of a byte of the instruction */
};
const struct resolved_frame *call_stack_frames(uint32_t number, uint32_t *depth);

#endif
