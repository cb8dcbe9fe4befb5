/* block_groups.h: the blocks of the main heap from BLOCK_BYTES up to RANGE_BYTES, in groups by call stack.
 *
 * Contract. Rows of an array, nodes of a tree: what one call stack allocates is one variable. Each block has
 * the next pages of its group, in the order of their allocation, which begins again (a turn) when the last
 * one is freed: a page of a group is the same part of the data in every step, wherever the blocks are.
 *
 * The bookkeeping may take START_NS and SHARE of the time; further blocks are left to the heap's own ranges,
 * for nothing but a look at their address when they are freed.
 */
#ifndef NUMAPLACE_BLOCK_GROUPS_H
#define NUMAPLACE_BLOCK_GROUPS_H

#include "blocks/block_table.h"
#include "memory/sites.h"
#include "process/lock.h"

struct block_listener {
    bool (*wanted)(void); /* whether blocks are noted now */
    /* Under the lock: a group's first block was made, by this call. Return the group's number + 1; 0: its
     * blocks are not noted. */
    uint32_t (*began)(const struct site *site, uint32_t stack);
    /* Called, unless NULL, with each block, the so manieth of its group from 0. */
    void (*made)(const struct block *block, uint32_t number);
    bool whole; /* whatever time it takes */
};

/* Call once, before heap_prepare and behind call_stacks_prepare. */
void block_groups_prepare(struct lock *lock, const struct block_listener *listener);
/* Return whether a block owns a page of the heap, its group's number and the page of the group; with `freed`
 * also one that was freed last (block_table.h). */
bool block_group_of(uintptr_t page, bool freed, uint32_t *number, uint32_t *group_page);
/* Note blocks again if there is time for it: at least before each region. */
void block_groups_look(void);

struct block_group_size {
    uint32_t number, pages, turns;
    uint64_t bytes, blocks; /* the most that lived at once */
    uint32_t block_bytes;   /* of each block, 0 where they differ */
};
/* Return what is known of the group of a call stack; false where there is none. */
bool block_group_size(uint32_t stack, struct block_group_size *size);
/* Whether a group has had more pages than ever, or has begun a turn, since the last call. */
bool block_groups_changed(void);

#endif
