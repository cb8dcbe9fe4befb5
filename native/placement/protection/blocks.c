/* blocks.c: the blocks of each range: where they begin, and opening them. */
#define _GNU_SOURCE
#include "protection/blocks.h"

#include "memory/huge.h"
#include "process/system.h"

#include <sched.h>
#include <sys/mman.h>

#define FORGOTTEN ((void *)1)

struct lock protection_lock;
_Atomic size_t blocks_armed;
_Atomic size_t blocks_sampled;
_Atomic uint32_t block_changes;
_Atomic uint32_t record_readers;
static struct record *records, *retired;
static touch_listener listeners[FOR_HINT + 1]; /* by purpose; set before anything is protected */

void blocks_listen(enum purpose purpose, touch_listener touched) { listeners[purpose] = touched; }

static size_t blocks_at(uintptr_t start, uintptr_t end, uint32_t shift) {
    return ((end - 1) >> shift) - (start >> shift) + 1;
}

size_t blocks_of(const struct record *r) { return blocks_at(r->start, r->end, atomic_load(&r->shift)); }

size_t block_of(const struct record *r, uintptr_t address) {
    const uint32_t shift = atomic_load(&r->shift);
    return (address >> shift) - (r->start >> shift);
}

uintptr_t block_start(const struct record *r, size_t block) {
    const uint32_t shift = atomic_load(&r->shift);
    const uintptr_t start = ((r->start >> shift) + block) << shift;
    return start > r->start ? start : r->start;
}

uintptr_t block_end(const struct record *r, size_t block) {
    const uint32_t shift = atomic_load(&r->shift);
    const uintptr_t end = ((r->start >> shift) + block + 1) << shift;
    return end < r->end ? end : r->end;
}

size_t block_group(const struct record *r, size_t block, size_t *count) {
    const uint32_t shift = atomic_load(&r->group_shift);
    const uintptr_t low = block_start(r, block) >> shift << shift, end = low + ((uintptr_t)1 << shift);
    const size_t first = block_of(r, low > r->start ? low : r->start);
    const size_t last = block_of(r, (end < r->end ? end : r->end) - 1);
    *count = last > block ? last - first + 1 : block - first + 1;
    return first;
}

struct record *record_of(struct range *range) {
    void *seen = atomic_load(&range->protection);
    return seen == FORGOTTEN ? NULL : seen;
}

struct record *record_make(struct range *range) {
    struct record *r = record_of(range);
    if (r || atomic_load(&range->protection) == FORGOTTEN)
        return r;
    uint32_t shift = huge_range(range) ? HUGE_SHIFT : FINEST_SHIFT;
    while (blocks_at(range->start, range->end, shift) > BLOCK_LIMIT)
        shift++;
    const size_t blocks = blocks_at(range->start, range->end, shift), word = sizeof *r->note;
    const size_t states = (sizeof *r + blocks + word - 1) / word * word, bytes = states + blocks * word;
    r = system_memory(bytes);
    if (!r)
        return NULL;
    r->range = range;
    r->start = range->start;
    r->end = range->end;
    r->rights = range->kind == RANGE_FILE && range->file.read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    r->bytes = bytes;
    r->finest = shift;
    r->note = (_Atomic uint32_t *)((char *)r + states);
    atomic_store(&r->shift, shift);
    atomic_store(&r->group_shift, shift);
    void *none = NULL;
    if (!atomic_compare_exchange_strong(&range->protection, &none, r)) { /* it is being forgotten */
        system_free(r, bytes);
        return NULL;
    }
    r->after = records;
    if (records)
        records->before = r;
    records = r;
    return r;
}

bool record_never(struct range *range) {
    void *none = NULL;
    return atomic_compare_exchange_strong(&range->protection, &none, FORGOTTEN);
}

static void free_retired(void) {
    if (atomic_load(&record_readers) != 0)
        return;
    while (retired) {
        struct record *r = retired;
        retired = r->after;
        system_free(r, r->bytes);
    }
}

