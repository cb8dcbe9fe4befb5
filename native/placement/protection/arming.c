/* arming.c: taking away access to blocks. */
#define _GNU_SOURCE
#include "protection/arming.h"

#include "protection/blocks.h"

#include "memory/huge.h"
#include "memory/mapping_budget.h"
#include "process/system.h"
#include "protection/holds.h"
#include "protection/signals.h"

#include <sys/mman.h>

static void coarsen(struct range *range, uint32_t shift) {
    const uint64_t mask = lock_take(&protection_lock);
    struct record *r = record_make(range);
    if (r && shift > atomic_load(&r->shift)) {
        record_open(r);
        atomic_store(&r->shift, shift);
    }
    lock_give(&protection_lock, mask);
}

void protection_coarsen(struct range *range, size_t pages) {
    uint32_t shift = FINEST_SHIFT;
    while (((size_t)1 << (shift - FINEST_SHIFT)) < pages)
        shift++;
    coarsen(range, shift);
}

void protection_coarsen_to(struct range *range, size_t blocks, size_t most_pages) {
    const size_t pages = (range->end - range->start) / PAGE_BYTES / blocks;
    protection_coarsen(range, pages < most_pages ? pages : most_pages);
}

void protection_huge(const void *start, size_t bytes) {
    for (uintptr_t at = (uintptr_t)start; at < (uintptr_t)start + bytes;) {
        struct range *range = ranges_find(at);
        if (range && range->end - range->start >= HUGE_RANGE_BYTES)
            coarsen(range, HUGE_SHIFT);
        at = range && range->end > at ? range->end : at + RANGE_BYTES / 2;
    }
}

size_t protection_blocks(struct range *range) {
    const uint64_t mask = lock_take(&protection_lock);
    struct record *r = record_make(range);
    const size_t blocks = r && !atomic_load(&r->refused) ? blocks_of(r) : 0;
    lock_give(&protection_lock, mask);
    return blocks;
}

size_t protection_block_first(struct range *range, size_t block, size_t *pages) {
    const struct record *r = record_of(range);
    *pages = (block_end(r, block) - block_start(r, block)) / PAGE_BYTES;
    return (block_start(r, block) - r->start) / PAGE_BYTES;
}

size_t protection_block_of(struct range *range, size_t page) {
    const struct record *r = record_of(range);
    return block_of(r, r->start + page * PAGE_BYTES);
}

_Atomic uint32_t *protection_note(const struct range *range, size_t page) {
    const struct record *r = record_of((struct range *)range);
    if (!r)
        return NULL;
    return &r->note[((r->start + page * PAGE_BYTES) >> r->finest) - (r->start >> r->finest)];
}

static void leave_out(uintptr_t from, uintptr_t to, void *data) {
    struct record *r = data;
    const size_t last = block_of(r, to - 1);
    for (size_t b = block_of(r, from); b <= last; b++)
        block_claim(r, b, ARMING, OPEN);
}

/* Protect the blocks in state ARMING; under the lock. Neighbours are protected by one system call. */
static size_t protect_marked(struct record *r, size_t first, size_t count, uint8_t state) {
    size_t done = 0;
    for (size_t b = first; b < first + count;) {
        if (atomic_load(&r->state[b]) != ARMING) {
            b++;
            continue;
        }
        size_t n = 1;
        while (b + n < first + count && atomic_load(&r->state[b + n]) == ARMING)
            n++;
        const uintptr_t start = block_start(r, b), end = block_end(r, b + n - 1);
        /* Counted before the first fault can occur: a thread that finds the block open then retries. */
        atomic_fetch_add(&block_changes, 1);
        const bool refused =
            system_protect(start, end - start, state == ARMED + FOR_WRITES ? PROT_READ : PROT_NONE) != 0;
        if (refused)
            record_give_up(r);
        if (!refused && is_sampled(state))
            atomic_fetch_add(&blocks_sampled, n);
        for (size_t i = 0; i < n; i++)
            atomic_store(&r->state[b + i], refused ? OPEN : state);
        done += refused ? 0 : n;
        b += n;
    }
    return done;
}

size_t protection_arm(struct range *range, size_t first, size_t count, enum purpose purpose) {
    signals_install();
    size_t done = 0;
    const uint64_t mask = lock_take(&protection_lock);
    struct record *r = record_make(range);
    /* A profile's blocks are scattered: each is a piece, and cuts off another. */
    const bool fits = !is_sampled((uint8_t)(ARMED + purpose)) ||
                      atomic_load(&blocks_sampled) + count <= mapping_budget_total() / 2;
    if (r && fits && !atomic_load(&r->refused) && !hold_of_everything()) {
        const size_t blocks = blocks_of(r);
        first = first < blocks ? first : blocks;
        count = count < blocks - first ? count : blocks - first;
        /* First count and mark, then check the holds. A hold is published first and checks the blocks then:
         * therefore one of the two always sees the other. */
        atomic_fetch_add(&blocks_armed, count);
        atomic_fetch_add(&r->armed, (uint32_t)count);
        for (size_t b = first; b < first + count; b++)
            block_claim(r, b, OPEN, ARMING);
        if (count && hold_of_everything())
            leave_out(block_start(r, first), block_end(r, first + count - 1), r);
        else if (count)
            holds_within(block_start(r, first), block_end(r, first + count - 1), leave_out, r);
        done = protect_marked(r, first, count, (uint8_t)(ARMED + purpose));
        atomic_fetch_sub(&blocks_armed, count - done);
        atomic_fetch_sub(&r->armed, (uint32_t)(count - done));
    }
    lock_give(&protection_lock, mask);
    return done;
}

size_t protection_arm_groups(struct range *range, size_t first, size_t pages, uint32_t shift) {
    if (!protection_blocks(range))
        return 0;
    struct record *r = record_of(range);
    atomic_store(&r->group_shift, shift);
    const uintptr_t start = r->start + first * PAGE_BYTES, end = start + pages * PAGE_BYTES;
    const size_t block = block_of(r, start);
    return protection_arm(range, block, block_of(r, end - 1) - block + 1, FOR_FIRST_TOUCH);
}

size_t protection_disarm(struct range *range, size_t first, size_t count, enum purpose purpose) {
    size_t opened = 0;
    const uint64_t mask = lock_take(&protection_lock);
    struct record *r = record_of(range);
    if (r) {
        const size_t blocks = blocks_of(r);
        first = first < blocks ? first : blocks;
        count = count < blocks - first ? count : blocks - first;
        opened = blocks_open(r, first, count, 1u << purpose, NULL);
    }
    lock_give(&protection_lock, mask);
    return opened;
}
