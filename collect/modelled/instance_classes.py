"""Classes of a region's instances by their work, for regions that work on data of different sizes.

One function, and so one region, may smooth all grids of a multigrid solver. The first instances then do not represent
the later ones. The native run lists the work of a region's first instances; this file splits them where the mean work
on both sides differs most clearly and by a factor, and where the split explains a part of the region's time.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numapredict.collect.placing.census import Census, CensusRegion

# A busy computer makes equal instances differ by less than this factor in the mean of their longer and shorter half.
_LEAST_FACTOR = 2.5
# A split must explain so much of the region's time: instances are then that much nearer to the mean of their class.
_LEAST_GAIN = 0.05
# Fewer instances than this number and share were disturbed, for example by page faults, and make no class.
_LEAST_MEMBERS, _LEAST_SHARE = 3, 0.02
# Regions with less of the native region time are not worth longer traces.
_LEAST_TIME = 0.01
# Measured: tracing takes 200 to 300 times the native processor time.
_SLOWDOWN = 300.0
# The most that instances of classes take of a trace's time; and those that are traced because they are short, so many
# times the usual number.
_MOST_TIME, _MOST_TIME_OF_REPEATS = 0.5, 0.1
_REPEATS = 8

# Less of the work than this part does not tell how long the rest takes.
_LEAST_SEEN = 0.05

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class InstanceClasses:
    """The classes of a region's instances: 0 is the first instance alone, the others follow by growing work.

    ``of``: the class of each listed instance, in their order. ``count`` and ``work_s``, by class: how many instances
    the whole run has, and their native work together.
    """

    of: tuple[int, ...]
    count: tuple[float, ...]
    work_s: tuple[float, ...]

    def first_instances(self, each: int) -> int:
        """Return how many first instances have so many of every class, or all that are listed of it."""
        return max(int(np.flatnonzero(np.array(self.of) == n)[:each][-1]) + 1 for n in range(len(self.count)))

    def parts(self, traced: Ints) -> Ints:
        """Return the part of each of the traced instances, ascending: two a class, 2 n - 1 and 2 n of class n.

        The caches of the first ones are cold: the first half of a class, in part 2 n - 1, represents only itself.
        """
        mine = np.array(self.of)[traced]
        part = 2 * mine
        for n in range(1, len(self.count)):
            members = np.flatnonzero(mine == n)
            part[members[: len(members) // 2]] -= 1
        return part

    def stands_for(self, traced: Ints, *, serial: bool = False) -> Floats:
        """Return for how many instances each of the traced ones of a part stands, by part.

        Classes of which none was traced are filled in by the others: by native work, or by their number where the
        ``serial`` stretches after the instances are meant, or what was traced is next to nothing of the work.
        """
        members = np.bincount(self.parts(traced), minlength=2 * len(self.count) - 1)
        early, late = members[1::2], members[2::2]
        seen = np.array([members[0], *(early + late)]) > 0
        size = np.array(self.count if serial else self.work_s)
        each = np.ones(len(members))
        each[2::2] = (np.array(self.count[1:]) - early) / np.maximum(late, 1)
        if size[seen].sum() < _LEAST_SEEN * size.sum():
            size = np.array(self.count)
        filled: Floats = each * size.sum() / size[seen].sum()
        return filled

    def share_of(self, traced: Ints) -> float:
        """Return the share, 0 to 1, of the region's native work in classes of which an instance was traced."""
        seen = np.unique(np.array(self.of)[traced])
        return 1.0 if len(seen) == len(self.count) else float(np.array(self.work_s)[seen].sum() / sum(self.work_s))


def instances_to_trace(census: Census, each: int, trace_s: float) -> dict[int, int]:
    """Return how many first instances of each region, by key, a trace should follow: ``each`` of every class, or more.

    A region with classes gets a part of ``trace_s`` by its share of the native region time, and uses some of it for
    ``each`` of them. Short instances often repeat on the same data: where they cost less, more are traced.
    """
    found = {region.key: min(region.count, each) for region in census.regions}
    regions = {region.key: region for region in census.regions}
    for key, classes in classes_of_regions(census).items():
        cost_s = np.cumsum(regions[key].work_s) * _SLOWDOWN
        share_s = trace_s * regions[key].time_s / census.region_time_s
        for members, part in ((each, _MOST_TIME), (each * _REPEATS, _MOST_TIME_OF_REPEATS)):
            affordable = int(np.searchsorted(cost_s, part * share_s))
            found[key] = max(found[key], min(classes.first_instances(members), affordable))
    return found


def classes_of_regions(census: Census) -> dict[int, InstanceClasses]:
    """Return the classes of the regions, by key, whose instances after the first are of more than one class."""
    least_s = _LEAST_TIME * census.region_time_s
    found = ((region.key, instance_classes(region)) for region in census.regions if region.time_s >= least_s)
    return {key: classes for key, classes in found if classes}


def instance_classes(region: CensusRegion) -> InstanceClasses | None:
    """Return the classes of a region's instances, or None where all after the first are alike."""
    work = np.array(region.work_s)
    later = work[1:]
    least = max(_LEAST_MEMBERS, int(np.ceil(_LEAST_SHARE * len(later))))
    if len(later) < 2 * least:
        return None
    ascending = np.sort(later)
    bounded = np.minimum(ascending, ascending[-least])
    starts = _starts(bounded, least, float(bounded.sum()))
    if len(starts) < 2:
        return None
    of = np.concatenate([[0], 1 + np.searchsorted(ascending[starts[1:]], later, "right")])
    # What the run did after the listed instances is shared out among the classes.
    scale = np.array([1.0, *[(region.count - 1) / len(later)] * len(starts)])
    return InstanceClasses(
        of=tuple(of.tolist()),
        count=tuple((np.bincount(of) * scale).tolist()),
        work_s=tuple((np.bincount(of, weights=work) * scale).tolist()),
    )


def _starts(work: Floats, least: int, whole_s: float) -> list[int]:
    """Return where the classes of ascending work begin, each of at least so many; ``whole_s``: the region's work."""
    at = _split(work, least)
    if at is None or _off(work) - _off(work[:at]) - _off(work[at:]) < _LEAST_GAIN * whole_s:
        return [0]
    return _starts(work[:at], least, whole_s) + [at + start for start in _starts(work[at:], least, whole_s)]


def _split(work: Floats, least: int) -> int | None:
    """Return where ascending work is best split in two, None where both parts would be alike.

    The variance of the logarithm within the parts is least there, each instance weighted by its work.
    """
    at = np.arange(least, len(work) - least + 1)
    at = at[work[at - 1] < work[at]]
    if not len(at) or work[0] <= 0:
        return None
    sums = np.cumsum([work, work * np.log(work)], axis=1)
    low, high = sums[:, at - 1], sums[:, -1:] - sums[:, at - 1]
    best = int(np.argmax(low[1] ** 2 / low[0] + high[1] ** 2 / high[0]))
    start = int(at[best])
    return start if work[start:].mean() >= _LEAST_FACTOR * work[:start].mean() else None


def _off(work: Floats) -> float:
    """Return how far instances are from their mean, together."""
    return float(np.abs(work - work.mean()).sum()) if len(work) else 0.0
