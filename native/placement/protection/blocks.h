/* blocks.h: the blocks of each range and their states.
 *
 * Contract. A block's state changes by compare-and-swap, OPEN -> ARMING -> ARMED -> OPENING -> OPEN, by one
 * thread at a time, with its signals blocked. Arming, a change of the blocks' size, and making or forgetting
 * a record is also under protection_lock: while a thread holds it, no block is newly protected. Opening is
 * not, because a faulting thread may hold any lock of the program.
 */
#ifndef NUMAPLACE_BLOCKS_H
#define NUMAPLACE_BLOCKS_H

#include "process/lock.h"
#include "protection/touch.h"

#include <stdatomic.h>

#define FINEST_SHIFT 12   /* PAGE_BYTES */
#define HUGE_SHIFT 21     /* HUGE_BYTES */
#define BLOCK_LIMIT 16384 /* of a range */
#define EVERY_PURPOSE                                                                                        \
    (1u << FOR_NEXT_TOUCH | 1u << FOR_PROFILE | 1u << FOR_FIRST_TOUCH | 1u << FOR_WRITES | 1u << FOR_HINT)

enum state { OPEN, ARMED, ARMED_LAST = ARMED + FOR_HINT, ARMING, OPENING };

struct record {
    struct range *range;
    uintptr_t start, end;          /* a copy: the range's entry in the table may be reused */
    int rights;                    /* of an open block, as for mprotect */
    struct record *before, *after; /* of all records, under the lock */
    size_t bytes;
    _Atomic uint32_t shift; /* a block has 1 << shift bytes; changes only while all is open */
    uint32_t finest;        /* what it was at first */
    _Atomic uint32_t
        group_shift;        /* blocks armed for the first touch are opened in groups of 1 << this bytes */
    _Atomic uint32_t armed; /* blocks; 0 only when all are open */
    atomic_bool refused;    /* protection refused by the kernel: left alone */
    _Atomic uint32_t *note; /* protection_note, a word for each of the finest blocks */
    _Atomic uint8_t state[];
};

extern struct lock protection_lock;
extern _Atomic size_t blocks_armed;   /* never fewer than there are */
extern _Atomic size_t blocks_sampled; /* of them those for the profile's samples, which are scattered */
/* Blocks armed and opened and ranges forgotten: may explain a fault on a block that is not armed. */
extern _Atomic uint32_t block_changes;
/* Threads that may be looking at a record without the lock. */
extern _Atomic uint32_t record_readers;

/* Register what to call for touches of blocks that are protected for a purpose. */
void blocks_listen(enum purpose purpose, touch_listener touched);

/* Return a range's record, or NULL; record_make, under the lock, makes it unless the range is forgotten. */
struct record *record_of(struct range *range);
struct record *record_make(struct range *range);
/* Return whether a range has no record; then it never gets one. */
bool record_never(struct range *range);
/* Under the lock: open the range; it never gets a record again. */
void record_forget(struct range *range);

size_t blocks_of(const struct record *r);
size_t block_of(const struct record *r, uintptr_t address);
uintptr_t block_start(const struct record *r, size_t block);
uintptr_t block_end(const struct record *r, size_t block);

/* Return the group of a block: its first block, and in `count` the number of its blocks. */
size_t block_group(const struct record *r, size_t block, size_t *count);

/* Whether a block in this state is protected for a sample. */
static inline bool is_sampled(uint8_t state) {
    return state == ARMED + FOR_PROFILE || state == ARMED + FOR_WRITES;
}

/* Change a block's state if it is `from`. */
bool block_claim(struct record *r, size_t block, uint8_t from, uint8_t to);
/* Open those of the blocks that are armed for one of the purposes, neighbours by one system call, and report
 * the touch `by` unless it is NULL. Call with signals blocked; async-signal-safe. Return how many were
 * opened. */
size_t blocks_open(struct record *r, size_t first, size_t count, unsigned purposes, const struct touch *by);
/* Wait until no thread is in the middle of opening or arming these blocks. */
void blocks_settle(struct record *r, size_t first, size_t count);
/* The kernel refuses: open the whole range and leave it alone. */
void record_give_up(struct record *r);
/* Under the lock: open a record, or all. */
void record_open(struct record *r);
void records_open(void);

#endif
