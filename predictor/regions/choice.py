"""Choose the mappings under which a region is replayed: the search of whole runs, with the region for the program.

The baseline is replayed before and after every other mapping, since what it takes changes while the program's threads
wait: a gain is over the two replays around it. Where a mapping is clearly worse than the baseline before, there is none
after it. Pure.
"""

import math
import statistics
from collections.abc import Generator, Sequence

import msgspec

from numapredict.collect.capturing.exchange import AskedRegion, Outcome
from numapredict.collect.capturing.replay_time import distance, emptied_share, time_of
from numapredict.collect.capturing.watcher import CapturedRegion
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.topology import Topology
from numapredict.predictor.searching.next_run import next_run
from numapredict.predictor.searching.prior import Prior

CANDIDATES = 5
"""Mappings besides the baseline, at most, under which a region is replayed."""

CONFIRMING = 2
"""Further rounds of the mapping that gained most: of several the best one is often the luckiest."""

FEWEST_REPLAYS = 2
"""The baseline and another mapping."""

CLEARLY_WORSE = 1.25
"""A replay that takes so many times the baseline's before, each time longer than each of these, needs none after it."""

OTHER_CLASS = 2.0
"""A baseline replay that takes so many times what it stands for, or less by so much, is of another kind of instance."""

MANY = 16
"""With so many instances before, one of another kind is not replayed under other mappings, while there are tries."""

LEAST_GAIN = 0.005
"""In log2: mappings that are expected to add less are not replayed, and smaller gains not confirmed."""


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


def replayed(
    asked: AskedRegion,
    prior: Prior,
    baseline: int,
    topology: Topology,
    candidates: int = CANDIDATES,
    others: Sequence[str] = (),
) -> Generator[Placement, Outcome, bool]:
    """Yield the placements of one region's replays, and be sent what came of each; return whether to try another.

    ``others`` are labels of mappings that gained in other regions: they come after the candidates, for the whole
    program may want one mapping. Then the one with the largest gain is replayed again in CONFIRMING rounds, and so the
    next one if it does not gain in all of them. Ends at once where the baseline cannot be replayed. Another instance is
    better where the baseline takes another time than the instances do that this one stands for. Of a further class of
    the region's durations the ``others`` are all: those of the first class, of which the best, the first, is confirmed.
    """
    known = prior.over(baseline)
    placements = [resolve(mapping, topology) for mapping in prior.mappings]
    before = yield placements[baseline]
    emptied = emptied_share([before], asked.mean_s)
    is_other = not is_like(time_of(before, emptied), asked.mean_s)
    unlike = asked.tries_left > 0 and is_other
    if is_other and (asked.before or (unlike and asked.instance >= MANY)):
        return unlike
    columns, gains, closed = [baseline], [0.0], _closed(asked, prior, baseline)

    def round_of(column: int) -> Generator[Placement, Outcome, float]:
        """Replay a mapping and the baseline, and return the gain in log2."""
        nonlocal before
        other = yield placements[column]
        after = before if needs_none_after(before, other) else (yield placements[baseline])
        around_s, before = math.sqrt(time_of(before, emptied) * time_of(after, emptied)), after
        return math.log2(around_s / time_of(other, emptied))

    def tried(column: int) -> Generator[Placement, Outcome, None]:
        gain = yield from round_of(column)
        if math.isnan(gain):
            closed.add(column)
        else:
            columns.append(column)
            gains.append(gain)

    for _ in range(0 if asked.before else candidates):
        following = next_run(known, columns, gains, closed=closed)
        if cannot_be(before) or following is None or following.expected_gain < LEAST_GAIN:
            break
        yield from tried(following.column)
    for column, mapping in enumerate(prior.mappings):
        if mapping.label in others and column not in closed and column not in columns and not cannot_be(before):
            yield from tried(column)
    ranked = sorted(zip(gains, columns, strict=True), reverse=True)
    if asked.before:
        ranked = [(math.inf, column) for column in columns[1:] if prior.mappings[column].label in others[:1]]
    for gain, column in ranked:
        if gain < LEAST_GAIN or cannot_be(before):
            break
        lowest = gain
        for _ in range(CONFIRMING):
            lowest = min(lowest, (yield from round_of(column)))
        if lowest > 0:
            break
    return unlike


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


def _closed(asked: AskedRegion, prior: Prior, baseline: int) -> set[int]:
    """Return the columns that do not compete: of other numbers of threads, where the region sets its own."""
    if asked.team == prior.mappings[baseline].threads:
        return set()
    return {column for column, mapping in enumerate(prior.mappings) if mapping.threads != asked.team}
