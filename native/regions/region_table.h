/* region_table.h: what a process knows of its regions, and the clock that counts them into the region file.
 *
 * Contract. A region is an outlined function. Its key, module and offset are the same in every run of the
 * same binary. Only outermost regions are in the table: what runs inside another is part of it. Nothing here
 * fails loudly: without room or without a file, regions go uncounted. errno stays as it is.
 */
#ifndef NUMAPREDICT_REGION_TABLE_H
#define NUMAPREDICT_REGION_TABLE_H

#include "region_file.h"
#include "regions.h"

#include <stdatomic.h>

struct region {
    _Atomic(void *) function;
    uint64_t key;
    uint64_t offset;
    _Atomic uint64_t instances;           /* that region_count saw begin */
    _Atomic(struct region_entry *) entry; /* NULL where the file has none for it */
};

/* Return the region of an outlined function, known from now on; NULL where the table is full. */
struct region *region_find(void *function);
/* Fill in `region` of an outermost call, before the clock begins. */
void region_identify(struct region_call *call);
/* Fill in `number` of an identified call: not for everyone, as it takes a locked instruction. */
void region_count(struct region_call *call);

/* Count and time regions into this file from now on: in the library's constructor. The path must stay valid.
 * The file is made at the first region, so that a launcher which only starts the program leaves it to it. */
void region_clock_open_at(const char *path);
/* Around an identified call, in region_begin and region_end. Without a file they do nothing. */
void region_clock_begin(struct region_call *call);
void region_clock_end(const struct region_call *call);
/* In thread 0 of an outermost team: the team is known, so that the file has it before the region ends; it has
 * passed a barrier. */
void region_clock_team(const struct region_call *call);
void region_clock_barrier(const struct region_call *call);
/* Make no system call from now on. Where the clock `can_be_read` without one, regions are still counted: the
 * file is made now if there is one `expected`. */
void region_clock_settle(bool can_be_read, bool expected);

#endif
