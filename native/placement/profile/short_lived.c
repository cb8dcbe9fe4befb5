/* short_lived.c: a hash table of the sites that freed a range soon. */
#include "profile/short_lived.h"

#include <stdatomic.h>
#include <stddef.h>

#define SITES 1024u
#define MOST_PROBES 8u
#define MANY 64u /* more of them than of others, then further ones are left out */
#define ONE_OF 32u
#define ONE_OF_CROWDED 1024u

static struct short_site {
    _Atomic uint64_t site; /* 0: free */
    _Atomic uint32_t soon, made;
} sites[SITES];
static atomic_bool left_out;

static struct short_site *find(uint64_t site, bool make) {
    const uint32_t first = (uint32_t)(site * 0x9e3779b97f4a7c15u >> 32);
    for (uint32_t probe = 0; probe < MOST_PROBES && site; probe++) {
        struct short_site *s = &sites[(first + probe) % SITES];
        uint64_t seen = atomic_load(&s->site);
        if (seen == site)
            return s;
        if (seen == 0 && !make)
            return NULL;
        if (seen == 0 && (atomic_compare_exchange_strong(&s->site, &seen, site) || seen == site))
            return s;
    }
    return NULL;
}

uint32_t short_lived_stands_for(uint64_t site, bool crowded) {
    struct short_site *s = find(site, false);
    if (!s || atomic_load(&s->soon) < MANY)
        return 1;
    const uint32_t every = crowded ? ONE_OF_CROWDED : ONE_OF;
    if (atomic_fetch_add(&s->made, 1) % every == 0)
        return every;
    if (!atomic_load(&left_out))
        atomic_store(&left_out, true);
    return 0;
}

/* One that lives long counts as half of those that did not: sites that make both keep most. */
void short_lived_freed(uint64_t site, uint64_t lived_ns) {
    const bool soon = lived_ns < SHORT_LIFE_NS;
    struct short_site *s = find(site, soon);
    if (!s)
        return;
    const uint32_t had = atomic_load(&s->soon);
    if (!soon)
        atomic_store(&s->soon, had / 2);
    else if (had < 2 * MANY)
        atomic_store(&s->soon, had + 1);
}

bool short_lived_any(void) { return atomic_load(&left_out); }
