/* region_clock.h: what region_table.c asks of region_clock.c. */
#ifndef NUMAPREDICT_REGION_CLOCK_H
#define NUMAPREDICT_REGION_CLOCK_H

#include "region_file.h"

#include <limits.h>
#include <stdbool.h>

/* Where a region's function lies, by names that last. */
struct region_place {
    uint64_t key, offset;
    const char *module; /* file name */
    char path[PATH_MAX];
};

/* Return the file's entry for a region, made where it has none; NULL without a file or without room. The
 * caller sees to it that one thread does this at a time. */
struct region_entry *region_clock_entry(const struct region_place *place);
/* The file is open from now on, or never will be. */
void region_clock_open_now(bool wanted_now);
/* In the child of a fork: the file is the parent's. */
void region_clock_forget(void);

#endif
