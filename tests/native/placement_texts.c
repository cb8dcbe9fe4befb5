/* placement_texts.c: settings and plans as they should be, and damaged at random: read right, or refused.
 *
 * Built with the address and undefined-behaviour sanitizers by .ci/run; aborts at the first wrong answer. */
#define _GNU_SOURCE
#include "../../native/placement/policy/plan.h"
#include "../../native/placement/process/settings.h"
#include "must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char good[] = "version=1;cpus=0-2,8,4*2;homes=0*3,1*3;threads=scatter;pages=dataset;nodes=1,0;"
                           "chunks=1*5,0;report=/a%3Bb%25;map=/m";

static struct settings parsed;

static bool parse(const char *text) {
    static char copy[4096];
    (void)snprintf(copy, sizeof copy, "%s", text);
    return settings_parse(copy, &parsed);
}

static void settings_are_read(void) {
    static const uint16_t cpus[] = {0, 1, 2, 8, 4, 4}, homes[] = {0, 0, 0, 1, 1, 1},
                          chunks[] = {1, 1, 1, 1, 1, 0};
    MUST(parse(good));
    MUST(parsed.slots == 6 && memcmp(parsed.cpu, cpus, sizeof cpus) == 0);
    MUST(memcmp(parsed.home, homes, sizeof homes) == 0 && memcmp(parsed.chunk, chunks, sizeof chunks) == 0);
    MUST(parsed.scatter && parsed.pages == PAGES_DATASET && parsed.nodes == 2 && parsed.node[0] == 1);
    MUST(strcmp(parsed.report, "/a;b%") == 0 && strcmp(parsed.map, "/m") == 0);
    MUST(!parsed.plan && !parsed.profile);
    MUST(parse("version=1;cpus=0;homes=0;pages=weighted;nodes=0,1;chunks=0*3,1"));
    MUST(parsed.pages == PAGES_WEIGHTED && parsed.chunks == 4 && parsed.chunk[3] == 1);
}

static void bad_settings_are_refused(void) {
    static const char *const bad[] = {
        "",
        "cpus=0;homes=0;nodes=0",
        "version=2;cpus=0;homes=0;nodes=0",
        "version=1;cpus=0,;homes=0;nodes=0",
        "version=1;cpus=3-1;homes=0;nodes=0",
        "version=1;cpus=0-70000;homes=0;nodes=0",
        "version=1;cpus=0-5000;homes=0*5001;nodes=0",
        "version=1;cpus=0*0;homes=0;nodes=0",
        "version=1;cpus=0-1;homes=0;nodes=0",
        "version=1;cpus=0;homes=0;nodes=1024",
        "version=1;cpus=0;homes=1024;nodes=0",
        "version=1;cpus=0;homes=0",
        "version=1;cpus=-1;homes=0;nodes=0",
        "version=1;cpus=0;homes=0;nodes=0;pages=nowhere",
        "version=1;cpus=0;homes=0;nodes=0;pages=dataset",
        "version=1;cpus=0;homes=0;nodes=0;pages=weighted",
        "version=1;cpus=0;homes=0;nodes=0;threads=both",
        "version=1;cpus=0;homes=0;nodes=0;colour=red",
        "version=1;cpus=0;homes=0;nodes=0;map=",
        "version=1;cpus=0;homes=0;nodes=0;map=%4",
        "version=1;cpus=0;homes=0;nodes=0;map=%00",
        "version=1;cpus",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (parse(bad[i])) {
            (void)fprintf(stderr, "taken: %s\n", bad[i]);
            exit(1);
        }
    }
}

#define SLOTS 7

static bool load(const char *text, size_t bytes) {
    char path[] = "/tmp/numapredict-plan-XXXXXX";
    const int file = mkstemp(path);
    MUST(file >= 0 && write(file, text, bytes) == (ssize_t)bytes);
    close(file);
    const bool read = plan_load(path, SLOTS);
    unlink(path);
    return read;
}

