/* plan.c: a plan's file, and what is asked of it. */
#define _GNU_SOURCE
#include "../../../native/placement/policy/plan.c"
#include "system_memory.h"

#include <inttypes.h>

#define SLOTS 64

static void check_runs(const struct plan_run *run, size_t count, uint64_t pages) {
    uint64_t end = 0;
    MUST(run || count == 0);
    for (size_t n = 0; n < count; end = (uint64_t)run[n].first + run[n].count, n++)
        MUST(run[n].count > 0 && run[n].first >= end && run[n].first + (uint64_t)run[n].count <= pages &&
             run[n].node < 1024);
}

static void ask_for(const struct range *range) {
    size_t places, count;
    const uint64_t pages = (range->end - range->start) / PAGE_BYTES;
    const struct plan_run *run = plan_for(range, &count);
    check_runs(run, count, pages);
    const struct plan_place *place = plan_places(range, &places);
    MUST(place || places == 0);
    for (size_t n = 0; n < places; n++) {
        run = plan_runs(&place[n], &count);
        check_runs(run, count, pages);
        MUST(place[n].number < MOST_PLACES || (places == 1 && place[n].number == NO_PLACE));
        MUST(places == 1 || plan_first_place(place[n].number) == place[0].number);
    }
}

/* Each line of the plan that names a range, as the program would ask for it. */
static void ask_for_all(const char *text) {
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        unsigned kind;
        uint32_t slot, order;
        uint64_t site, pages;
        if (sscanf(line, "range %u %" SCNx64 " %" SCNu32 " %" SCNu32 " %" SCNu64, &kind, &site, &slot, &order,
                   &pages) != 5)
            continue;
        const struct range range = {.kind = (enum range_kind)(kind & 7),
                                    .site = site,
                                    .slot = slot,
                                    .order = order,
                                    .end = (uintptr_t)(pages % (1ul << 32)) * PAGE_BYTES};
        ask_for(&range);
    }
}

static void see_all_teams(void) {
    size_t count;
    const struct plan_region *region = plan_regions(&count);
    for (size_t n = 0; n < count; n++) {
        MUST(region[n].threads + region[n].wants > 0 && region[n].threads <= SLOTS);
        for (size_t want = 0; want < region[n].wants; want++)
            MUST(region[n].want[want] < MOST_PLACES);
        for (uint32_t thread = 0; thread < region[n].threads; thread++)
            MUST(region[n].slot[thread] < SLOTS);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    if (plan_load(fuzz_file(bytes, count), SLOTS)) {
        ask_for_all(fuzz_text(bytes, count));
        see_all_teams();
    }
    fuzz_forget();
    return 0;
}
