"""What an instance takes by its replays: between those that follow one another and those after emptied caches.

A replay finds in the caches what the one before has left there, an instance of the run what other regions left of it.
How much that is cannot be seen without counters, but the run has timed its own instances: the share of the way, from
the baseline's replays to those after emptied caches, at which the run's mean lies, is what other regions empty. They
do so under any mapping, so the same share holds for the region's replays under all others. Between the two bounds of
warm and of empty caches lies every sample of a simulated trace, too, and the share is estimated there (Wood, Hill,
Kessler: A model for estimating trace-sample miss ratios, SIGMETRICS 1991). Where the run's mean lies beyond the second
bound, replays do less than an instance, since they find done what the one before did: then the first replay, which
alone is on the run's own data, is a third bound. Pure.
"""

import math
import statistics
from collections.abc import Iterable

from numapredict.collect.capturing.exchange import Outcome

LEAST_DIFFERENCE = 0.03
"""Of a replay's time: caches whose state makes less difference count as warm, for replays differ by as much."""


def time_of(outcome: Outcome, emptied: float = 0.0) -> float:
    """Return the median time of replays with this share of the caches emptied; not a number where there are none.

    Beyond 1, up to 2, it is on the way from all caches emptied to the first replay: the share of what a replay finds
    done that an instance of the run does not.
    """
    if not outcome.times_s or outcome.problem:
        return math.nan
    warm_s, cold_s, first_s = _bounds_s(outcome)
    return warm_s + min(emptied, 1.0) * (cold_s - warm_s) + max(emptied - 1.0, 0.0) * (first_s - cold_s)


def _bounds_s(outcome: Outcome) -> tuple[float, float, float]:
    """Return the medians of replays and of those after emptied caches, and the first replay, in ascending order."""
    warm_s = statistics.median(outcome.times_s)
    cold_s = max(statistics.median(outcome.emptied_s), warm_s) if outcome.emptied_s else warm_s
    return warm_s, cold_s, max(outcome.first_s, cold_s)


def emptied_share(baseline: Iterable[Outcome], own_s: float) -> float:
    """Return the share of the caches that is emptied between instances of the run, whose mean is ``own_s``; 0 to 2.

    ``baseline`` are the outcomes of the mapping that the run has. 0 where it makes too little difference, or where not
    all of them have replays after emptied caches. Where instances take longer than those, replays find done what the
    first one did, as the visiting of a graph's nodes: then it is 1, and the share of the way to the first replay. Where
    all but that one fail in any of them, it is 2.
    """
    valid = [outcome for outcome in baseline if outcome.times_s and not outcome.problem]
    if any(outcome.times_s == (outcome.first_s,) for outcome in valid):
        return 2.0
    if not valid or not all(outcome.emptied_s for outcome in valid):
        return 0.0
    warm_s, cold_s, first_s = (float(statistics.median(each)) for each in zip(*map(_bounds_s, valid), strict=True))
    if own_s - cold_s >= LEAST_DIFFERENCE * cold_s and first_s - cold_s >= LEAST_DIFFERENCE * cold_s:
        return 1.0 + min((own_s - cold_s) / (first_s - cold_s), 1.0)
    if min(own_s, cold_s) - warm_s < LEAST_DIFFERENCE * warm_s:
        return 0.0
    return min((own_s - warm_s) / (cold_s - warm_s), 1.0)


def distance(one_s: float, other_s: float) -> float:
    """Return how far two times are apart, in log2; infinite where one is not positive, or is not a number."""
    return abs(math.log2(one_s / other_s)) if one_s > 0 and other_s > 0 else math.inf
