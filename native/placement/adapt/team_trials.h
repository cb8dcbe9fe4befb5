/* team_trials.h: how many threads each region of a program gets: halving, over all main regions at once.
 *
 * Contract. Pure: no allocation, no I/O, no clock; one thread at a time. Times are in ns. Team 0 is the one
 * that a region has under the mapping; the others come in the order in which they are tried, those with more
 * threads first. In a trial each main region has the first team that it has not had, if that is no less than
 * half of its best so far: what loses with half of the threads is not tried with a quarter. A region whose
 * instances take clearly longer gets its best team back at once, whatever the others do.
 */
#ifndef NUMAPLACE_TEAM_TRIALS_H
#define NUMAPLACE_TEAM_TRIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "adapt/steps.h"

#define MOST_TEAMS 16
#define MOST_TEAM_REGIONS 32
#define TEAM_STEPS 8 /* of which the median counts */

/* Teams that a region may have. `gain`: what known programs gain from each, in log2 and as a mean of those
 * that gain. */
struct known_teams {
    uint32_t count; /* with team 0, whose threads the caller tells */
    uint32_t threads[MOST_TEAMS];
    double gain[MOST_TEAMS];
};

struct team_region {
    uint32_t key;
    bool main;               /* of the steps that the program has now */
    uint8_t kept, best, now; /* teams: without a trial, by this one, and under way */
    uint8_t next;            /* to try */
    double best_ns;          /* of a step under `best` */
    double under_way, excess;
    float recent[TEAM_STEPS];
};

struct team_trials {
    uint32_t regions, steps;
    struct team_region region[MOST_TEAM_REGIONS];
};

/* The program's steps are these: find its main regions. */
void team_trials_learn(struct team_trials *trials, const struct steps *steps);
/* An instance has ended, which took `expected_ns` before, or 0; and a step. */
void team_trials_add(struct team_trials *trials, uint32_t region, double time_ns, double expected_ns);
void team_trials_step(struct team_trials *trials);
/* Measure steps anew. */
void team_trials_again(struct team_trials *trials);
/* Return the team that is to be tried next, 0 for none. */
uint32_t team_trials_next(const struct team_trials *trials, const struct known_teams *known);
/* Try it; `first`: the times so far are those of the best teams. */
void team_trials_begin(struct team_trials *trials, const struct known_teams *known, uint32_t team,
                       bool first);
/* The trial costs too much: give regions that are longer than before their best teams. Return whether it goes
 * on in others. */
bool team_trials_drop(struct team_trials *trials);
/* End the trial: each region has its best team. Without a timed step that is the one it had. */
void team_trials_judge(struct team_trials *trials);
/* Whether any region's best team is not the one it keeps. */
bool team_trials_found(const struct team_trials *trials);
/* From the next instance on each region has its best team, or else the one that it keeps. */
void team_trials_show(struct team_trials *trials, bool best);
/* Keep the best teams for good; or forget them. */
void team_trials_keep(struct team_trials *trials, bool best);
/* Begin a region with a team that was kept in another run. */
void team_trials_set(struct team_trials *trials, uint32_t region, uint32_t team);
/* A mapping has other threads or pages: all regions have its team, and may try all others again. */
void team_trials_reset(struct team_trials *trials);
/* The team of a region's next instance. */
static inline uint32_t team_trials_team(const struct team_trials *trials, uint32_t region) {
    for (uint32_t n = 0; n < trials->regions; n++)
        if (trials->region[n].key == region)
            return trials->region[n].now;
    return 0;
}

#endif
