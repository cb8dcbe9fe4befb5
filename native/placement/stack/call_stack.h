/* call_stack.h: the calls that led to an instruction, by the unwind tables of the loaded modules.
 *
 * Contract. Async-signal-safe: no lock, no allocation, no call of the unwinder's or the loader's functions
 * but loaded_module_of's. The program's stack is read by system calls, which fail where it cannot be read: a
 * stack may lie anywhere, also in memory that is protected. Where a frame has no unwind table, or rules that
 * are more than offsets (System V ABI, DWARF 5 sec. 6.4), the stack ends there. Each step leads to a higher
 * address, and there are at most MOST_STEPS. errno is kept.
 */
#ifndef NUMAPLACE_CALL_STACK_H
#define NUMAPLACE_CALL_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOST_STEPS 32u
#define PLACED_FRAMES 16u

/* The calls that led to one of this library, innermost first, of each function the innermost one alone, and
 * where on the stack each returns from: whoever meets the same bytes there again is called the same way. */
struct placed_stack {
    size_t depth;
    bool is_whole; /* all places are known */
    uintptr_t frame[PLACED_FRAMES];
    uintptr_t place[PLACED_FRAMES]; /* of the return address, which is one more than the frame */
};

/* Store up to `most` addresses, innermost first, of the code that the signal interrupted; return their
 * number. The first is the interrupted instruction, each other one the last byte of a call. */
size_t stack_of_signal(const void *context, uintptr_t *frames, size_t most);
/* The same for the caller of this library in the calling thread: all are the last bytes of calls. */
size_t stack_of_caller(uintptr_t *frames, size_t most);
size_t stack_placed(struct placed_stack *stack);

#endif
