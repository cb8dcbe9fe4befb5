/* mapping_budget.c: counts the mappings that policies and protection cut. */
#define _GNU_SOURCE
#include "memory/mapping_budget.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define USUAL_LIMIT 65530 /* linux/mm.h: DEFAULT_MAX_MAP_COUNT */

static uint32_t in_all = USUAL_LIMIT / 2;
static _Atomic uint32_t taken;
static _Atomic uint64_t missing;

void mapping_budget_prepare(void) {
    const int before = errno;
    char text[32] = "";
    const int file = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        const long limit = read(file, text, sizeof text - 1) > 0 ? strtol(text, NULL, 10) : 0;
        if (limit > 0)
            in_all = (uint32_t)(limit / 2);
        close(file);
    }
    errno = before;
}

uint32_t mapping_budget_total(void) { return in_all; }

bool mapping_budget_take(struct range *range, size_t pieces) {
    const size_t cost = pieces + 1; /* what surrounds the range is cut in two */
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
