"""Instances of a region that take about as long, what they gain, and what the region gains by all of them.

A region that is called with much and with little to do, as on the levels of a multigrid, reacts to mappings in more
than one way: an instance of each class of durations is replayed, and counts by the time of its class. Pure.
"""

import math
from collections.abc import Callable, Sequence

import msgspec

from numapredict.collect.capturing.exchange import AskedRegion, Outcome
from numapredict.collect.capturing.gain import Gain, gains_of, is_like
from numapredict.collect.capturing.replay_time import distance, emptied_share, time_of
from numapredict.collect.capturing.watcher import CapturedRegion

FEWEST_REPLAYS = 2
"""The baseline and another mapping."""


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


def classes_of(tried: Sequence[CapturedRegion]) -> tuple[DurationClass, ...]:
    """Return what the replays say of each class of durations, of all instances of a region that were tried."""
    captured, found = of_each_class(tried), []
    known = means_and_shares([_baseline_s(one) for one in captured], captured[-1].asked) if captured else ()
    for one, (mean_s, share) in zip(captured, known, strict=True):
        replays = _outcomes(one)
        emptied = _emptied(replays, mean_s)
        parts = min(emptied, 1.0), max(emptied - 1.0, 0.0)
        found.append(DurationClass(mean_s, share, one.asked.instance, gains_of(replays, emptied), *parts))
    return tuple(found)


def of_most_use(tried: Sequence[CapturedRegion]) -> CapturedRegion | None:
    """Return, of the instances of a region that were tried, the one most like those it stands for; None of none.

    One that was replayed under the baseline alone, and passed over, comes after all others: it has no gains.
    """

    def unlike(one: CapturedRegion) -> tuple[bool, float]:
        mean_s = tried[-1].asked.mean_s
        base = [one.replays[0].outcome] if one.replays else []
        baseline_s = time_of(base[0], emptied_share(base, mean_s)) if base else math.nan
        return len(one.replays) < FEWEST_REPLAYS, distance(baseline_s, mean_s)

    return min(tried, key=unlike, default=None)


def of_each_class(tried: Sequence[CapturedRegion]) -> tuple[CapturedRegion, ...]:
    """Return the instance of most use of each class of durations that was replayed.

    A further one counts only if its replays take another time than those before: the instances that it was to stand for
    were interrupted, else.
    """
    by_class: dict[int, list[CapturedRegion]] = {}
    for one in tried:
        by_class.setdefault(one.asked.before, []).append(one)
    found: list[CapturedRegion] = []
    for own in by_class.values():
        best = of_most_use(own)
        if best is None or not best.replays:
            continue
        new = len(best.replays) >= FEWEST_REPLAYS and not any(
            is_like(_baseline_s(best), _baseline_s(one)) for one in found
        )
        if new or not found:
            found.append(best)
    return tuple(found)


def _baseline_s(captured: CapturedRegion) -> float:
    """Return what the replays under the baseline take, not a number where there are none."""
    replays = _outcomes(captured)
    return gains_of(replays, _emptied(replays, captured.asked.mean_s))[0].time_s or math.nan


def _outcomes(captured: CapturedRegion) -> tuple[tuple[str, Outcome], ...]:
    return tuple((one.mapping, one.outcome) for one in captured.replays)


def _emptied(replays: Sequence[tuple[str, Outcome]], instance_s: float) -> float:
    return emptied_share([outcome for mapping, outcome in replays if mapping == replays[0][0]], instance_s)
