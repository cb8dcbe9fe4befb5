/* trial.h: what a decision (decision.h) knows of a program and of the trial under way, and the steps that all
 * kinds of trials share.
 *
 * Contract. As decision.h: pure, one thread at a time, times in ns.
 */
#ifndef NUMAPLACE_TRIAL_H
#define NUMAPLACE_TRIAL_H

#include "adapt/next_trial.h"
#include "adapt/steps.h"
#include "adapt/team_trials.h"

#define LEAST_STEPS 3
#define TIMED_NS 2e6    /* steps are timed for so long in all, */
#define NOISES 2.0      /* a gain must exceed so many deviations */
#define LEAST_GAIN 0.01 /* in log2: 0.7% */
#define LOSS_PART 0.4   /* of the share: the most that all trials together may have lost; 2% of 5% */
#define SURE_PART 0.6   /* and where what is spent is sure to come back */
#define PARTS 8
#define MOST_PATTERNS 4 /* after so many changes of the steps nothing more is tried */
#define MOST_TURNS 16

enum outcome {
    OUTCOME_NONE,
    OUTCOME_KEPT,
    OUTCOME_NO_GAIN,
    OUTCOME_CUT,
    OUTCOME_GONE_BACK,
    OUTCOME_INTERRUPTED
};

enum stage {
    STAGE_LEARNING, /* looking for steps, or timing them under the mapping that the program has */
    STAGE_WAITING,  /* for the budget of the next trial */
    STAGE_CHANGING, /* to the mapping that is tried, until the caller says that it is complete */
    STAGE_WARMING,
    STAGE_TIMING,
    STAGE_PARTLY, /* some pages have moved, to some gain: waiting for the budget of the next part */
    STAGE_TURNS,  /* steps under what is tried and under what was before, in turns */
    STAGE_WATCHING,
    STAGE_RETURNING, /* until the caller says that it is complete */
    STAGE_SETTLED,   /* nothing is left to try */
};

struct limits {
    uint64_t quiet_ns;
    double share;
    bool crowded_only; /* nothing is tried but what spreads crowded pages */
};

/* What became of a trial. */
struct tried {
    uint32_t column, before; /* `before`: the mapping that it was compared with */
    enum outcome outcome;
    double gain;    /* over it, in log2; of a trial that was cut, at most this */
    double cost_ns; /* below 0: it was a gain already */
    uint64_t at_ns; /* since the start */
    uint32_t steps, turns;
    bool teams; /* those of regions were tried, not a mapping */
};

/* The gains of what is tried over what was before, of pairs of turns. */
struct turns {
    uint32_t count, column; /* `column`: what is tried */
    bool plain;             /* whether it is the turn of what was before */
    double plain_ns;
    double gain[MOST_TURNS];
};

struct decision {
    const struct known_gains *known;
    const struct known_teams *known_teams;
    struct limits limits;
    uint64_t start_ns;
    uint32_t wanted;       /* the mapping to run under */
    uint32_t parts;        /* of its pages' moves, that are to be made: PARTS for all */
    uint32_t home, before; /* where this pattern's gains count from; what the trial is compared with */
    enum stage stage;
    struct steps steps;
    struct team_trials teams;
    uint32_t team_column; /* under which they were found: elsewhere regions have the mapping's */
    bool by_region;       /* whether teams are tried */
    struct turns turns;
    uint64_t next_look; /* instances seen at which the pattern is looked for */
    uint64_t
        next_try_ns; /* when to look whether a trial can be paid for: that takes as long as a small region */
    struct trials trials;
    struct next_trial next;   /* by these trials, and what changes cost at `costed_ns` */
    double costed_ns;         /* of the rest of the program */
    bool next_known, obvious; /* `obvious`: it spreads crowded pages */
    bool closed[MOST_COLUMNS];
    uint32_t interrupted[MOST_COLUMNS], patterns;
    bool crowded;                  /* all pages are on one node, the threads on several: the caller says so */
    bool spreads[MOST_COLUMNS];    /* as the caller says, a mapping spreads pages and keeps the threads */
    bool sure;                     /* that this trial gains; of teams, that some regions have lost theirs */
    double pages_ns[MOST_COLUMNS]; /* expected cost of moving all pages for this mapping; 0 where none has to
                                      move */
    double spent_ns, saved_ns;     /* by all trials so far; `spent_ns` is not below 0 */
    double trial_ns, whole_ns;     /* cost of this trial that is not in `spent_ns` yet; and that is */
    double moves_ns;               /* of this trial: what moving pages has taken */
    double back_ns;                /* expected for the way back */
    double behind_ns;              /* of the step under way: how much longer its instances took so far */
    double unsure_ns;              /* instances in it that cannot be compared with any */
    double part_ns;                /* expected for moving one part of the pages */
    double free_ns;                /* what it may cost */
    double before_ns, before_off;  /* median of the steps before, and a step's deviation, as a share of it */
    uint32_t before_steps;
    double gain; /* of the mapping that the program has, over home, in log2 */
    struct tried last;
    uint32_t tried; /* how many trials have ended: `last` is the latest */
};

/* Go on with this stage, whose steps are timed anew. */
void decision_enter(struct decision *d, enum stage stage);
uint32_t decision_steps_wanted(double step_ns);
/* What trials may still cost, if they may have lost this part of the share. */
double decision_left(const struct decision *d, double loss_part, uint64_t now_ns);
/* What has been spent or gained so far by the trial under way counts. */
void decision_book(struct decision *d);
/* A trial has ended; and what it says of the mapping, which is closed. */
void decision_note(struct decision *d, enum outcome outcome, double gain, uint64_t now_ns);
void decision_tell(struct decision *d, double gain, bool ended);
void decision_go_back(struct decision *d);

#endif
