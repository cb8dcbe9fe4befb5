/* known_regions.c: a table filled from its start; found by a hash of the function. */
#include "profile/known_regions.h"

#include <stdatomic.h>

#define PLACES 4096u

static _Atomic(void *) functions[REGIONS_LIMIT + 1];
static struct {
    _Atomic(void *) function;
    _Atomic uint32_t number;
} places[PLACES];
static _Atomic uint32_t count;

uint32_t known_region(void *function) {
    const uint64_t hash = (uint64_t)(uintptr_t)function * 0x9e3779b97f4a7c15u >> 40;
    for (uint32_t probe = 0; probe < PLACES; probe++) {
        const uint32_t at = (uint32_t)(hash + probe) % PLACES;
        void *seen = atomic_load(&places[at].function);
        if (seen == function)
            return atomic_load(&places[at].number); /* 0 while another thread adds it */
        if (seen || atomic_load(&count) >= REGIONS_LIMIT)
            continue;
        if (atomic_compare_exchange_strong(&places[at].function, &seen, function)) {
            const uint32_t number = atomic_fetch_add(&count, 1) + 1;
            if (number > REGIONS_LIMIT)
                return 0;
            atomic_store(&functions[number], function);
            atomic_store(&places[at].number, number);
            return number;
        }
    }
    return 0;
}

uint32_t known_regions(void) {
    const uint32_t number = atomic_load(&count);
    return number < REGIONS_LIMIT ? number : REGIONS_LIMIT;
}

void *known_region_function(uint32_t number) { return atomic_load(&functions[number]); }
