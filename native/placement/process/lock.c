/* lock.c: locks by futex, with all signals of the holder blocked. */
#define _GNU_SOURCE
#include "process/lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KERNEL_MASK_BYTES 8

static uint64_t set_mask(uint64_t mask) {
    const int before = errno;
    uint64_t old = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &old, (size_t)KERNEL_MASK_BYTES);
    errno = before;
    return old;
}

uint64_t signals_block(void) { return set_mask(UINT64_MAX); }

#define BIT(signal) (1ull << ((signal)-1))

uint64_t signals_block_but_faults(void) { return set_mask(~BIT(SIGSEGV)); }

uint64_t signals_block_but_library(void) { return set_mask(~(BIT(SIGSEGV) | BIT(32) | BIT(33))); }

void signals_restore(uint64_t mask) { set_mask(mask); }

static void futex(_Atomic uint32_t *word, int operation, uint32_t value) {
    const int before = errno;
    syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
    errno = before;
}

uint64_t lock_take(struct lock *lock) {
    const uint64_t mask = signals_block();
    uint32_t seen = 0;
    if (atomic_compare_exchange_strong(&lock->state, &seen, 1))
        return mask;
    while (atomic_exchange(&lock->state, 2) != 0)
        futex(&lock->state, FUTEX_WAIT_PRIVATE, 2);
    return mask;
}

void lock_give(struct lock *lock, uint64_t mask) {
    if (atomic_exchange(&lock->state, 0) == 2)
        futex(&lock->state, FUTEX_WAKE_PRIVATE, 1);
    signals_restore(mask);
}

bool gate_pass(struct gate *gate) {
    uint32_t seen = 0;
    if (!atomic_compare_exchange_strong(&gate->state, &seen, 2))
        return true;
    const int before = errno;
    const struct timespec second = {1, 0};
    long answer = 0;
    while (atomic_load(&gate->state) == 2 && !(answer < 0 && errno == ETIMEDOUT))
        answer = syscall(SYS_futex, &gate->state, FUTEX_WAIT_PRIVATE, 2, &second, NULL, 0);
    errno = before;
    return atomic_load(&gate->state) != 2;
}

void gate_open(struct gate *gate) {
    if (atomic_exchange(&gate->state, 1) == 2)
        futex(&gate->state, FUTEX_WAKE_PRIVATE, 1);
}
