/* protection.c: faults and system calls on protected memory.
 *
 * A block may be opened by several threads at once, and by a handler that interrupted any code: no lock can
 * be taken there. Its state decides by compare-and-swap which thread opens it; the others retry their access.
 * If a retry faults again although no block changed meanwhile, the fault is passed to the program
 * (may_be_late).
 */
#define _GNU_SOURCE
#include "protection/protection.h"

#include "../regions/export.h"
#include "memory/ranges.h"
#include "process/system.h"
#include "process/thread_slot.h"
#include "protection/blocks.h"
#include "protection/holds.h"
#include "protection/signals.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define MOST_STEPS 65536ul /* most steps of a search for ranges */

#define EXEC_NS 1000000000u /* until the kernel has read the arguments */

static atomic_bool wanted;
static THREAD_LOCAL uint32_t hold_at_fork;
static bool fork_is_alone;
static void (*on_release)(void);

/* The thread's last retried access to a block that was not armed: if it faults again, and no block was opened
 * or forgotten since, the fault is the program's. */
static THREAD_LOCAL struct {
    uintptr_t address;
    uint32_t changes;
    bool valid;
} tried;

static bool may_be_late(uintptr_t address, uint32_t seen) {
    if (tried.valid && tried.address == address && tried.changes == seen) {
        tried.valid = false;
        return false;
    }
    tried.address = address;
    tried.changes = seen;
    tried.valid = true;
    return true;
}

/* The faulting thread may hold any lock of the program or the C library, so nothing here takes one: the
 * record is kept alive by the count of readers, and the block's state says who opens it. */
bool protection_fault(uintptr_t address, const void *context) {
    atomic_fetch_add(&record_readers, 1);
    /* Read before the block's state, so that a block that another thread opens meanwhile changes it. */
    const uint32_t seen = atomic_load(&block_changes);
    struct range *range = ranges_find(address);
    struct record *r = range ? record_of(range) : NULL;
    bool ours = false;
    if (r && address >= r->start && address < r->end) {
        const size_t block = block_of(r, address);
        const struct touch by = {.address = address,
                                 .instruction = signal_instruction(context),
                                 .slot = slot_of_this_thread(),
                                 .access = signal_access(context),
                                 .context = context};
        size_t first = block, count = 1;
        if (atomic_load(&r->state[block]) == ARMED + FOR_FIRST_TOUCH)
            first = block_group(r, block, &count);
        if (blocks_open(r, first, count, count > 1 ? 1u << FOR_FIRST_TOUCH : EVERY_PURPOSE, &by)) {
            ours = true;
        } else if (atomic_load(&r->state[block]) != OPEN) { /* another thread is opening or arming it */
            sched_yield();
            ours = true;
        }
    }
    atomic_fetch_sub(&record_readers, 1);
    return ours || may_be_late(address, seen);
}

static void open_part(struct range *range, uintptr_t start, uintptr_t end, const struct touch *by) {
    struct record *r = record_of(range);
    if (!r)
        return;
    start = start > r->start ? start : r->start;
    end = end < r->end ? end : r->end;
    if (start >= end)
        return;
    const size_t first = block_of(r, start), count = block_of(r, end - 1) - first + 1;
    /* What is being armed becomes armed before it can be opened, and what another thread opens has to be open
     * before the system call begins: wait before and after. */
    blocks_settle(r, first, count);
    blocks_open(r, first, count, EVERY_PURPOSE, by);
    blocks_settle(r, first, count);
}

/* Ranges are larger than half of RANGE_BYTES, so steps of that size and the last byte miss none. */
static void open_held(uintptr_t start, uintptr_t end, const void *caller) {
    const struct touch by = {.instruction = (uintptr_t)caller, .slot = slot_of_this_thread()};
    for (uintptr_t at = start;;) {
        struct range *range = ranges_find(at);
        uintptr_t next = at + RANGE_BYTES / 2;
        if (range) {
            open_part(range, start, end, &by);
            next = range->end > at ? range->end : next;
        }
        if (at == end - 1)
            return;
        at = next < end && next > at ? next : end - 1;
    }
}

uint32_t protection_hold(const void *start, size_t bytes, const void *caller) {
    const uintptr_t from = (uintptr_t)start;
    uintptr_t to;
    if (__builtin_add_overflow(from, bytes, &to)) /* not a real object: the call will report it */
        to = UINTPTR_MAX;
    /* The hold comes first: protection_arm marks its blocks and then checks the holds: one sees the other. */
    const uint32_t hold = hold_take(from, to);
    if (!atomic_load(&blocks_armed) || to == from)
        return hold;
    if (bytes >
        MOST_STEPS * RANGE_BYTES) { /* more than the object has: the caller knows where the data ends */
        protection_open_all();
        return hold;
    }
    const uint64_t mask = signals_block();
    atomic_fetch_add(&record_readers, 1);
    open_held(from, to, caller);
    atomic_fetch_sub(&record_readers, 1);
    signals_restore(mask);
    return hold;
}

void protection_release(uint32_t hold) {
    if (hold == NO_HOLD)
        return;
    hold_give(hold);
    if (hold == HOLD_EVERYTHING && on_release && protection_wanted() && !hold_of_everything())
        on_release();
}

void protection_on_release(void (*closed)(void)) { on_release = closed; }

uint32_t protection_hold_all(void) {
    const uint32_t hold = hold_take_everything();
    if (atomic_load(&blocks_armed))
        protection_open_all();
    return hold;
}

void protection_open_for_exec(void) {
    hold_everything_until(system_now_ns() + EXEC_NS);
    protection_open_all();
}

void protection_thread_ends(void) {
    if (!protection_wanted())
        return;
    hold_everything_while(gettid());
    protection_open_all();
}

void protection_open_all(void) {
    const uint64_t mask = lock_take(&protection_lock);
    records_open();
    lock_give(&protection_lock, mask);
}

void protection_withdraw(void) {
    atomic_store(&wanted, false);
    hold_take_everything(); /* keeps threads that are about to protect blocks from doing so */
    protection_open_all();
}

void protection_forget(struct range *range) {
    if (!protection_wanted() || record_never(range))
        return;
    const uint64_t mask = lock_take(&protection_lock);
    record_forget(range);
    lock_give(&protection_lock, mask);
}

/* No lock is held over a fork: the program's own fork handlers may free memory. */
static void before_fork(void) { hold_at_fork = protection_hold_all(); }

static void after_fork(void) { protection_release(hold_at_fork); }

void protection_fork_is_alone(bool alone) { fork_is_alone = alone; }

bool protection_goes_on(void) { return protection_wanted() && (fork_is_alone || !signals_installed()); }

/* Otherwise everything stays open: another thread may have been in the middle of a change under the lock. */
static void in_child(void) {
    signals_after_fork();
    if (!protection_goes_on()) {
        atomic_store(&wanted, false);
        return;
    }
    protection_lock = (struct lock){0};
    hold_give(hold_at_fork);
}

bool protection_wanted(void) { return atomic_load_explicit(&wanted, memory_order_relaxed); }

bool protection_active(void) { return atomic_load_explicit(&blocks_armed, memory_order_relaxed) != 0; }

void protection_prepare(enum purpose purpose, touch_listener touched) {
    blocks_listen(purpose, touched);
    if (atomic_exchange(&wanted, true))
        return;
    signals_watch(protection_fault);
    pthread_atfork(before_fork, after_fork, in_child);
}
