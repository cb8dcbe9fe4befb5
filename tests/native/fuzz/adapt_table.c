/* adapt_table.c: the table of mappings that a running program may have, and what is chosen from it. */
#define _GNU_SOURCE
#include "../../../native/placement/adapt/next_trial.c"
#include "../../../native/placement/adapt/table.c"
#include "../../../native/placement/process/rank.c"
#include "../../../native/placement/process/settings.c"
#include "system_memory.h"

#define SLOTS 64

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static struct table t;
    if (table_load(fuzz_file(bytes, count), SLOTS, &t)) {
        MUST(t.columns <= MOST_COLUMNS && t.start < t.columns && t.known.programs <= MOST_PROGRAMS);
        for (uint32_t c = 1; c < t.columns; c++) {
            const struct column *one = &t.column[c];
            MUST(one->team.threads > 0 && one->team.threads <= SLOTS && one->nodes > 0);
            for (uint32_t n = 0; n < one->team.threads; n++)
                MUST(one->team.slots[n] < SLOTS);
            MUST(one->pages != PAGES_DATASET || one->chunks > 0);
        }
        for (uint32_t n = 1; n < t.teams.count; n++)
            MUST(t.team[n].threads > 0 && t.team[n].threads <= SLOTS && t.team[n].slots[0] < SLOTS);
        for (uint32_t n = 0; n < t.regions; n++)
            MUST(t.region[n].team < t.teams.count);
        const struct trials first = {.count = 1, .column = {t.start}};
        const struct next_trial next = next_trial(&t.known, &first, t.start, t.closed);
        MUST(next.column >= -1 && next.column < (int)t.columns);
    }
    fuzz_forget();
    return 0;
}
