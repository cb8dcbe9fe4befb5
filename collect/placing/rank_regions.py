"""Region times of the ranks of one program together: how far apart they are, and which is the slowest."""

from collections.abc import Sequence

import msgspec

from numapredict.collect.placing.region_times import RegionTime, RegionTimes


class RankedRegion(msgspec.Struct, frozen=True):
    """One region in all ranks of a program, with the least and the most instances and threads that a rank had.

    ``mean`` has the mean time and threads at work of all ranks; a rank without the region has neither. ``slowest`` is
    the region in rank ``slowest_rank``.
    """

    counts: tuple[int, int]
    teams: tuple[int, int]
    mean: RegionTime
    slowest: RegionTime
    slowest_rank: int


class RankedRegions(msgspec.Struct, frozen=True):
    """The regions of the ranks of one program; ``mean`` has their mean times, of a rank that lasts ``wall_s``."""

    program: str
    ranks: tuple[int, ...]
    regions: tuple[RankedRegion, ...]
    mean: RegionTimes
    slowest_s: float
    slowest_rank: int


def in_groups(processes: Sequence[RegionTimes]) -> list[tuple[RegionTimes, ...]]:
    """Return the processes in their order, those together that are different ranks of one program."""
    groups: dict[tuple[str, int], list[RegionTimes]] = {}
    for number, times in enumerate(processes):
        if times.rank is None or times.forked_from is not None or not times.program:
            groups["", number] = [times]
            continue
        turn = 0  # of a program that a rank starts again
        while any(other.rank == times.rank for other in groups.get((times.program, turn), [])):
            turn += 1
        groups.setdefault((times.program, turn), []).append(times)
    return [tuple(sorted(group, key=lambda times: times.rank or 0)) for group in groups.values()]


def ranked(group: Sequence[RegionTimes]) -> RankedRegions:
    """Return the regions of several ranks of a program, in the order of the first rank that has each."""
    found: dict[tuple[str, int], dict[int, RegionTime]] = {}
    for times in group:
        for region in times.regions:
            found.setdefault((region.module, region.offset), {})[times.rank or 0] = region
    regions = tuple(_ranked(of_rank, len(group)) for of_rank in found.values())
    slowest = max(group, key=lambda times: times.region_time_s)
    mean = RegionTimes(
        regions=tuple(region.mean for region in regions),
        wall_s=sum(times.wall_s for times in group) / len(group),
        complete=all(times.complete for times in group),
    )
    ranks = tuple(times.rank or 0 for times in group)
    return RankedRegions(group[0].program, ranks, regions, mean, slowest.region_time_s, slowest.rank or 0)


def _ranked(of_rank: dict[int, RegionTime], ranks: int) -> RankedRegion:
    all_of_it = of_rank.values()
    slowest_rank = max(of_rank, key=lambda rank: of_rank[rank].time_s)
    slowest = of_rank[slowest_rank]
    at_work = [region.at_work for region in all_of_it if region.at_work is not None]
    counts, teams = [region.count for region in all_of_it], [region.team for region in all_of_it]
    mean = msgspec.structs.replace(
        slowest,
        time_s=sum(region.time_s for region in all_of_it) / ranks,
        at_work=sum(at_work) / len(at_work) if at_work else None,
        unfinished=sum(region.unfinished for region in all_of_it),
    )
    fewest = min(counts) if len(of_rank) == ranks else 0
    return RankedRegion((fewest, max(counts)), (min(teams), max(teams)), mean, slowest, slowest_rank)
