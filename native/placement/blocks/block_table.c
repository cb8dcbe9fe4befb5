/* block_table.c: an array by the heap's pages, in parts. */
#include "blocks/block_table.h"

#include "memory/block_watch.h"
#include "memory/range.h"
#include "process/system.h"

#include <stdatomic.h>

#define PART_PAGES (1ul << 16)
#define MOST_PARTS (1ul << 12) /* 1 TB of heap */
#define BYTES_BITS 16          /* less than RANGE_BYTES */
#define OFFSET_BITS 12         /* in its first page */
#define LIVE (1u << (BYTES_BITS + OFFSET_BITS))
#define TOUCHED (LIVE << 1)
#define IS_AT (LIVE | ((1u << OFFSET_BITS) - 1) << BYTES_BITS)
#define LEAST_OWNED (PAGE_BYTES / 4)

struct entry {
    _Atomic uint32_t word; /* bytes, offset and flags; 0: no block begins in this page */
    _Atomic uint32_t group, page;
};

static _Atomic(struct entry *) parts[MOST_PARTS];

static size_t page_number(uintptr_t address) { return (address - block_watch.start) / PAGE_BYTES; }

static struct entry *entry_at(size_t page) {
    if (page >= PART_PAGES * MOST_PARTS)
        return NULL;
    struct entry *part = atomic_load_explicit(&parts[page / PART_PAGES], memory_order_acquire);
    return part ? &part[page % PART_PAGES] : NULL;
}

static struct entry *entry_made(size_t page) {
    struct entry *const known = entry_at(page), *none = NULL;
    if (known || page >= PART_PAGES * MOST_PARTS)
        return known;
    struct entry *fresh = system_memory(PART_PAGES * sizeof *fresh);
    if (fresh && !atomic_compare_exchange_strong(&parts[page / PART_PAGES], &none, fresh))
        system_free(fresh, PART_PAGES * sizeof *fresh);
    return entry_at(page);
}

static uint32_t load(const _Atomic uint32_t *word) {
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void store(_Atomic uint32_t *word, uint32_t value) {
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static size_t bytes_in(uint32_t word) { return word & ((1u << BYTES_BITS) - 1); }

static size_t offset_in(uint32_t word) { return word >> BYTES_BITS & ((1u << OFFSET_BITS) - 1); }

static bool read_entry(size_t page, struct block *block) {
    const struct entry *e = entry_at(page);
    const uint32_t word = e ? load(&e->word) : 0;
    if (!word)
        return false;
    *block = (struct block){.start = block_watch.start + page * PAGE_BYTES + offset_in(word),
                            .bytes = bytes_in(word),
                            .group = load(&e->group),
                            .page = load(&e->page),
                            .live = word & LIVE,
                            .touched = word & TOUCHED};
    return true;
}

uint32_t block_pages(size_t bytes) {
    const uint32_t pages = (uint32_t)((bytes + PAGE_BYTES / 2) / PAGE_BYTES);
    return pages ? pages : 1;
}

uint32_t block_page_at(const struct block *block, uintptr_t page) {
    const uint32_t last = block_pages(block->bytes) - 1;
    const uintptr_t middle = page + PAGE_BYTES / 2;
    const size_t at = middle > block->start ? (middle - block->start) / PAGE_BYTES : 0;
    return block->page + (at < last ? (uint32_t)at : last);
}

bool block_table_add(uintptr_t start, size_t bytes, uint32_t group, uint32_t page) {
    const size_t first = page_number(start);
    struct entry *e = entry_made(first);
    if (!e)
        return false;
    store(&e->group, group);
    store(&e->page, page);
    atomic_store_explicit(&e->word, (uint32_t)bytes | (uint32_t)(start % PAGE_BYTES) << BYTES_BITS | LIVE,
                          memory_order_release);
    /* What began in these pages was freed. */
    struct block before;
    for (size_t next = first + 1; next <= page_number(start + bytes - 1); next++)
        if (read_entry(next, &before) && before.start < start + bytes)
            store(&entry_at(next)->word, 0);
    return true;
}

bool block_table_find(uintptr_t start, struct block *block) {
    const struct entry *e = entry_at(page_number(start)); /* of most blocks that are freed, no entry is */
    const uint32_t is = LIVE | (uint32_t)(start % PAGE_BYTES) << BYTES_BITS;
    return e && (load(&e->word) & IS_AT) == is && read_entry(page_number(start), block);
}

void block_table_live(uintptr_t start, bool live) {
    struct entry *e = entry_at(page_number(start));
    if (e && live)
        atomic_fetch_or(&e->word, LIVE);
    else if (e)
        atomic_fetch_and(&e->word, ~LIVE);
}

bool block_table_touch(uintptr_t start) {
    struct entry *e = entry_at(page_number(start));
    return e && !(atomic_fetch_or(&e->word, TOUCHED) & TOUCHED);
}

static size_t bytes_of(const struct block *block, uintptr_t page) {
    const uintptr_t end = block->start + block->bytes, page_end = page + PAGE_BYTES;
    const uintptr_t low = block->start > page ? block->start : page, high = end < page_end ? end : page_end;
    return high > low ? high - low : 0;
}

bool block_table_owner(uintptr_t page, bool freed, struct block *owner) {
    const size_t number = page_number(page), back = RANGE_BYTES / PAGE_BYTES;
    size_t most = 0;
    bool is_live = false;
    struct block block;
    for (size_t n = 0; n <= back && n <= number; n++) {
        if (!read_entry(number - n, &block) || (!block.live && (is_live || !freed)))
            continue;
        const size_t bytes = bytes_of(&block, page);
        if (bytes >= LEAST_OWNED && (block.live != is_live || bytes > most)) {
            *owner = block;
            most = bytes;
            is_live = block.live;
        }
        if (block.live && block.start <= page)
            break; /* those before it end before the page */
    }
    return most > 0;
}
