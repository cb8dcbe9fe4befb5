/* lock.h: a lock whose holder has all signals blocked, so that a handler cannot run in between.
 *
 * Contract. Under it the holder touches no memory of the program, so that it raises no fault, and takes locks
 * only in the order profile, protection, queue. Threads wait in the kernel (futex). errno is kept. May be
 * called in a signal handler; the mask is restored to what it was.
 */
#ifndef NUMAPLACE_LOCK_H
#define NUMAPLACE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct lock {
    _Atomic uint32_t state; /* 0 free, 1 held, 2 held and waited for */
};

/* Block every signal of the calling thread, by a raw system call, and return its mask; restore the mask. */
uint64_t signals_block(void);
/* The same around calls of the C library, which may touch memory that is protected. */
uint64_t signals_block_but_faults(void);
/* And for a thread that lives on: the C library's own two stay open, which each thread must answer (setuid).
 */
uint64_t signals_block_but_library(void);
void signals_restore(uint64_t mask);

/* Take the lock and return the signal mask for lock_give. */
uint64_t lock_take(struct lock *lock);
void lock_give(struct lock *lock, uint64_t mask);

/* A gate that one thread opens once, for one other thread that waits for it. After gate_open the gate's
 * memory may be freed by the other thread. gate_pass waits one second at most, and returns whether the gate
 * was open: the opener may be in a signal handler that does not return, or that waits for this thread. */
struct gate {
    _Atomic uint32_t state; /* 0 shut, 1 open, 2 shut and waited at */
};
bool gate_pass(struct gate *gate);
void gate_open(struct gate *gate);

#endif
