/* mapping_budget.c: counts the mappings that policies and protection cut. */
#include "memory/mapping_budget.h"

#include "process/system.h"

#include <stdlib.h>

#define USUAL_LIMIT 65530 /* linux/mm.h: DEFAULT_MAX_MAP_COUNT */

static uint32_t in_all = USUAL_LIMIT / 2;
static _Atomic uint32_t taken;
static _Atomic uint64_t missing;

void mapping_budget_prepare(void) {
    char text[32];
    system_read_text("/proc/sys/vm/max_map_count", text, sizeof text);
    const long limit = strtol(text, NULL, 10);
    if (limit > 0)
        in_all = (uint32_t)(limit / 2);
}

uint32_t mapping_budget_total(void) { return in_all; }

bool mapping_budget_take(struct range *range, size_t pieces) {
    const size_t cost = pieces + 1; /* the mapping around the range is cut in two */
    uint32_t had = atomic_load(&taken);
    do {
        if (cost > in_all || had > in_all - cost) {
            missing += !atomic_exchange(&range->left, true);
            return false;
        }
    } while (!atomic_compare_exchange_weak(&taken, &had, had + (uint32_t)cost));
    missing -= atomic_exchange(&range->left, false);
    atomic_store(&range->mappings, (uint32_t)cost);
    return true;
}

bool mapping_budget_give_back(struct range *range) {
    const uint32_t cost = atomic_exchange(&range->mappings, 0);
    atomic_fetch_sub(&taken, cost);
    return cost != 0;
}

uint64_t mapping_budget_refused(void) { return missing; }
