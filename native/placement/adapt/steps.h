/* steps.h: the steps of a program: the shortest part of its sequence of regions that comes again and again.
 *
 * Contract. An instance of a region says nothing about a mapping where instances differ, as those of a
 * multigrid's levels do; a whole step does. Pure: no allocation, no I/O. One thread at a time. Times are in
 * ns.
 *
 * The pattern of a step is found in the latest instances: regions must be the same one step before, and
 * durations as alike as for any other length. Where regions follow no pattern, the step is an instance of the
 * region that takes most of the time, if its instances take about as long as each other. Instances that do
 * not fit are passed over: a solver does something else once in a while. A step begins with its longest
 * instance: of what comes first after a change, that shows best who uses which pages.
 */
#ifndef NUMAPLACE_STEPS_H
#define NUMAPLACE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#define MOST_INSTANCES 2048 /* looked at for a pattern */
#define MOST_STEP 512       /* instances of a step */
#define MOST_TIMES 64       /* steps, of which the latest count */

struct steps {
    uint64_t seen; /* instances since the pattern was last looked for from the start */
    uint32_t region[MOST_INSTANCES];
    float time[MOST_INSTANCES];
    uint32_t length; /* of a step, in instances; 0 while there is no pattern */
    uint32_t pattern[MOST_STEP];
    bool one_region; /* whether the pattern is a region that others come between */
    uint32_t at;     /* instances of the step under way */
    bool partly;     /* that one has begun before the pattern was known */
    float under_way[MOST_STEP];
    float expected[MOST_STEP]; /* of each, by a step under the mapping that others are compared with */
    uint64_t compared;         /* how many instances were seen by then */
    uint64_t fitting, others;  /* instances lately */
    double step_ns;            /* of the step under way */
    uint32_t times;            /* steps timed since steps_again */
    double latest[MOST_TIMES];
};

/* What an instance did to the steps. */
enum step_event {
    STEP_GOES_ON,
    STEP_ENDED,
    STEP_UNFIT, /* it is in no step */
    STEP_LOST,  /* the program does something else now: there is no pattern any more */
};

/* An instance has ended. `expected_ns`: what it took under the mapping that others are compared with, or 0;
 * of one that is in no step, what the region's latest instance took there. */
enum step_event steps_add(struct steps *steps, uint32_t region, double time_ns, double *expected_ns);
/* Look for the pattern in the latest instances; return whether there is one. Takes up to a millisecond. */
bool steps_find(struct steps *steps);
/* Time steps anew, after a change of the mapping; the pattern stays. */
void steps_again(struct steps *steps);
/* Expect of a step that it takes so long, and of its instances the parts that they had of the latest one. */
void steps_expect(struct steps *steps, double step_ns);
/* Whether the latest steps are no faster than those before them: the kernel may be moving pages. */
bool steps_are_steady(const struct steps *steps);
/* The median of at most MOST_TIMES values, and that of their distances from it. */
double steps_median_of(const double *values, uint32_t count, double *spread);
/* The median of the timed steps in ns, and a step's deviation as a share of it; 0 without a step. */
double steps_median(const struct steps *steps, double *deviation);

#endif
