/* block_table.h: the blocks of the main heap that are under RANGE_BYTES, found by the page that they are in.
 *
 * Contract. A block has at least BLOCK_BYTES, so that each page has the beginning of one at most: the table
 * is an array by page, in parts that are allocated when the first page of one is used, a 340th of the heap.
 * No locks; any thread, and block_table_owner in a signal handler. The allocating and the freeing thread of a
 * block are ordered by the allocator; who looks at a page meanwhile may see the block before or after. A
 * block that was freed owns its pages until another one gets them.
 */
#ifndef NUMAPLACE_BLOCK_TABLE_H
#define NUMAPLACE_BLOCK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block {
    uintptr_t start;
    size_t bytes;
    uint32_t group;
    uint32_t page; /* its first page among those of its group */
    bool live, touched;
};

/* Return how many pages a block counts for: those that it fills by more than half, at least one. */
uint32_t block_pages(size_t bytes);
/* Return the page of the block's group that a page of the heap stands for. */
uint32_t block_page_at(const struct block *block, uintptr_t page);

/* Note a block; false where there is no memory. */
bool block_table_add(uintptr_t start, size_t bytes, uint32_t group, uint32_t page);
/* Look up the live block that begins here. */
bool block_table_find(uintptr_t start, struct block *block);
/* Set whether the block that begins here is live. */
void block_table_live(uintptr_t start, bool live);
/* Note that a block was touched; return whether this was the first time. */
bool block_table_touch(uintptr_t start);
/* Find the block that has most of a page, if it has a quarter of it; of blocks that were freed only with
 * `freed`, and where no live one has it. */
bool block_table_owner(uintptr_t page, bool freed, struct block *owner);

#endif
