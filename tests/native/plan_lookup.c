/* plan_lookup.c: random plans, in which plan_for must find what a search from the first range on finds.
 *
 * The fields have few values, so that ranges differ in one field only, and many are in the file twice. Built
 * with the address and undefined-behaviour sanitizers by .ci/run; aborts at the first wrong answer. */
#define _GNU_SOURCE
#include "../../native/placement/policy/plan.h"
#include "must.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLANS = 400, MOST_RANGES = 200, MOST_RUNS = 3, QUESTIONS = 300 };

static const uint64_t sites[] = {0, 1, 0x8000000000000000u, UINT64_MAX};

struct known {
    uint64_t site, pages;
    uint32_t slot, order, kind;
    struct plan_run run[MOST_RUNS];
    size_t runs;
};

static struct known known[MOST_RANGES];
static size_t count;

static uint32_t below(uint32_t most) { return (uint32_t)rand() % most; }

static struct known any(void) {
    struct known k = {.site = sites[below(4)],
                      .pages = 20 + below(2),
                      .slot = below(3),
                      .order = below(4),
                      .kind = 1 + below(3)};
    k.runs = below(MOST_RUNS + 1);
    for (uint32_t r = 0; r < k.runs; r++)
        k.run[r] =
            (struct plan_run){.first = 5 * r + below(3), .count = 1 + below(2), .node = (uint16_t)below(9)};
    return k;
}

static void write_plan(const char *path) {
    FILE *file = fopen(path, "we");
    MUST(file && fputs("numaplace-plan 3\n", file) >= 0);
    for (size_t i = 0; i < count; i++) {
        const struct known *k = &known[i];
        MUST(fprintf(file, "range %u %016" PRIx64 " %u %u %" PRIu64 "\n", k->kind, k->site, k->slot, k->order,
                     k->pages) > 0);
        for (size_t r = 0; r < k->runs; r++)
            MUST(fprintf(file, "run %u %u %u\n", k->run[r].first, k->run[r].count, k->run[r].node) > 0);
    }
    MUST(fclose(file) == 0);
}

static const struct known *first_of(const struct known *wanted) {
    for (size_t i = 0; i < count; i++) {
        const struct known *k = &known[i];
        if (k->site == wanted->site && k->slot == wanted->slot && k->order == wanted->order &&
            k->kind == wanted->kind && k->pages == wanted->pages)
            return k;
    }
    return NULL;
}

static void ask(const struct known *wanted) {
    const uintptr_t start = PAGE_BYTES * below(1000);
    const struct range range = {.start = start,
                                .end = start + wanted->pages * PAGE_BYTES,
                                .site = wanted->site,
                                .slot = wanted->slot,
                                .order = wanted->order,
                                .kind = (enum range_kind)wanted->kind};
    size_t runs = 99;
    const struct plan_run *found = plan_for(&range, &runs);
    const struct known *right = first_of(wanted);
    MUST(!found == !right && runs == (right ? right->runs : 0));
    for (size_t r = 0; r < runs; r++)
        MUST(found[r].first == right->run[r].first && found[r].count == right->run[r].count &&
             found[r].node == right->run[r].node);
}

int main(void) {
    char path[] = "/tmp/numapredict-plan-XXXXXX";
    const int file = mkstemp(path);
    MUST(file >= 0 && close(file) == 0);
    srand(1);
    for (int n = 0; n < PLANS; n++) {
        count = n < 4 ? (size_t)n : below(MOST_RANGES);
        for (size_t i = 0; i < count; i++)
            known[i] = any();
        write_plan(path);
        MUST(plan_load(path, 64));
        for (size_t i = 0; i < count; i++)
            ask(&known[i]);
        for (int q = 0; q < QUESTIONS; q++) {
            const struct known wanted = any();
            ask(&wanted);
        }
    }
    return unlink(path) == 0 ? 0 : 1;
}
