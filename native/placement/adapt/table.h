/* table.h: the mappings that a running program may have, and what known programs gained from them.
 *
 * Contract. A text file, written by collect/placing/adapt_table.py and read once by table_load:
 *
 *     numaplace-adapt 1
 *     share MILLIONTHS      of the time so far that trials may cost
 *     quiet NS              without any trial, from the start
 *     start COLUMN          the column to begin with; 0 is the program as it is
 *     close COLUMN          never try it
 *     crowded 1             nothing is tried but to spread pages that are all on one node
 *     column PAGES PLACE SLOTS NODES [CHUNKS]
 *     known WEIGHT GAIN...
 *
 * Columns count from 1: the baseline has no line. PAGES is a word of PAGE_POLICIES; PLACE a number that is
 * equal for columns with all pages in the same places, 0 where the program left them. SLOTS (where each
 * thread runs: slots of NUMAPLACE's `cpus`), NODES (of the pages) and CHUNKS (dataset: each chunk's node) are
 * lists as in settings.h. WEIGHT is in 1e-9, a GAIN of each column over the baseline in log2 * 4096. A file
 * that cannot be read gives no table. History: 1 (first).
 */
#ifndef NUMAPLACE_ADAPT_TABLE_H
#define NUMAPLACE_ADAPT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "../regions/regions.h"
#include "adapt/decision.h"
#include "process/settings.h"

struct column {
    struct region_team team; /* threads 0: as the program has them */
    enum page_policy pages;
    uint32_t place, nodes, chunks;
    uint16_t *node, *chunk;
};

struct table {
    struct limits limits;
    uint32_t start, columns;
    struct column column[MOST_COLUMNS];
    bool closed[MOST_COLUMNS];
    struct known_gains known;
};

/* Read the table for a mapping with so many slots. Its memory is never freed. */
bool table_load(const char *path, uint32_t slots, struct table *into);

#endif
