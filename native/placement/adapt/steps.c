/* steps.c: finds the pattern of a program's regions, and times its steps. */
#include "adapt/steps.h"

#include "adapt/arithmetic.h"

#include <string.h>

#define ALIKE 0.35    /* most that durations may differ from those a step before, over their sum */
#define AT_RANDOM 1.3 /* a longer step must be so much more alike than a shorter one */
#define MOST_SPREAD 0.25
#define STEADY 0.03 /* by so much the later half of the steps may be faster */
#define LEAST_SHARE 0.3
#define LEAST_INSTANCES 6

static uint32_t latest(const struct steps *s, uint64_t back) {
    return (uint32_t)((s->seen - 1 - back) % MOST_INSTANCES);
}

/* How unlike the latest instances are to those `length` before; infinite where a region differs. */
static double unlike(const struct steps *s, uint32_t length, uint32_t window) {
    double differences = 0, sum = 0;
    for (uint32_t n = 0; n < window; n++) {
        const uint32_t a = latest(s, n), b = latest(s, n + length);
        if (s->region[a] != s->region[b])
            return INFINITE;
        differences += without_sign((double)s->time[a] - (double)s->time[b]);
        sum += ((double)s->time[a] + (double)s->time[b]) / 2;
    }
    return sum > 0 ? differences / sum : 0;
}

static void order(double *values, uint32_t count) {
    for (uint32_t n = 1; n < count; n++)
        for (uint32_t at = n; at > 0 && values[at - 1] > values[at]; at--) {
            const double other = values[at];
            values[at] = values[at - 1];
            values[at - 1] = other;
        }
}

static double middle(const double *ordered, uint32_t count) {
    return count % 2 ? ordered[count / 2] : (ordered[count / 2 - 1] + ordered[count / 2]) / 2;
}

double steps_median_of(const double *values, uint32_t count, double *spread) {
    double sorted[MOST_TIMES];
    memcpy(sorted, values, count * sizeof *values);
    order(sorted, count);
    const double found = middle(sorted, count);
    for (uint32_t n = 0; n < count; n++)
        sorted[n] = without_sign(values[n] - found);
    order(sorted, count);
    *spread = middle(sorted, count);
    return found;
}

static void begin_pattern(struct steps *s, uint32_t length) {
    s->length = length;
    s->compared = 0;
    s->at = 0;
    s->partly = false;
    s->step_ns = 0;
    s->fitting = s->others = 0;
    memset(s->expected, 0, sizeof s->expected);
    steps_again(s);
}

static bool find_heaviest(struct steps *s, uint32_t kept) {
    double all = 0, most = 0;
    uint32_t heaviest = 0;
    for (uint32_t n = 0; n < kept; n++)
        all += s->time[latest(s, n)];
    for (uint32_t n = 0; n < kept && n < 64; n++) { /* what takes most was seen lately */
        double sum = 0;
        for (uint32_t m = 0; m < kept; m++)
            sum += s->region[latest(s, m)] == s->region[latest(s, n)] ? s->time[latest(s, m)] : 0;
        if (sum > most) {
            most = sum;
            heaviest = s->region[latest(s, n)];
        }
    }
    double times[MOST_TIMES], spread;
    uint32_t count = 0;
    for (uint32_t n = 0; n < kept && count < MOST_TIMES; n++)
        if (s->region[latest(s, n)] == heaviest)
            times[count++] = s->time[latest(s, n)];
    if (count < LEAST_INSTANCES || most < LEAST_SHARE * all)
        return false;
    const double typical = steps_median_of(times, count, &spread);
    if (spread > MOST_SPREAD * typical)
        return false;
    s->pattern[0] = heaviest;
    s->one_region = true;
    begin_pattern(s, 1);
    return true;
}

