/* table.h: the mappings that a running program may have, and what known programs gained from them.
 *
 * Contract. A text file, written by collect/placing/adapt_table.py and read once by table_load:
 *
 *     numaplace-adapt 2
 *     share MILLIONTHS      of the time so far that trials may cost
 *     quiet NS              without any trial, from the start
 *     start COLUMN          the column to begin with; 0 is the program as it is
 *     close COLUMN          never try it
 *     crowded 1             nothing is tried but to spread pages that are all on one node
 *     column PAGES PLACE SLOTS NODES [CHUNKS]
 *     team GAIN SLOTS       a smaller team that a region may have, in the order in which they are tried
 *     region KEY TEAM       begin with this team, and try no other there; KEY: the region's, its lower 32
 * bits known WEIGHT GAIN...
 *
 * Columns and teams count from 1: the baseline and the mapping's own teams have no line. PAGES is a word of
 * PAGE_POLICIES; PLACE a number that is equal for columns with all pages in the same places, 0 where the
 * program left them. SLOTS (where each thread runs: slots of NUMAPLACE's `cpus`), NODES (of the pages) and
 * CHUNKS (dataset: each chunk's node) are lists as in settings.h. WEIGHT is in 1e-9, a GAIN of each column
 * over the baseline in log2 * 4096. A file that cannot be read gives no table. History: 1 (first), 2 (team
 * and region).
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

struct first_team {
    uint32_t key, team;
};

struct table {
    struct limits limits;
    uint32_t start, columns;
    struct column column[MOST_COLUMNS];
    bool closed[MOST_COLUMNS];
    struct known_gains known;
    struct known_teams teams;
    struct region_team team[MOST_TEAMS];
    uint32_t regions;
    struct first_team region[MOST_TEAM_REGIONS];
};

/* Read the table for a mapping with so many slots. Its memory is never freed. */
bool table_load(const char *path, uint32_t slots, struct table *into);

#endif
