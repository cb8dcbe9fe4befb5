/* range_marks.c: a preload library that reports the program's ranges to the tracer (marks.h): the
 * allocations, static objects and mappings that the placement library would place, found by the same code.
 *
 * It is a library of its own because its wrappers of the allocator lie between a caller and the C library:
 * the tracer books what that does on the caller, program or OpenMP runtime.
 */
#define _GNU_SOURCE
#include "../regions/export.h"
#include "blocks/block_groups.h"
#include "blocks/call_stacks.h"
#include "marks.h"
#include "memory/heap.h"
#include "memory/ranges.h"
#include "memory/sites.h"
#include "memory/statics.h"
#include "process/loaded_module.h"
#include "process/next_call.h"
#include "process/system.h"
#include "process/thread_slot.h"
#include "protection/protection.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#define MOST_LOOKS 32 /* at the groups of blocks */

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

/* Groups of less than a range are no arrays. */
static void mark_groups(struct range *range, void *unused) {
    (void)unused;
    uintptr_t run = range->start;
    uint32_t of = 0, run_page = 0, pages = 0;
    for (uintptr_t at = range->start; range->kind == RANGE_ARENA && at <= range->end; at += PAGE_BYTES) {
        uint32_t stack = 0, page = 0;
        struct block_group_size size = {0};
        const bool owned = at < range->end && block_group_of(at, false, &stack, &page) &&
                           block_group_size(stack + 1, &size) && size.pages >= RANGE_BYTES / PAGE_BYTES;
        const uint32_t group = owned ? stack + 1 : 0;
        if (group == of && page == run_page + (at - run) / PAGE_BYTES)
            continue;
        if (of)
            mark(MARK_GROUP, run, at, run_page, pages);
        of = group;
        run = at;
        run_page = page;
        pages = size.pages;
    }
}

EXPORT void ranges_before_region(void);
EXPORT void ranges_before_region(void) {
    static uint32_t looks;
    heap_refresh();
    if (looks < MOST_LOOKS && block_groups_changed()) {
        looks++;
        ranges_for_each(mark_groups, NULL);
    }
}

static bool always(void) { return true; }

static uint32_t began(const struct site *site, uint32_t stack) {
    (void)site;
    return stack;
}

static void follow_blocks(void) {
    static struct lock lock;
    static const struct block_listener listener = {.wanted = always, .began = began, .whole = true};
    system_reads_directly();
    if (call_stacks_prepare())
        block_groups_prepare(&lock, &listener);
}

__attribute__((constructor)) static void load(void) {
    mark(MARK_HELLO, 0, 0, 0, 0); /* what follows is not the program's work */
    pthread_atfork(NULL, NULL, ranges_after_fork);
    loaded_modules_look();
    next_calls_find();
    follow_blocks();
    heap_prepare();
    ranges_watch(range_added, range_removed);
    ranges_wanted = true;
    ranges_add_statics();
}
