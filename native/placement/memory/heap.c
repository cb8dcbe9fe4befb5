/* heap.c: cuts the main heap into ranges of small allocations. */
#define _GNU_SOURCE
#include "memory/heap.h"

#include "memory/block_watch.h"
#include "memory/ranges.h"
#include "memory/sites.h"
#include "process/system.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>

#define MOST_SYSTEM_PARTS 16
#define PAGES_LIMIT (1ul << 28) /* 1 TB of heap */
#define PART_PAGES (1ul << 18)  /* bits allocated together, when the first of them is set */
#define WORD_BITS 64
#define EARLY_BYTES (1ul << 24) /* of the heap before, at most: blocks there are of their group, too */
/* A program may reuse its heap in every region; scanning 1 GB takes about 20 ms. */
#define MOST_WHOLE_LOOKS 32

static struct { uintptr_t start, end; } system_code[MOST_SYSTEM_PARTS];
static size_t system_parts;
static uintptr_t lowest = UINTPTR_MAX, highest;

static uintptr_t heap_start;
static uintptr_t heap_known;         /* the heap was scanned up to here */
static _Atomic uintptr_t heap_early; /* and early, for the time being, up to here; 0: was not */
static _Atomic(_Atomic uint64_t *) left_out[PAGES_LIMIT / PART_PAGES]; /* one bit a page */
static bool prepared;
static atomic_bool changed;
static atomic_bool out_of_memory;
static uint32_t whole_looks;
static atomic_flag refreshing = ATOMIC_FLAG_INIT;

static int note_code(struct dl_phdr_info *module, size_t bytes, void *unused) {
    (void)bytes;
    (void)unused;
    if (!module->dlpi_name || !site_module_outside(module->dlpi_name))
        return 0;
    for (int i = 0; i < module->dlpi_phnum && system_parts < MOST_SYSTEM_PARTS; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        const uintptr_t start = module->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
        system_code[system_parts].start = start;
        system_code[system_parts++].end = end;
        lowest = start < lowest ? start : lowest;
        highest = end > highest ? end : highest;
    }
    return 0;
}