static const char plan[] =
    "numaplace-plan 3\nmachine 12ab\nmapping 4x2-scatter-interleave\nmodule 7f /a b\n"
    "region 00000000000000cd 2 0 0\nteam 4 2 2\nteam 3 1 0\nregion ce 0 0 0\nteam 0 7 1\nwant 5\n"
    "region cf 0 0 0\nwant 2\nwant 0\n"
    "range 1 00000000000000ab 2 3 10\nrun 0 4 1\nrun 6 4 0\n"
    "range 2 ffffffffffffffff 0 0 5\nrun 0 5 7\n"
    "range 1 00000000000000ac 0 0 8\nplace 5\nrun 0 8 1\nplace 2\nplace 4095\nrun 0 4 0\nrun 4 4 3\n"
    "range 1 00000000000000ac 0 1 8\nplace 5\nrun 1 1 1\nplace 2\nrun 0 2 4\n";

static struct range range_of(int kind, uint64_t site, uint32_t slot, uint32_t order, size_t pages) {
    return (struct range){.kind = (enum range_kind)kind,
                          .site = site,
                          .slot = slot,
                          .order = order,
                          .start = 0,
                          .end = pages * PAGE_BYTES};
}

static void plans_are_read(void) {
    size_t count;
    struct range range = range_of(1, 0xab, 2, 3, 10);
    MUST(load(plan, sizeof plan - 1));
    const struct plan_run *run = plan_for(&range, &count);
    MUST(run && count == 2 && run[1].first == 6 && run[1].count == 4 && run[1].node == 0);
    range = range_of(2, UINT64_MAX, 0, 0, 5);
    run = plan_for(&range, &count);
    MUST(run && count == 1 && run[0].node == 7);
    range = range_of(2, UINT64_MAX, 0, 0, 6);
    MUST(!plan_for(&range, &count) && count == 0);
    const struct plan_region *region = plan_regions(&count);
    MUST(count == 3 && region[0].key == 0xcd && region[0].from == 2 && region[0].threads == 3);
    MUST(region[0].slot[0] == 4 && region[0].slot[1] == 6 && region[0].slot[2] == 3);
    MUST(region[1].key == 0xce && region[1].from == 0 && region[1].threads == 7 && region[1].slot[6] == 6);
    MUST(region[0].wants == 0 && region[1].wants == 1 && region[1].want[0] == 5);
    MUST(region[2].threads == 0 && region[2].wants == 2 && region[2].want[0] == 2 && region[2].want[1] == 0);
}

static void places_are_read(void) {
    size_t count;
    MUST(load(plan, sizeof plan - 1) && plan_has_moves());
    struct range range = range_of(1, 0xac, 0, 0, 8);
    const struct plan_place *place = plan_places(&range, &count);
    MUST(place && count == 3 && place[0].number == 5 && place[1].number == 2 && place[2].number == 4095);
    const struct plan_run *run = plan_for(&range, &count);
    MUST(count == 1 && run->count == 8 && run->node == 1);
    MUST(plan_runs(&place[0], &count) == run && plan_runs(&place[1], &count) && count == 0);
    run = plan_runs(&place[2], &count);
    MUST(count == 2 && run[0].node == 0 && run[1].first == 4 && run[1].node == 3);
    MUST(plan_first_place(5) == 5 && plan_first_place(2) == 5 && plan_first_place(4095) == 5);
    range = range_of(1, 0xac, 0, 1, 8);
    place = plan_places(&range, &count);
    MUST(place && count == 2 && plan_runs(&place[1], &count)->node == 4 && count == 1);
    range = range_of(1, 0xab, 2, 3, 10);
    place = plan_places(&range, &count);
    MUST(place && count == 1 && place->number == NO_PLACE);
    MUST(load("numaplace-plan 3\n", 17) && !plan_has_moves() && plan_first_place(2) == 2);
}

