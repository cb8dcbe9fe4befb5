/* block_watch.h: tells a listener of blocks in the main heap that are too small to be ranges.
 *
 * Contract. Without a listener an allocation and a free pay one comparison each. `made` is called before the
 * program sees a block of at least `least` bytes and less than RANGE_BYTES, with the call that asked for it
 * and the canonical address of this library's frame that it entered; `freed` before any block in the heap is
 * freed or reallocated, and returns whether it knows the block; `kept` where that block was not freed after
 * all. The allocating or freeing thread calls them, without locks.
 */
#ifndef NUMAPLACE_BLOCK_WATCH_H
#define NUMAPLACE_BLOCK_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK_BYTES 4096u

struct block_watch {
    _Atomic size_t least;    /* the listener may change it */
    uintptr_t start;         /* of the heap */
    _Atomic uintptr_t bytes; /* as far as it may grow; 0: nobody listens. The listener may change it */
    void (*made)(uintptr_t block, size_t bytes, const void *caller, const void *frame);
    bool (*freed)(uintptr_t block);
    void (*kept)(uintptr_t block);
};

extern struct block_watch block_watch __attribute__((visibility("hidden")));

static inline size_t block_least(void) {
    return atomic_load_explicit(&block_watch.least, memory_order_relaxed);
}

static inline bool block_is_watched(const void *block) {
    return __builtin_expect((uintptr_t)block - block_watch.start <
                                atomic_load_explicit(&block_watch.bytes, memory_order_relaxed),
                            0);
}

#endif
