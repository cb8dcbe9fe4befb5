/* region_clock.h: counts and times the regions of the table into the region file. */
#ifndef NUMAPREDICT_REGION_CLOCK_H
#define NUMAPREDICT_REGION_CLOCK_H

#include "region_file.h"
#include "regions.h"

#include <limits.h>
#include <stdbool.h>

/* Count and time regions into this file from now on: in the library's constructor. The path must stay valid.
 * The file is made at the first region, so that a launcher that only starts the program makes none. */
void region_clock_open_at(const char *path);
/* This process is a rank of so many. */
void region_clock_is_rank(uint32_t rank, uint32_t ranks);
/* A forked child has a file of its own from now on, which counts from the fork. */
void region_clock_follow_forks(void);
/* List the kinds of instances from now on, in place of the work of first ones: of calls whose number is known
 * (region_count). */
void region_clock_list_kinds(void);
/* The process is about to end without the library's destructors. Async-signal-safe. */
void region_clock_exits(void);
/* Around an identified call, in the hooks `begin` and `end`. No effect without a file. */
void region_clock_begin(struct region_call *call);
void region_clock_end(const struct region_call *call);
/* In thread 0 of an outermost team: write the team's size to the file already now; count a passed barrier. */
void region_clock_team(const struct region_call *call);
void region_clock_barrier(const struct region_call *call);
/* Around its share: list the work of each region's first instances, by two system calls in each. */
void region_clock_share_begin(const struct region_call *call);
void region_clock_share_end(struct region_call *call);
/* Around its wait at a barrier: what a thread computes while it waits is no work. Two more system calls in
 * each. */
void region_clock_wait_begin(void);
void region_clock_wait_end(void);

/* ---- for region_table.c ---- */

/* The place of a region's function, the same in every run. */
struct region_place {
    uint64_t key, offset;
    const char *module;  /* file name */
    const char *program; /* path of the program, which may be empty */
    char path[PATH_MAX];
};

/* Return the file's entry for a region, adding it if needed; NULL without a file or if it is full. One thread
 * at a time; the caller ensures this. */
struct region_entry *region_clock_entry(const struct region_place *place);
/* Open the file, or give it up for good. */
void region_clock_open_now(bool wanted_now);
/* Stop using the file. */
void region_clock_forget(void);
/* In the child of a fork: the file belongs to the parent. */
void region_clock_after_fork(void);

#endif
