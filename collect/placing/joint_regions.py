"""Region times of like processes together, the ranks of a program or its forked children: how far apart they are."""

from collections.abc import Sequence

import msgspec

from numapredict.collect.placing.region_times import RegionTime, RegionTimes


class JointRegion(msgspec.Struct, frozen=True):
    """One region in several processes, with the least and the most instances and threads that one had.

    ``mean`` has the mean time and threads at work of all; a process without the region took no time for it.
    ``slowest`` is the region in the process ``slowest_in``, by its number.
    """

    counts: tuple[int, int]
    teams: tuple[int, int]
    mean: RegionTime
    slowest: RegionTime
    slowest_in: int


class JointRegions(msgspec.Struct, frozen=True):
    """The regions of several processes of a program; ``mean`` has their mean times and lasts their mean time.

    Processes have the numbers of their ranks, or where they are ``forked_from`` one process, their own.
    """

    program: str
    forked_from: int | None
    numbers: tuple[int, ...]
    regions: tuple[JointRegion, ...]
    mean: RegionTimes
    slowest_s: float
    slowest_in: int


def in_groups(processes: Sequence[RegionTimes]) -> list[tuple[RegionTimes, ...]]:
    """Return the processes in their order, those together that are ranks of a program, or forked by one process."""
    groups: dict[tuple[str, int | None, int], list[RegionTimes]] = {}
    for at, times in enumerate(processes):
        if not times.program or (times.rank is None and times.forked_from is None):
            groups["", None, at] = [times]
            continue
        turn = 0  # of a program that a rank starts again
        while any(_number(other) == _number(times) for other in groups.get(_key(times, turn), [])):
            turn += 1
        groups.setdefault(_key(times, turn), []).append(times)
    return [tuple(sorted(group, key=_number)) for group in groups.values()]


def _key(times: RegionTimes, turn: int) -> tuple[str, int | None, int]:
    return times.program, times.forked_from, turn


def _number(times: RegionTimes) -> int:
    return (times.rank if times.forked_from is None else times.process) or 0


def joint(group: Sequence[RegionTimes]) -> JointRegions:
    """Return the regions of several processes together, in the order of the first one that has each."""
    found: dict[tuple[str, int], dict[int, RegionTime]] = {}
    for times in group:
        for region in times.regions:
            found.setdefault((region.module, region.offset), {})[_number(times)] = region
    regions = tuple(_joint(by_number, len(group)) for by_number in found.values())
    slowest = max(group, key=lambda times: times.region_time_s)
    mean = RegionTimes(
        regions=tuple(region.mean for region in regions),
        wall_s=sum(times.wall_s for times in group) / len(group),
        complete=all(times.complete for times in group),
        forked_from=group[0].forked_from,
    )
    return JointRegions(
        program=group[0].program,
        forked_from=group[0].forked_from,
        numbers=tuple(map(_number, group)),
        regions=regions,
        mean=mean,
        slowest_s=slowest.region_time_s,
        slowest_in=_number(slowest),
    )


def _joint(by_number: dict[int, RegionTime], processes: int) -> JointRegion:
    all_of_it = by_number.values()
    slowest_in = max(by_number, key=lambda number: by_number[number].time_s)
    slowest = by_number[slowest_in]
    at_work = [region.at_work for region in all_of_it if region.at_work is not None]
    counts, teams = [region.count for region in all_of_it], [region.team for region in all_of_it]
    mean = msgspec.structs.replace(
        slowest,
        time_s=sum(region.time_s for region in all_of_it) / processes,
        at_work=sum(at_work) / len(at_work) if at_work else None,
        unfinished=sum(region.unfinished for region in all_of_it),
    )
    fewest = min(counts) if len(by_number) == processes else 0
    return JointRegion((fewest, max(counts)), (min(teams), max(teams)), mean, slowest, slowest_in)
