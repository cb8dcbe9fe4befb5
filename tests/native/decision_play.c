/* decision_play.c: native/placement/adapt on a program whose times are given; a shared library for
 * tests/adapting.py. */
#include "adapt/decision.h"

#include <math.h>
#include <string.h>

/* A program: `regions` regions of a step, each with its time under each mapping, [columns][regions]; at the
 * instance `turn` the regions' times become those of the second table. */
struct program {
    uint32_t columns, regions;
    const double *time_ns, *later_ns;
    uint64_t instances, turn;
    double pages_ns;       /* of a change of the pages */
    const uint32_t *pages; /* [columns]: which placement of pages each has */
    const double *noise;   /* factors, used in turn */
    uint64_t noises;
};

struct played {
    double time_ns, baseline_ns, in_trials_ns,
        worst;         /* `worst`: most that it was ever slower so far, after 1 s */
    double reached_ns; /* when the mapping of the end was kept */
    uint32_t column, tried, kept, back, cut;
    int32_t stage;
};

int next_column(uint32_t programs, uint32_t columns, const float *gain, const float *weight, uint32_t count,
                const uint32_t *column, const double *measured, const uint8_t *ended, const uint8_t *closed,
                double *expected) {
    const struct known_gains known = {programs, columns, gain, weight};
    struct trials trials = {.count = count};
    bool out[MOST_COLUMNS] = {false};
    for (uint32_t n = 0; n < count; n++) {
        trials.column[n] = column[n];
        trials.gain[n] = measured[n];
        trials.ended[n] = ended[n];
    }
    for (uint32_t n = 0; n < columns; n++)
        out[n] = closed[n];
    const struct next_trial found = next_trial(&known, &trials, column[0], out);
    *expected = found.expected_gain;
    return found.column;
}

void play(uint32_t programs, const float *gain, const float *weight, const struct program *p,
          uint64_t quiet_ns, double share, struct played *out) {
    static struct decision d;
    const struct known_gains known = {programs, p->columns, gain, weight};
    double now = 0, baseline = 0;
    uint32_t has = 0, seen = 0, from = 0,
             parts = PARTS; /* the pages: `parts` of `has`, the rest still of `from` */
    memset(out, 0, sizeof *out);
    static const struct known_teams none = {.count = 1};
    decision_begin(&d, &known, &none, (struct limits){quiet_ns, share, false}, 0, 0);
    for (uint64_t n = 0; n < p->instances; n++) {
        if (d.wanted != has || d.parts != parts) {
            const double share = d.wanted == from && parts < PARTS ? (double)parts / PARTS
                                 : d.wanted == has                 ? (double)(d.parts - parts) / PARTS
                                                                   : (double)d.parts / PARTS;
            const double cost =
                p->pages[d.wanted == has ? from : has] != p->pages[d.wanted] ? share * p->pages_ns : 1e4;
            now += cost;
            out->in_trials_ns += cost;
            from = d.wanted == has ? from : has;
            has = d.wanted;
            parts = d.parts;
            decision_changed(&d, cost, true);
        }
        for (uint32_t c = 0; c < p->columns; c++)
            d.pages_ns[c] = p->pages[has] != p->pages[c] ? p->pages_ns : 0;
        const uint32_t region = (uint32_t)(n % p->regions);
        const double *times = n < p->turn ? p->time_ns : p->later_ns;
        const double noise = p->noise[n % p->noises];
        const double done = times[has * p->regions + region], old = times[from * p->regions + region];
        const double time = (old + (done - old) * parts / PARTS) * noise;
        if (d.stage == STAGE_WARMING || d.stage == STAGE_TIMING || d.stage == STAGE_CHANGING)
            out->in_trials_ns += time;
        now += time;
        baseline += times[region] * noise;
        if (baseline > 1e9)
            out->worst = fmax(out->worst, now / baseline - 1);
        decision_ended(&d, region + (n < p->turn ? 0 : 1000), (uint64_t)time, (uint64_t)now);
        if (d.tried != seen) {
            seen = d.tried;
            out->kept += d.last.outcome == OUTCOME_KEPT;
            out->cut += d.last.outcome == OUTCOME_CUT;
            out->back += d.last.outcome == OUTCOME_GONE_BACK;
            if (d.last.outcome == OUTCOME_KEPT)
                out->reached_ns = now;
        }
    }
    out->time_ns = now;
    out->baseline_ns = baseline;
    out->column = has;
    out->tried = d.tried;
    out->stage = (int32_t)d.stage;
}