bool steps_find(struct steps *s) {
    const uint32_t kept = s->seen < MOST_INSTANCES ? (uint32_t)s->seen : MOST_INSTANCES;
    double best = INFINITE, score[MOST_STEP + 1];
    uint32_t most = kept / 3 < MOST_STEP ? kept / 3 : MOST_STEP, found = 0;
    if (kept < LEAST_INSTANCES)
        return false;
    for (uint32_t length = 1; length <= most; length++) {
        /* No more than the later half, where that is enough: a program begins with regions that never return.
         */
        const uint32_t most_window = kept / 2 < 64 ? kept / 2 : 64;
        score[length] = unlike(s, length, 2 * length > most_window ? 2 * length : most_window);
        best = smaller(best, score[length]);
    }
    for (uint32_t length = 1; length <= most && !found; length++)
        if (score[length] <= ALIKE && score[length] <= larger(AT_RANDOM * best, best + 0.02))
            found = length;
    if (!found)
        return find_heaviest(s, kept);
    uint32_t longest = 0; /* instances ago */
    for (uint32_t n = 1; n < found; n++)
        if (s->time[latest(s, n)] >= s->time[latest(s, longest)])
            longest = n;
    for (uint32_t n = 0; n < found; n++)
        s->pattern[n] = s->region[latest(s, (longest + found - n) % found)];
    s->one_region = false;
    begin_pattern(s, found);
    s->at = (longest + 1) % found;
    s->partly = s->at > 0;
    return true;
}

/* What the latest instance of a region took before others were compared; 0 where that is not known any more.
 */
static double latest_before(const struct steps *s, uint32_t region) {
    const uint64_t oldest = s->seen > MOST_INSTANCES ? s->seen - MOST_INSTANCES : 0;
    for (uint64_t n = s->compared; n > oldest; n--)
        if (s->region[(n - 1) % MOST_INSTANCES] == region)
            return (double)s->time[(n - 1) % MOST_INSTANCES];
    return 0;
}

static enum step_event unfit(struct steps *s) {
    s->others++;
    s->at = 0;
    s->partly = false;
    s->step_ns = 0;
    if (s->one_region)
        return STEP_UNFIT;
    if (s->others > 64 + s->length && s->others > s->fitting) {
        s->length = 0;
        s->seen = 0;
        return STEP_LOST;
    }
    return STEP_UNFIT;
}

/* What is long ago counts less. */
static void forget(struct steps *s) {
    if (s->others + s->fitting <= 4 * (64 + 4ull * s->length))
        return;
    s->others /= 2;
    s->fitting /= 2;
}

enum step_event steps_add(struct steps *s, uint32_t region, double time_ns, double *expected_ns) {
    const uint32_t place = (uint32_t)(s->seen++ % MOST_INSTANCES);
    s->region[place] = region;
    s->time[place] = (float)time_ns;
    *expected_ns = 0;
    if (s->length == 0)
        return STEP_UNFIT;
    if (s->pattern[s->at] != region) {
        const bool middle_of_step = s->at > 0;
        const enum step_event event = s->one_region ? STEP_UNFIT : unfit(s);
        forget(s);
        if (event == STEP_LOST || !middle_of_step || s->pattern[0] != region) {
            *expected_ns = event == STEP_LOST ? 0 : latest_before(s, region);
            return event;
        }
    }
    s->fitting++;
    forget(s);
    *expected_ns = s->expected[s->at];
    s->under_way[s->at++] = (float)time_ns;
    s->step_ns += time_ns;
    if (s->at < s->length)
        return STEP_GOES_ON;
    const bool whole = !s->partly;
    if (whole)
        s->latest[s->times++ % MOST_TIMES] = s->step_ns;
    s->partly = false;
    s->at = 0;
    s->step_ns = 0;
    return whole ? STEP_ENDED : STEP_GOES_ON;
}

void steps_again(struct steps *s) { s->times = 0; }

void steps_expect(struct steps *s, double step_ns) {
    double sum = 0;
    s->compared = s->seen;
    for (uint32_t n = 0; n < s->length; n++)
        sum += (double)s->under_way[n];
    for (uint32_t n = 0; n < s->length; n++)
        s->expected[n] = sum > 0 ? (float)((double)s->under_way[n] * step_ns / sum) : 0;
}

bool steps_are_steady(const struct steps *s) {
    const uint32_t count = s->times < MOST_TIMES ? s->times : MOST_TIMES, half = count / 2;
    double halves[2][MOST_TIMES], spread;
    for (uint32_t n = 0; n < 2 * half; n++)
        halves[n / half][n % half] = s->latest[(s->times - 2 * half + n) % MOST_TIMES];
    return half < 2 || steps_median_of(halves[1], half, &spread) >
                           (1 - STEADY) * steps_median_of(halves[0], half, &spread);
}

double steps_median(const struct steps *s, double *deviation) {
    const uint32_t count = s->times < MOST_TIMES ? s->times : MOST_TIMES;
    double spread = 0;
    *deviation = 0;
    if (count == 0)
        return 0;
    const double found = steps_median_of(s->latest, count, &spread);
    *deviation = found > 0 ? 1.48 * spread / found : 0; /* of a normal distribution */
    return found;
}
