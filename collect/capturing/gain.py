"""What a mapping gives a region, by replays under it and under the baseline in turn. Pure."""

import math
import statistics
from collections.abc import Sequence

import msgspec

from numapredict.collect.capturing.exchange import Outcome
from numapredict.collect.capturing.replay_time import distance, time_of

CONFIRMING = 2
"""Further rounds of the mapping that gained most: of several the best one is often the luckiest."""

CLEARLY_WORSE = 1.25
"""A replay that takes so many times the baseline's before, each time longer than each of these, needs none after it."""

OTHER_CLASS = 2.0
"""A baseline replay that takes so many times what it stands for, or less by so much, is of another kind of instance."""


class Gain(msgspec.Struct, frozen=True):
    """What a mapping, by its label, gives a region over the baseline.

    ``time_s`` is the median of its replays, with the share of the caches emptied that the region's instances find so;
    ``warm_s`` and ``emptied_s`` are the bounds, with none and all. ``speedup`` is the median, over the ``rounds`` in
    which it was replayed, of the speedup over the baseline's replays around it, and ``lowest`` the lowest of these. All
    are None where it was not replayed, as ``problem`` says.
    """

    mapping: str
    time_s: float | None
    speedup: float | None
    lowest: float | None = None
    rounds: int = 0
    problem: str = ""
    warm_s: float | None = None
    emptied_s: float | None = None

    @property
    def is_sure(self) -> bool:
        """Return whether it gained in every round, and in as many as a winner has to."""
        return self.rounds > CONFIRMING and self.lowest is not None and self.lowest > 1

    @property
    def believed(self) -> float:
        """Return the speedup that is counted on: a gain that did not come in every round is none."""
        speedup = self.speedup or 1.0
        return speedup if speedup <= 1 or self.is_sure else 1.0


def is_like(one_s: float, other_s: float) -> bool:
    """Return whether two times may be those of instances of one class of durations; False where one is not a number."""
    return distance(one_s, other_s) <= math.log2(OTHER_CLASS)


def cannot_be(outcome: Outcome) -> bool:
    """Return whether a mapping could not be replayed."""
    return math.isnan(time_of(outcome))


def needs_none_after(before: Outcome, other: Outcome) -> bool:
    """Return whether a mapping could not be replayed, or is clearly worse than the baseline before it.

    It is where all replays took longer, by far, with caches as they were and after emptying them, and the first one.
    """
    if cannot_be(other) or cannot_be(before):
        return cannot_be(other)
    states = [(before.times_s, other.times_s)]
    if before.emptied_s and other.emptied_s:
        states.append((before.emptied_s, other.emptied_s))
    return other.first_s >= before.first_s and all(
        min(its) > max(base) and statistics.median(its) > CLEARLY_WORSE * statistics.median(base)
        for base, its in states
    )


def gains_of(replays: Sequence[tuple[str, Outcome]], emptied: float = 0.0) -> tuple[Gain, ...]:
    """Return what each mapping gives, of replays in the order of ``replayed``.

    A round ends with the baseline, or with a mapping that needs none after it; one that was cut off does not count.

    ``emptied`` is the share of the caches that other regions empty between the region's instances.
    """
    if not replays:
        return ()
    (baseline, first), *others = replays
    base_s = [time_of(outcome, emptied) for mapping, outcome in replays if mapping == baseline]
    known_s = [each for each in base_s if not math.isnan(each)]
    if not known_s:
        return (Gain(baseline, None, None, problem=first.problem),)
    times: dict[str, list[float]] = {}
    ratios: dict[str, list[float]] = {}
    problems: dict[str, str] = {}
    before = first
    for at, (mapping, other) in enumerate(others):
        if mapping == baseline:
            before = other
            continue
        after = others[at + 1][1] if others[at + 1 : at + 2] and others[at + 1][0] == baseline else before
        if after is before and not needs_none_after(before, other):
            continue
        other_s, around_s = time_of(other, emptied), math.sqrt(time_of(before, emptied) * time_of(after, emptied))
        times.setdefault(mapping, []).append(other_s)
        ratios.setdefault(mapping, []).append(around_s / other_s)
        problems.setdefault(mapping, other.problem or after.problem)

    def bounded(gain: Gain) -> Gain:
        own = [one for label, one in replays if label == gain.mapping and one.times_s and not one.problem]
        warm_s, emptied_s = (statistics.median(time_of(one, share) for one in own) for share in (0.0, 1.0))
        return msgspec.structs.replace(gain, warm_s=warm_s, emptied_s=emptied_s)

    found = [bounded(Gain(baseline, statistics.median(known_s), 1.0, 1.0, len(known_s)))]
    for mapping, each in ratios.items():
        if any(math.isnan(ratio) for ratio in each):
            found.append(Gain(mapping, None, None, problem=problems[mapping] or "it could not be replayed again"))
        else:
            median_s = statistics.median(times[mapping])
            found.append(bounded(Gain(mapping, median_s, statistics.median(each), min(each), len(each))))
    return tuple(found)
