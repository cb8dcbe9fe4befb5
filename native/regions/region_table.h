/* region_table.h: the table of a process's regions, and the clock that counts them into the region file.
 *
 * Contract. A region is an outlined function. Its key, module and offset are the same in every run of the
 * same binary. Only outermost regions are in the table: a nested region is part of the outermost one. No
 * function prints or fails: if the table is full or there is no file, regions are not counted. errno is kept.
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
    _Atomic uint64_t instances;           /* instances begun, by region_count */
    _Atomic(struct region_entry *) entry; /* its entry in the file, or NULL */
};

/* Return the region of an outlined function, adding it if it is new; NULL if the table is full. */
struct region *region_find(void *function);
/* Fill in `region` of an outermost call, before the clock begins. */
void region_identify(struct region_call *call);
/* Fill in `number` of an identified call: only for callers that need it, as it takes a locked instruction. */
void region_count(struct region_call *call);

/* Count and time regions into this file from now on: in the library's constructor. The path must stay valid.
 * The file is made at the first region, so that a launcher that only starts the program makes none. */
void region_clock_open_at(const char *path);
/* Around an identified call, in region_begin and region_end. No effect without a file. */
void region_clock_begin(struct region_call *call);
void region_clock_end(const struct region_call *call);
/* In thread 0 of an outermost team: write the team's size to the file already now; count a passed barrier. */
void region_clock_team(const struct region_call *call);
void region_clock_barrier(const struct region_call *call);
/* Make no system call from now on. If the clock `can_be_read` without one, regions are still counted: the
 * file is made now if one is `expected`. */
void region_clock_settle(bool can_be_read, bool expected);

#endif