void heap_prepare(void) {
    const int before = errno;
    dl_iterate_phdr(note_code, NULL);
    prepared = true;
    /* The heap up to here was not scanned: its pages follow the process's policy (early.h). */
    heap_start = heap_known = (system_break() + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
    if (block_watch.made) {
        block_watch.start = heap_start > EARLY_BYTES ? heap_start - EARLY_BYTES : 0;
        block_watch.bytes = PAGES_LIMIT * PAGE_BYTES;
        block_watch.least = BLOCK_BYTES;
    }
    errno = before;
}

bool heap_for_system(const void *caller) {
    const uintptr_t at = (uintptr_t)caller;
    if (at < lowest || at >= highest)
        return false;
    for (size_t i = 0; i < system_parts; i++)
        if (at >= system_code[i].start && at < system_code[i].end)
            return true;
    return false;
}

static bool is_left_out(size_t page) {
    const _Atomic uint64_t *part = atomic_load_explicit(&left_out[page / PART_PAGES], memory_order_acquire);
    const size_t bit = page % PART_PAGES;
    return part && atomic_load_explicit(&part[bit / WORD_BITS], memory_order_relaxed) >> bit % WORD_BITS & 1;
}

/* Without memory for the bit, the heap is no longer scanned. */
static void set_left_out(size_t page) {
    _Atomic(_Atomic uint64_t *) *place = &left_out[page / PART_PAGES];
    _Atomic uint64_t *part = atomic_load_explicit(place, memory_order_acquire), *none = NULL;
    const size_t bit = page % PART_PAGES;
    if (!part && (part = system_memory(PART_PAGES / 8)) &&
        !atomic_compare_exchange_strong(place, &none, part)) {
        system_free((void *)part, PART_PAGES / 8);
        part = none;
    }
    if (part)
        atomic_fetch_or(&part[bit / WORD_BITS], 1ull << bit % WORD_BITS);
    else
        atomic_store_explicit(&out_of_memory, true, memory_order_relaxed);
}

bool heap_leave_out(const void *block, size_t bytes) {
    const uintptr_t start = (uintptr_t)block;
    if (!prepared || start < heap_start || (start - heap_start) / PAGE_BYTES >= PAGES_LIMIT)
        return false;
    /* The heap's end (a system call) is read only if the block may lie behind the scanned part. */
    if (start >= heap_known && start >= system_break())
        return false;
    /* The allocator's own header lies before the block. */
    const uintptr_t from = start - 16 < heap_start ? heap_start : start - 16;
    for (uintptr_t at = from & ~(PAGE_BYTES - 1); at < start + bytes; at += PAGE_BYTES) {
        const size_t page = (at - heap_start) / PAGE_BYTES;
        if (page >= PAGES_LIMIT || is_left_out(page))
            continue;
        set_left_out(page);
        struct range *range = ranges_find(at);
        if (range && range->kind == RANGE_ARENA)
            ranges_remove_overlapping((void *)at, PAGE_BYTES);
    }
    return true;
}

void heap_changed(uintptr_t address) {
    if (address >= heap_start && address < heap_known)
        atomic_store_explicit(&changed, true, memory_order_relaxed);
}

static void add(uintptr_t start, uintptr_t end) {
    if (start < end)
        ranges_add_arena(start, end - start, (uint32_t)((start - heap_start) / PAGE_BYTES));
}

static void look(uintptr_t from, uintptr_t to) {
    uintptr_t gap = from, at = from;
    while (at < to && (at - heap_start) / PAGE_BYTES < PAGES_LIMIT) {
        const struct range *range = ranges_find(at);
        if (!range && !is_left_out((at - heap_start) / PAGE_BYTES)) {
            at += PAGE_BYTES;
            continue;
        }
        add(gap, at);
        at = range ? range->end : at + PAGE_BYTES;
        gap = at;
    }
    add(gap, at < to ? at : to);
}

/* The ranges that a region finds are the same whether or not the heap was looked at early. */
static void forget_early(void) {
    const uintptr_t end = atomic_exchange(&heap_early, 0);
    for (uintptr_t at = heap_known; at < end;) {
        const struct range *range = ranges_find(at);
        const bool is_arena = range && range->kind == RANGE_ARENA;
        const uintptr_t start = at;
        at = range && range->end > at ? range->end : at + PAGE_BYTES;
        if (is_arena)
            ranges_remove_overlapping((void *)start, PAGE_BYTES);
    }
}

void heap_look_early(void) {
    const int before = errno;
    const uintptr_t top = system_break() & ~(PAGE_BYTES - 1), early = atomic_load(&heap_early);
    const uintptr_t known = early > heap_known ? early : heap_known;
    const bool wanted = prepared && !atomic_load_explicit(&out_of_memory, memory_order_relaxed);
    if (wanted && top > known && !atomic_flag_test_and_set(&refreshing)) {
        atomic_store(&heap_early, top);
        look(known, top);
        atomic_flag_clear(&refreshing);
    }
    errno = before;
}

bool heap_is_early(uintptr_t address) { return address >= heap_known && address < atomic_load(&heap_early); }

void heap_refresh(void) {
    const int before = errno;
    const uintptr_t top = system_break() & ~(PAGE_BYTES - 1);
    const bool again = atomic_load_explicit(&changed, memory_order_relaxed) && whole_looks < MOST_WHOLE_LOOKS;
    const bool wanted = prepared && !atomic_load_explicit(&out_of_memory, memory_order_relaxed);
    if (wanted && (top > heap_known || again) && !atomic_flag_test_and_set(&refreshing)) {
        if (atomic_load_explicit(&heap_early, memory_order_relaxed))
            forget_early();
        whole_looks += again;
        if (again)
            atomic_store(&changed, false);
        look(again ? heap_start : heap_known, top);
        heap_known = top > heap_known ? top : heap_known;
        atomic_flag_clear(&refreshing);
    }
    errno = before;
}
