/* holds.h: memory that the kernel reads or writes for the program at this moment: it stays open meanwhile.
 *
 * Contract. A hold is published before its taker looks at the blocks, and whoever protects looks at the holds
 * after it has marked the blocks as its own: so one of the two sees the other. A thread that is cancelled
 * in its call never gives its hold back; then that memory is left alone for good.
 */
#ifndef NUMAPLACE_HOLDS_H
#define NUMAPLACE_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOLD_EVERYTHING UINT32_MAX

uint32_t hold_take(uintptr_t start, uintptr_t end); /* HOLD_EVERYTHING where the table is full */
uint32_t hold_take_everything(void);
/* Hold everything until a time (system_now_ns), without an end to be given. */
void hold_everything_until(uint64_t time_ns);
void hold_give(uint32_t hold);
bool hold_of_everything(void);
/* Visit the held parts of [start, end). */
void holds_within(uintptr_t start, uintptr_t end, void (*visit)(uintptr_t from, uintptr_t to, void *data),
                  void *data);

#endif
