/* protection.h: finds out which thread touches which page, by protecting the page for a short time.
 *
 * Contract. Three users: next touch (ForestGOMP sec. 3.4), by the mapping or as the program
 * says (hints/hint_touches.h), and the sampled page-access profile. Only ranges of
 * ranges.h are ever protected, in blocks: aligned to their size, which is a power of two pages: one page, or
 * for large ranges as many as keep the number of blocks at BLOCK_LIMIT, for each boundary between protected
 * and open memory costs the kernel a mapping (mapping_budget.h); and 2 MB where the kernel uses huge
 * pages, which protecting a part would split.
 *
 * A touch of a protected block raises SIGSEGV in the touching thread; signals.c passes it to
 * protection_fault, which opens the block, reports the touch to the block's user, and returns true.
 *
 * The kernel does not raise a signal when a system call touches protected memory: it fails with EFAULT. So
 * calls.c and delays.c open what the program hands to calls that move data or may wait, and keep it open
 * until they return (protection_hold); around the rarer calls (guards.c), fork, exec and what starts
 * programs, everything is open; waits.c and heap.c leave out objects that threads wait for and memory of the
 * C library's own. Threads get an alternate signal stack when they start (stacks.c), for their own may be a
 * fiber's in protected memory. The following can still fail under next touch or a profile, though not
 * without:
 *   - raw system calls (syscall, clone, C++20 atomic waits among them), io_uring, aio, registering memory for
 * a network; what an argument of ioctl points to in its turn, where the call waits;
 *   - printf of a string of more than a page in a large object, straight out of it; a stream whose buffer,
 * obtained before the library looked, lies there;
 *   - clock_gettime, gettimeofday and timespec_get (clocks.c) where the vDSO cannot read the clock source
 * (not tsc, a hypervisor's or Arm's) and the program has not touched where the time goes;
 *   - a fiber in protected memory in a program with a SIGSEGV handler of its own without SA_ONSTACK, where
 * the switch to it is not swapcontext's or setcontext's.
 *
 * If the kernel refuses (too many mappings, a range gone), the block's whole range is opened and left alone.
 */
#ifndef NUMAPLACE_PROTECTION_H
#define NUMAPLACE_PROTECTION_H

#include "protection/touch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_HOLD (UINT32_MAX - 1)

/* Call once for each purpose, before anything is protected and while there is one thread: call `touched` for
 * each block that is protected for it and touched, and keep SIGSEGV out of masks from here on. */
void protection_prepare(enum purpose purpose, touch_listener touched);
/* Whether protection_prepare was called: one relaxed load, for calls.c's fast path. */
bool protection_wanted(void);
/* Whether anything is protected now. */
bool protection_active(void);
/* Call `closed` whenever protection may begin again after a hold of everything: in any thread, without locks.
 */
void protection_on_release(void (*closed)(void));
/* A fault of the calling thread at `address`, with the signal's context; true if it was caused by
 * this library, or may have been, and the access can be retried. Async-signal-safe. */
bool protection_fault(uintptr_t address, const void *context);
/* Open [start, start + bytes) as if the calling thread had touched it, by the call that returns to `caller`,
 * and keep it open until the release. If the table of holds is full, everything is held instead. */
uint32_t protection_hold(const void *start, size_t bytes, const void *caller);
/* NO_HOLD means no hold; releasing it does nothing. */
void protection_release(uint32_t hold);
/* Open everything, and keep it open until the release: before fork and the like. */
uint32_t protection_hold_all(void);
/* Open everything, and keep it open for one second: before exec, which does not return to release a hold; in
 * the child of a vfork the hold is in the parent's memory. */
void protection_open_for_exec(void);
/* The calling thread ends: open everything, and keep it open until it is gone. With all signals blocked the C
 * library then frees what other threads before it have left, next to blocks of the program. */
void protection_thread_ends(void);
/* Open a whole range and forget it: before its memory is freed. */
void protection_forget(struct range *range);
/* Open everything. */
void protection_open_all(void);
/* Before a fork: whether the process has no other thread. And in its child: whether it may be protected as
 * its parent was, because of that, or because nothing was ever protected. */
void protection_fork_is_alone(bool alone);
bool protection_goes_on(void);
/* Open everything, and never protect again. */
void protection_withdraw(void);

#endif