void record_forget(struct range *range) {
    struct record *r = record_of(range);
    if (r) {
        record_open(r);
        if (r->before)
            r->before->after = r->after;
        else
            records = r->after;
        if (r->after)
            r->after->before = r->before;
    }
    atomic_store(&range->protection, FORGOTTEN);
    atomic_fetch_add(&block_changes, 1);
    if (r) {
        r->after = retired;
        retired = r;
    }
    free_retired();
}

static bool is_armed(uint8_t state) { return state >= ARMED && state <= ARMED_LAST; }

bool block_claim(struct record *r, size_t block, uint8_t from, uint8_t to) {
    return atomic_compare_exchange_strong(&r->state[block], &from, to);
}

static void opened_now(struct record *r, uint8_t state, size_t number) {
    atomic_fetch_sub(&blocks_armed, number);
    atomic_fetch_sub(&r->armed, (uint32_t)number);
    if (is_sampled(state))
        atomic_fetch_sub(&blocks_sampled, number);
}

void record_give_up(struct record *r) {
    const size_t blocks = blocks_of(r);
    atomic_store(&r->refused, true);
    system_protect(r->start, r->end - r->start, r->rights);
    for (size_t b = 0; b < blocks; b++) {
        const uint8_t state = atomic_load(&r->state[b]);
        if (is_armed(state) && block_claim(r, b, state, OPEN))
            opened_now(r, state, 1);
    }
    atomic_fetch_add(&block_changes, 1);
}

static void tell(struct record *r, size_t block, uint8_t state, const struct touch *by) {
    struct touch touch = *by;
    touch.range = r->range;
    touch.first = (block_start(r, block) - r->start) / PAGE_BYTES;
    touch.pages = (block_end(r, block) - block_start(r, block)) / PAGE_BYTES;
    if (state == ARMED + FOR_WRITES && by->context)
        touch.access = ACCESS_WRITE;
    listeners[state - ARMED](&touch);
}

static bool begins_group(const struct record *r, size_t block) {
    size_t count;
    return block_group(r, block, &count) == block;
}

size_t blocks_open(struct record *r, size_t first, size_t count, unsigned purposes, const struct touch *by) {
    size_t opened = 0;
    for (size_t b = first; b < first + count;) {
        const uint8_t state = atomic_load(&r->state[b]);
        if (!is_armed(state) || !(purposes >> (state - ARMED) & 1)) {
            b++;
            continue;
        }
        size_t n = 0;
        while (b + n < first + count && block_claim(r, b + n, state, OPENING))
            n++;
        if (n == 0)
            continue;
        const uintptr_t start = block_start(r, b), end = block_end(r, b + n - 1);
        if (system_protect(start, end - start, r->rights) != 0)
            record_give_up(r);
        atomic_fetch_add(&block_changes, 1);
        for (size_t i = 0; by && i < n; i++)
            if (state != ARMED + FOR_FIRST_TOUCH || i == 0 || begins_group(r, b + i))
                tell(r, b + i, state, by);
        for (size_t i = 0; i < n; i++)
            atomic_store(&r->state[b + i], OPEN);
        opened_now(r, state, n);
        opened += n;
        b += n;
    }
    return opened;
}

/* Wait until no thread is in the middle of opening or arming these blocks. */
void blocks_settle(struct record *r, size_t first, size_t count) {
    for (size_t b = first; b < first + count; b++)
        while (atomic_load(&r->state[b]) >= ARMING)
            sched_yield();
}

void record_open(struct record *r) {
    const size_t blocks = blocks_of(r);
    blocks_open(r, 0, blocks, EVERY_PURPOSE, NULL);
    blocks_settle(r, 0, blocks);
}

void records_open(void) {
    for (struct record *r = records; r; r = r->after)
        if (atomic_load(&r->armed))
            record_open(r);
}
