"""Classes of a region's instances by what a plain run tells of each: callers, teams, how long they take, their work.

A region that is called with much and with little to do, as on the levels of a multigrid, reacts to mappings in more
than one way, and an instance stands only for those like it: ICS'19 (sec. 3) replays an invocation of each cluster, too.
Of each class some instances are named. They have the same numbers in the next run of a program that does the same
again. Pure.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from numapredict.collect.capturing.replay_time import distance
from numapredict.collect.placing.census import Census, CensusRegion, InstanceKind

FACTOR, WORK_FACTOR, INTERRUPTED = 1.5, 1.5, 4.0
"""The longest instances of a class take so many times the shortest ones' time; where their work is known, that counts.

Where barriers take most of the time, it says little of the work, which another mapping's time goes by. Others that use
the computer interrupt instances, which then take longer for the same work.
"""

COVERED = 0.9
"""Of a region's time: classes that together hold so much are replayed."""

LEAST_SHARE, LEAST_INSTANCE_S = 0.01, 5e-6
"""Regions with less of the time of all, and classes of shorter instances, are not: a barrier takes as long."""

MOST_CLASSES = 8
"""Of a region: where it takes more of them, callers are not told apart."""

TRIES = 4
"""Instances of a class, of which the first that can be replayed, and takes as long, stands for it."""

LEAST_OF_CLASS = 0.1
"""Of a class's time: instances about as long as its mean stand for it if they have as much."""

USUAL = 2
"""Instances before the first that is replayed, if there are others: by then memory was touched."""


class InstanceClass(msgspec.Struct, frozen=True):
    """``count`` instances of a region that take ``mean_s`` each, as most do, and ``share`` of its time, 0 to 1.

    ``instances`` are the numbers of those that are replayed, the first one that can be; none where the class is not
    ``wanted``.
    """

    mean_s: float
    count: int
    share: float
    instances: tuple[int, ...]
    wanted: bool = True


class RegionInstances(msgspec.Struct, frozen=True):
    """A region in a plain run, by its key of native/regions/region_file.h; the ``classes`` with most time come first.

    ``count`` instances took ``time_s``, which is ``weight`` of all regions' time.
    """

    key: int
    module: str
    offset: int
    count: int
    time_s: float
    weight: float
    classes: tuple[InstanceClass, ...]

    @property
    def mean_s(self) -> float:
        """Return how long an instance took."""
        return self.time_s / self.count if self.count else 0.0


def regions_of(processes: Iterable[Census]) -> tuple[RegionInstances, ...]:
    """Return the regions of a plain run's processes; of one that several have, as ranks do, that with most time."""
    every = [region for process in processes for region in process.regions]
    whole_s = sum(region.time_s for region in every)
    most: dict[int, CensusRegion] = {}
    weights: dict[int, float] = {}
    for region in every:
        weights[region.key] = weights.get(region.key, 0.0) + (region.time_s / whole_s if whole_s > 0 else 0.0)
        if region.key not in most or most[region.key].time_s < region.time_s:
            most[region.key] = region
    return tuple(
        RegionInstances(
            key,
            region.path or region.module,
            region.offset,
            region.count,
            region.time_s,
            weights[key],
            classes_of(region.kinds, region.time_s, is_worth_it=weights[key] >= LEAST_SHARE),
        )
        for key, region in most.items()
    )


def classes_of(kinds: Sequence[InstanceKind], time_s: float, *, is_worth_it: bool = True) -> tuple[InstanceClass, ...]:
    """Return the classes of a region's instances, which took ``time_s`` together, those with most time first.

    Those are wanted that hold COVERED of its time, if its instances are long enough; none where it is not worth it.
    """
    callers: dict[tuple[int, int], list[InstanceKind]] = {}
    for kind in kinds:
        callers.setdefault((kind.depth, kind.team), []).append(kind)
    found = _by_time(group for own in callers.values() for group in _alike(own))
    if _needed(found, time_s) > MOST_CLASSES:
        found = _by_time(_alike(kinds))
    if _needed(found, time_s) > MOST_CLASSES:
        found = _by_time(_within(FACTOR, kinds, lambda kind: kind.mean_s))
    needed = _needed(found, time_s) if is_worth_it else 0
    return tuple(_class(each, time_s, number < min(needed, MOST_CLASSES)) for number, each in enumerate(found))


def _by_time(groups: Iterable[list[InstanceKind]]) -> list[list[InstanceKind]]:
    return sorted(groups, key=lambda group: -_time_s(group))


def _time_s(group: Sequence[InstanceKind]) -> float:
    return sum(kind.time_s for kind in group)


def _alike(kinds: Sequence[InstanceKind]) -> Iterable[list[InstanceKind]]:
    for group in _within(WORK_FACTOR, kinds, lambda kind: kind.mean_work_s):
        factor = INTERRUPTED if group[0].work_s > 0 else FACTOR
        yield from _within(factor, group, lambda kind: kind.mean_s)


def _within(
    factor: float, kinds: Sequence[InstanceKind], of: Callable[[InstanceKind], float]
) -> Iterable[list[InstanceKind]]:
    """Yield groups of kinds that are within a factor, each time the one with most time of what is left."""
    left = sorted(kinds, key=of)
    while left:
        ends = [sum(of(kind) <= factor * of(first) for kind in left) for first in left]
        start = max(range(len(left)), key=lambda n: _time_s(left[n : ends[n]]))
        yield left[start : ends[start]]
        left = left[:start] + left[ends[start] :]


def _needed(groups: Sequence[Sequence[InstanceKind]], time_s: float) -> int:
    """Return how many of the groups, in their order, hold COVERED of the time; all where they hold less."""
    held_s = 0.0
    for number, group in enumerate(groups):
        held_s += _time_s(group)
        if held_s >= COVERED * time_s:
            return number + 1
    return len(groups)


def _class(group: Sequence[InstanceKind], time_s: float, needed: bool) -> InstanceClass:
    count, own_s = sum(kind.count for kind in group), _time_s(group)
    mean_s = _usual_s(group)
    wanted = needed and mean_s >= LEAST_INSTANCE_S
    return InstanceClass(mean_s, count, own_s / time_s if time_s > 0 else 0.0, _tried(group) if wanted else (), wanted)


def _usual_s(group: Sequence[InstanceKind]) -> float:
    """Return how long instances take of the kinds within FACTOR that most are of: others were interrupted."""
    most = max(_within(FACTOR, group, lambda kind: kind.mean_s), key=lambda kinds: sum(kind.count for kind in kinds))
    return _time_s(most) / sum(kind.count for kind in most)


def _tried(group: Sequence[InstanceKind]) -> tuple[int, ...]:
    """Return instances of a class in their order, late ones if it can be, the first of them about like the mean.

    What a class takes under another mapping is then near what the mean instance does, even where longer ones gain and
    shorter ones lose.
    """
    count = sum(kind.count for kind in group)
    mean_s, work_s = _usual_s(group), sum(kind.work_s for kind in group) / count

    def unlike(kind: InstanceKind) -> float:
        return distance(kind.mean_s, mean_s) + (distance(kind.mean_work_s, work_s) if work_s > 0 else 0.0)

    usual = [kind for kind in group if kind.time_s >= LEAST_OF_CLASS * _time_s(group)] or group
    nearest = sorted(usual, key=unlike)
    late = [[number for number in kind.numbers if number >= USUAL] for kind in nearest]
    chosen = next((own for own in late if own), [max(nearest[0].numbers)])[:TRIES]
    others = [number for own in late for number in own if number > chosen[0] and number not in chosen]
    return tuple(sorted([*chosen, *others[: TRIES - len(chosen)]]))
