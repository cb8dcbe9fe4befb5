/* range_marks.c: a preload library that reports the program's ranges to the tracer (marks.h): the
 * allocations, static objects and mappings that the placement library would place, found by the same code.
 *
 * It is a library of its own because its wrappers of the allocator lie between a caller and the C library:
 * the tracer books what that does on the caller, program or OpenMP runtime.
 */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "marks.h"
#include "memory/heap.h"
#include "memory/ranges.h"
#include "memory/sites.h"
#include "memory/statics.h"
#include "process/loaded_module.h"
#include "process/next_call.h"
#include "process/thread_slot.h"
#include "protection/protection.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

/* The slot is a part of a range's name, which the tracer does not need. */
uint32_t slot_of_this_thread(void) { return 0; }

bool protection_wanted(void) { return false; }

static void mark(enum mark what, uintptr_t a, uintptr_t b, uint64_t c, uint64_t d) {
    const int error = errno;
    syscall(MARK_SYSCALL, (long)what, a, b, c, d);
    errno = error;
}

static void range_added(struct range *range) {
    mark(MARK_RANGE, range->start, range->end, range->site, range_mark(range->order, range->kind));
}

static void range_removed(struct range *range) { heap_changed(range->start); }

EXPORT void ranges_before_region(void);
EXPORT void ranges_before_region(void) { heap_refresh(); }

__attribute__((constructor)) static void load(void) {
    mark(MARK_HELLO, 0, 0, 0, 0); /* what follows is not the program's work */
    pthread_atfork(NULL, NULL, ranges_after_fork);
    loaded_modules_look();
    next_calls_find();
    heap_prepare();
    ranges_watch(range_added, range_removed);
    ranges_wanted = true;
    ranges_add_statics();
}
