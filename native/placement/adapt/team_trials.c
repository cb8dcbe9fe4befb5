/* team_trials.c: halves the teams of regions while that makes them faster. */
#include "adapt/team_trials.h"

#include "adapt/arithmetic.h"

#include <string.h>

#define MAIN_SHARE 0.01 /* of a step: what takes less cannot gain enough to be seen */
#define LEAST 0.98  /* of its time: what a team must save a region, before all are compared with the plain */
#define MUCH 0.5    /* of an instance, and */
#define MUCH_NS 1e5 /* so much longer in all: a region has lost its trial */

static struct team_region *find(struct team_trials *t, uint32_t key) {
    for (uint32_t n = 0; n < t->regions; n++)
        if (t->region[n].key == key)
            return &t->region[n];
    return NULL;
}

static struct team_region *add(struct team_trials *t, uint32_t key) {
    struct team_region *found = find(t, key);
    if (found || t->regions == MOST_TEAM_REGIONS)
        return found;
    found = &t->region[t->regions++];
    *found = (struct team_region){.key = key, .next = 1};
    return found;
}

void team_trials_learn(struct team_trials *t, const struct steps *steps) {
    double whole = 0;
    for (uint32_t n = 0; n < t->regions; n++)
        t->region[n].main = false;
    for (uint32_t n = 0; n < steps->length; n++)
        whole += (double)steps->under_way[n];
    for (uint32_t n = 0; n < steps->length; n++) {
        double own = 0;
        for (uint32_t m = 0; m < steps->length; m++)
            own += steps->pattern[m] == steps->pattern[n] ? (double)steps->under_way[m] : 0;
        struct team_region *r = own >= MAIN_SHARE * whole ? add(t, steps->pattern[n]) : NULL;
        if (r)
            r->main = true;
    }
    team_trials_again(t);
}

void team_trials_add(struct team_trials *t, uint32_t region, double time_ns, double expected_ns) {
    struct team_region *r = find(t, region);
    if (!r)
        return;
    r->under_way += time_ns;
    if (r->now == r->best || r->now == r->kept || expected_ns <= 0)
        return;
    r->excess = larger(r->excess + time_ns - expected_ns, 0);
    if (r->excess > MUCH * expected_ns && r->excess > MUCH_NS)
        r->now = r->best;
}

void team_trials_step(struct team_trials *t) {
    for (uint32_t n = 0; n < t->regions; n++) {
        t->region[n].recent[t->steps % TEAM_STEPS] = (float)t->region[n].under_way;
        t->region[n].under_way = 0;
    }
    t->steps++;
}

void team_trials_again(struct team_trials *t) {
    t->steps = 0;
    for (uint32_t n = 0; n < t->regions; n++)
        t->region[n].under_way = t->region[n].excess = 0;
}

static bool may_try(const struct team_region *r, const struct known_teams *known, uint32_t team) {
    return r->main && team >= r->next && known->threads[team] < known->threads[0] &&
           2 * known->threads[team] >= known->threads[r->best];
}

uint32_t team_trials_next(const struct team_trials *t, const struct known_teams *known) {
    for (uint32_t team = 1; team < known->count; team++)
        for (uint32_t n = 0; n < t->regions; n++)
            if (may_try(&t->region[n], known, team))
                return team;
    return 0;
}

static double median(const struct team_trials *t, const struct team_region *r) {
    float sorted[TEAM_STEPS];
    const uint32_t count = t->steps < TEAM_STEPS ? t->steps : TEAM_STEPS;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t at = n;
        for (; at > 0 && sorted[at - 1] > r->recent[n]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = r->recent[n];
    }
    return count ? (double)sorted[count / 2] : INFINITE;
}

void team_trials_begin(struct team_trials *t, const struct known_teams *known, uint32_t team, bool first) {
    for (uint32_t n = 0; n < t->regions; n++) {
        struct team_region *r = &t->region[n];
        if (first)
            r->best_ns = median(t, r);
        r->now = may_try(r, known, team) ? (uint8_t)team : r->best;
        if (r->main && r->next <= team)
            r->next = (uint8_t)(team + 1);
    }
    team_trials_again(t);
}

bool team_trials_drop(struct team_trials *t) {
    bool goes_on = false;
    for (uint32_t n = 0; n < t->regions; n++) {
        struct team_region *r = &t->region[n];
        if (r->excess > 0)
            r->now = r->best;
        goes_on |= r->now != r->best;
    }
    return goes_on;
}

void team_trials_judge(struct team_trials *t) {
    for (uint32_t n = 0; n < t->regions; n++) {
        struct team_region *r = &t->region[n];
        const double ns = median(t, r);
        if (r->now != r->best && ns < LEAST * r->best_ns) {
            r->best = r->now;
            r->best_ns = ns;
        }
    }
    team_trials_show(t, true);
}

bool team_trials_found(const struct team_trials *t) {
    for (uint32_t n = 0; n < t->regions; n++)
        if (t->region[n].best != t->region[n].kept)
            return true;
    return false;
}

void team_trials_show(struct team_trials *t, bool best) {
    for (uint32_t n = 0; n < t->regions; n++)
        t->region[n].now = best ? t->region[n].best : t->region[n].kept;
    team_trials_again(t);
}

void team_trials_keep(struct team_trials *t, bool best) {
    for (uint32_t n = 0; n < t->regions; n++) {
        struct team_region *r = &t->region[n];
        *(best ? &r->kept : &r->best) = best ? r->best : r->kept;
    }
    team_trials_show(t, true);
}

void team_trials_set(struct team_trials *t, uint32_t region, uint32_t team) {
    struct team_region *r = add(t, region);
    if (!r)
        return;
    r->kept = r->best = r->now = (uint8_t)team;
    r->next = MOST_TEAMS;
}

void team_trials_reset(struct team_trials *t) {
    for (uint32_t n = 0; n < t->regions; n++) {
        struct team_region *r = &t->region[n];
        r->kept = r->best = r->now = 0;
        r->next = 1;
    }
    team_trials_again(t);
}
