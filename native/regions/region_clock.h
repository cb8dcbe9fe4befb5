/* region_clock.h: the functions of region_clock.c for region_table.c. */
#ifndef NUMAPREDICT_REGION_CLOCK_H
#define NUMAPREDICT_REGION_CLOCK_H

#include "region_file.h"

#include <limits.h>
#include <stdbool.h>

/* The place of a region's function, the same in every run. */
struct region_place {
    uint64_t key, offset;
    const char *module; /* file name */
    char path[PATH_MAX];
};

/* Return the file's entry for a region, adding it if needed; NULL without a file or if it is full. One thread
 * at a time; the caller ensures this. */
struct region_entry *region_clock_entry(const struct region_place *place);
/* Open the file, or give it up for good. */
void region_clock_open_now(bool wanted_now);
/* In the child of a fork: the file belongs to the parent; stop using it. */
void region_clock_forget(void);

#endif
