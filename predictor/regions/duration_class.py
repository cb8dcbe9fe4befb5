"""Instances of a region that take about as long, what they gain, and what the region gains by all of them.

A region that is called with much and with little to do, as on the levels of a multigrid, reacts to mappings in more
than one way: an instance of each class of durations is replayed, and counts by the time of its class. Pure.
"""

from collections.abc import Callable, Sequence

import msgspec

from numapredict.collect.capturing.exchange import AskedRegion
from numapredict.collect.capturing.replay_time import distance
from numapredict.predictor.regions.choice import Gain, is_like


class DurationClass(msgspec.Struct, frozen=True):
    """Instances that take about ``mean_s``, and ``share`` of the region's time.

    Instance number ``instance``, from 0, was replayed under the mappings of ``gains``, the baseline first, and
    ``emptied`` is the share of the caches that other regions empty between such instances, 0 to 1, and ``undone`` that
    of what replays find done by the one before, and such instances do.
    """

    mean_s: float
    share: float
    instance: int
    gains: tuple[Gain, ...]
    emptied: float
    undone: float = 0.0


def means_and_shares(replays_s: Sequence[float], asked: AskedRegion) -> tuple[tuple[float, float], ...]:
    """Return for each replayed instance the mean of those that it stands for, in seconds, and their share of the time.

    ``replays_s`` is how long the replays of each took under the baseline: an instance of the run counts to the nearest
    of these. The mean is that of most of them: of the durations on which most time is spent, and what is like these.
    """
    known = [
        (spent_s / count, spent_s, count) for spent_s, count in zip(asked.spent_s, asked.counts, strict=True) if count
    ]
    own: list[list[tuple[float, float, int]]] = [[] for _ in replays_s]
    for each in known:
        own[min(range(len(own)), key=lambda n: distance(replays_s[n], each[0]))].append(each)
    whole_s = sum(spent_s for _, spent_s, _ in known)
    return tuple(
        (_usual_s(each) or asked.mean_s, sum(spent_s for _, spent_s, _ in each) / whole_s if known else 1.0)
        for each in own
    )


def _usual_s(durations: Sequence[tuple[float, float, int]]) -> float:
    if not durations:
        return 0.0
    most_s = max(durations, key=lambda each: each[1])[0]
    like = [each for each in durations if is_like(each[0], most_s)]
    return sum(spent_s for _, spent_s, _ in like) / sum(count for *_, count in like)


def together(classes: Sequence[DurationClass], mean_s: float) -> tuple[Gain, ...]:
    """Return what each mapping gives the whole region, of those that all its classes were replayed under.

    ``mean_s`` is the mean of all its instances: a replay's time is over it what replays are over their classes' means.
    """
    shares = [one.share / sum(each.share for each in classes) for one in classes]
    found = []
    for first in classes[0].gains:
        own = [gain for one in classes for gain in one.gains if gain.mapping == first.mapping]
        if len(own) == len(classes):
            found.append(_together(own, shares, [mean_s / one.mean_s for one in classes]))
    return tuple(found)


def _together(gains: Sequence[Gain], shares: Sequence[float], scales: Sequence[float]) -> Gain:
    mapping, problem = gains[0].mapping, next((gain.problem for gain in gains if gain.problem), "")
    if any(gain.speedup is None for gain in gains):
        return Gain(mapping, None, None, problem=problem)

    def time_s(of: Callable[[Gain], float | None]) -> float:
        return sum(share * scale * (of(g) or 0.0) for g, share, scale in zip(gains, shares, scales, strict=True))

    def speedup(of: Callable[[Gain], float | None]) -> float:
        return 1 / sum(share / (of(gain) or 1.0) for gain, share in zip(gains, shares, strict=True))

    return Gain(
        mapping,
        time_s(lambda gain: gain.time_s),
        speedup(lambda gain: gain.speedup),
        speedup(lambda gain: gain.lowest),
        min(gain.rounds for gain in gains),
        problem,
        time_s(lambda gain: gain.warm_s),
        time_s(lambda gain: gain.emptied_s),
    )
