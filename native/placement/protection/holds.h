/* holds.h: memory that a system call of the program reads or writes: it stays open during the call.
 *
 * Contract. Lock-free; any thread, also in a signal handler. A hold is published before its thread checks the
 * blocks, and a protecting thread checks the holds after it has marked its blocks ARMING: therefore one of
 * the two always sees the other. A thread that is cancelled in its call never releases its hold; then that
 * memory is never protected again.
 */
#ifndef NUMAPLACE_HOLDS_H
#define NUMAPLACE_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOLD_EVERYTHING UINT32_MAX

uint32_t hold_take(uintptr_t start, uintptr_t end); /* HOLD_EVERYTHING if the table is full */
uint32_t hold_take_everything(void);
/* Hold everything until a time (system_now_ns); there is nothing to release. */
void hold_everything_until(uint64_t time_ns);
/* Hold everything until a thread of this process, by its number, is gone. */
void hold_everything_while(int thread);
void hold_give(uint32_t hold);
bool hold_of_everything(void);
/* Visit the held parts of [start, end). */
void holds_within(uintptr_t start, uintptr_t end, void (*visit)(uintptr_t from, uintptr_t to, void *data),
                  void *data);

#endif