static void bad_plans_are_refused(void) {
    static const char *const bad[] = {
        "",
        "numaplace-plan 1\n",
        "numaplace-plan 3\nrun 0 1 0\n",
        "numaplace-plan 3\nrange 1 0 0 0 4\nrun 0 5 0\n",
        "numaplace-plan 3\nrange 1 0 0 0 4\nrun 4 18446744073709551615 0\n",
        "numaplace-plan 3\nrange 1 0 0 0 4\nrun 0 0 0\n",
        "numaplace-plan 3\nrange 1 0 0 0 4\nrun 2 1 0\nrun 1 1 0\n",
        "numaplace-plan 3\nrange 1 0 0 0 4\nrun 0 1 1024\n",
        "numaplace-plan 3\nrange 1 0 0 0 4\nrun 0 1 0",
        "numaplace-plan 3\nrange 1 0 0 0\n",
        "numaplace-plan 3\nwhat 1\n",
        "numaplace-plan 3\nmapping x",
        "numaplace-plan 3\nteam 0 1 1\n",
        "numaplace-plan 3\nregion 1 0 0 0\n",
        "numaplace-plan 3\nregion 1 0 0 0\nteam 0 0 1\n",
        "numaplace-plan 3\nregion 1 0 0 0\nteam 7 1 1\n",
        "numaplace-plan 3\nregion 1 0 0 0\nteam 0 8 0\n",
        "numaplace-plan 3\nregion 1 0 0 0\nteam 1 4 2\n",
        "numaplace-plan 3\nregion 1 0 0 0\nteam 0 4 1\nteam 0 4 1\n",
        "numaplace-plan 3\nregion 1 0 0 0\nteam 0 2 18446744073709551615\n",
        "numaplace-plan 3\nregion 1 0 0\nteam 0 1 1\n",
        "numaplace-plan 3\nregion 1 4294967296 0 0\nteam 0 1 1\n",
        "numaplace-plan 3\nregion 1 0 0 0\nteam 0 1 1\nregion 2 0 0 0\n",
        "numaplace-plan 3\nwant 0\n",
        "numaplace-plan 3\nregion 1 0 0 0\nwant 4096\n",
        "numaplace-plan 3\nregion 1 0 0 0\nwant 0 0\n",
        "numaplace-plan 3\nplace 0\n",
        "numaplace-plan 3\nrange 1 0 0 0 4\nplace 4096\n",
        "numaplace-plan 3\nrange 1 0 0 0 4\nplace 0\nplace 0\n",
        "numaplace-plan 3\nrange 1 0 0 0 4\nrun 0 1 0\nplace 0\n",
        "numaplace-plan 3\nrange 1 0 0 0 4\nplace 0\nrun 0 1 0\nplace 1\nrun 2 1 0\nrun 1 1 0\n",
        "numaplace-plan 3\nrange 1 0 0 0 4\nplace 0\nplace 1\nrange 1 0 0 1 4\nplace 1\nplace 0\n",
        "numaplace-plan 3\nrange 1 0 0 0 4\nplace 0\nplace 1\nrange 1 0 0 1 4\nplace 2\nplace 1\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (load(bad[i], strlen(bad[i]))) {
            (void)fprintf(stderr, "taken: %s\n", bad[i]);
            exit(1);
        }
    }
    MUST(!plan_load("/nowhere/at/all", SLOTS));
}

/* Whatever comes out, it must not read or write where it may not. */
static void damaged_texts_do_no_harm(void) {
    srand(1);
    for (int n = 0; n < 3000; n++) {
        char text[sizeof good > sizeof plan ? sizeof good : sizeof plan];
        const bool first = n % 2 == 0;
        const size_t bytes = first ? sizeof good : sizeof plan;
        memcpy(text, first ? good : plan, bytes);
        for (int damage = rand() % 4; damage >= 0; damage--)
            text[rand() % (int)(bytes - 1)] = (char)(rand() % 96 + 32);
        if (first)
            parse(text);
        else
            load(text, (size_t)(rand() % (int)bytes));
    }
}

int main(void) {
    settings_are_read();
    bad_settings_are_refused();
    plans_are_read();
    places_are_read();
    bad_plans_are_refused();
    damaged_texts_do_no_harm();
    return 0;
}
