/* ranges.h: the memory that is placed: large allocations, large static objects, large mappings.
 *
 * Contract. A range is the whole pages inside one allocation, static object or anonymous mapping of at least
 * RANGE_BYTES; the pages at its ends that it shares with others are left out. It is identified by what is the
 * same in every run of the program, never by its address (ICS'19 sec. 3.4): the allocation site (a hash of
 * the caller's module and offset), the number of the allocating slot, and the order among the allocations of
 * that site and slot; static objects by module and offset; mappings of a file (mapped_files.h) by the file's
 * name and the offset in it, slot and order.
 *
 * ranges_find may be called from a signal handler and takes no lock. A range stays valid until the call of
 * ranges_remove for it returns; its entry is not reused while a reader may still look at it. The table never
 * calls the program's allocator, takes no lock of the loader's, and keeps errno.
 *
 * Adding and removing take locks for a few instructions each. A signal handler that has interrupted its
 * thread in the middle of that (ranges_busy) must not do it: what it maps stays unknown. Allocations that the
 * C library, the loader and the OpenMP runtimes make for themselves are left out: they pass them to the
 * kernel by system calls that cannot be intercepted. After dlclose, an address that was a site keeps its
 * name.
 */
#ifndef NUMAPLACE_RANGES_H
#define NUMAPLACE_RANGES_H

#include "memory/range_table.h"

/* Call once, before ranges_wanted: register what to call for every range, in the allocating or freeing
 * thread. `added` is called when the range can be found and before the program sees its memory, `removed`
 * before its memory is freed. */
void ranges_watch(void (*added)(struct range *range), void (*removed)(struct range *range));

/* Whether ranges are recorded at all: set once, before the program's first instruction, for good in a program
 * that is placed; a replay's child records no more (../capture/chunks.h). */
extern bool ranges_wanted __attribute__((visibility("hidden")));

/* Note an allocation of `bytes` at `start`, made by the call that returns to `caller`. Small ones are left
 * out. Ranges that overlapped the same memory are forgotten first. */
void ranges_add(void *start, size_t bytes, const void *caller, enum range_kind kind);
/* The same for a private mapping that the kernel has just made and that the program has not received yet. */
void ranges_add_fresh(void *start, size_t bytes, const void *caller);
/* Forget the allocation at `start`, if it is known. Call before its memory is freed. */
void ranges_remove(void *start);
/* The same for realloc, which may fail: store in `was` what is restored then; return false if it is not
 * known. */
bool ranges_take(void *start, struct range *was);
void ranges_put_back(void *start, const struct range *was);
/* Note a static object, named by its place in its module. `module` must stay valid. */
void ranges_add_static(uintptr_t start, size_t bytes, const char *module, uint64_t offset);
/* Note a part of the main heap that holds small allocations, `order` pages behind the heap's start (heap.h).
 */
void ranges_add_arena(uintptr_t start, size_t bytes, uint32_t order);
/* Note a mapping of a file that the kernel has just made and that the program has not received yet, by the
 * call that returns to `caller`: `like` has its module, offset and rights. */
void ranges_add_file(void *start, size_t bytes, const void *caller, const struct range *like);
/* Forget all that overlaps [start, start + bytes), whole. */
void ranges_remove_overlapping(void *start, size_t bytes);
/* Forget all ranges. */
void ranges_remove_all(void);
/* Like ranges_remove_overlapping, but a mapping's parts before and behind stay known by its identity. */
void ranges_cut(void *start, size_t bytes);
/* Return the range that holds an address, or NULL. Async-signal-safe. */
struct range *ranges_find(uintptr_t address);
/* Visit all ranges; `visit` must not add or remove any. */
void ranges_for_each(void (*visit)(struct range *range, void *data), void *data);
/* Whether the calling thread is adding or removing a range. Async-signal-safe. */
bool ranges_busy(void);
/* In the child of a fork: locks that another thread held, of this and of what it asks, are free again. */
void ranges_after_fork(void);
/* How many allocations did not fit into the table. */
uint64_t ranges_dropped(void);

/* For free: whether an allocation at this address may be known; one load, and nearly always false where it is
 * a small one. */
static inline bool ranges_may_know(const void *start) {
    return ranges_wanted && atomic_load_explicit(&ranges_by_address[range_bucket((uintptr_t)start)],
                                                 memory_order_relaxed) != 0;
}

#endif
