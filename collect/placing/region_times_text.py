"""The time of each parallel region in words, and which time no placement shortens."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from numapredict.collect.placing.census import MOST_PROCESSES
from numapredict.collect.placing.joint_regions import JointRegions, in_groups, joint
from numapredict.collect.placing.region_times import RegionTime, RegionTimes
from numapredict.collect.source.region_names import Region, region_names
from numapredict.collect.terminal.printable import counted

WORTH = 0.1
"""The least share of the run that is worth a remark."""

Names = Callable[[Region], str]

_APART = 1.25  # the slowest rank's time over the mean one; above it a remark is due

_ALONE, _UNEVEN = 1.1, 0.75  # about one thread at work; the part of a team below which a remark is due


def left_out_in_words(processes: Sequence[RegionTimes]) -> Iterator[str]:
    """Return a remark where there may be processes of which nothing is kept."""
    if len(processes) >= MOST_PROCESSES:
        yield f"regions: at most {MOST_PROCESSES} processes are kept, in order of the first one; more may have had some"


def regions_in_words(processes: Sequence[RegionTimes]) -> Iterator[str]:
    """Return the time of every parallel region, a line each, by process and the longest first, then remarks."""
    if not processes:
        yield "regions: no OpenMP parallel region began"
    names = region_names(region for times in processes for region in times.regions)
    groups = in_groups(processes)
    if len(groups) > 1:
        forked = sum(times.forked_from is not None for times in processes)
        what = "programs" if len(groups) == len(processes) and not forked else "processes"
        forks = f", {forked} of them forked," if forked else ""
        yield f"regions: {len(processes)} {what}{forks} had parallel regions, in order of the first one"
    for group in groups:
        if len(group) > 1:
            yield from _joint_in_words(joint(group), names)
        else:
            yield from _process_in_words(group[0], names)
            yield from _remarks(group[0], names)
    places = [region.place for times in processes for region in times.regions if region.place is not None]
    yield from (f"regions: {doubt}" for doubt in dict.fromkeys(place.doubt for place in places if place.doubt))


def _process_in_words(found: RegionTimes, names: Names) -> Iterator[str]:
    cut = "" if found.complete else ", until the program was ended"
    child = "" if found.forked_from is None else f": child {found.process}, forked by {found.forked_from}"
    regions = counted(len(found.regions), "parallel region")
    yield f"regions: {found.region_time_s:.6f} s of {found.wall_s:.6f} s in {regions}{cut}{child}"
    yield f"  {'instances':>12} {'total s':>12} {'each us':>12} {'threads':>8} {'at work':>8}  region"
    for region in sorted(found.regions, key=lambda region: -region.time_s):
        unfinished = f": {region.unfinished} had not ended" if region.unfinished else ""
        each_us = region.time_s / region.count * 1e6
        at_work = "?" if region.at_work is None else f"{region.at_work:.1f}"
        yield (
            f"  {region.count:>12} {region.time_s:>12.6f} {each_us:>12.2f} {region.team:>8} {at_work:>8}  "
            f"{_name(region, names)}{unfinished}"
        )


def _joint_in_words(found: JointRegions, names: Names) -> Iterator[str]:
    name, mean = Path(found.program).name, found.mean
    cut = "" if mean.complete else ", until some of them were ended"
    ranks = found.forked_from is None
    of = f"ranks of {name}" if ranks else f"children of {name}, forked by {found.forked_from}"
    yield (
        f"regions: {len(found.numbers)} {of}: {mean.region_time_s:.6f} s of {mean.wall_s:.6f} s in "
        f"{counted(len(found.regions), 'parallel region')} on average, {found.slowest_s:.6f} s in "
        f"{'rank' if ranks else 'child'} {found.slowest_in}{cut}"
    )
    yield (
        f"  {'instances':>12} {'mean s':>12} {'slowest s':>12} {'rank' if ranks else 'child':>8} {'threads':>8} "
        f"{'at work':>8}  region"
    )
    for region in sorted(found.regions, key=lambda region: -region.slowest.time_s):
        at_work = "?" if region.mean.at_work is None else f"{region.mean.at_work:.1f}"
        unfinished = f": {region.mean.unfinished} had not ended" if region.mean.unfinished else ""
        yield (
            f"  {_span(region.counts):>12} {region.mean.time_s:>12.6f} {region.slowest.time_s:>12.6f} "
            f"{region.slowest_in:>8} {_span(region.teams):>8} {at_work:>8}  {_name(region.mean, names)}{unfinished}"
        )
    yield from _remarks(mean, names)
    if ranks and found.slowest_s > _APART * mean.region_time_s and found.slowest_s > WORTH * mean.wall_s:
        yield (
            f"regions: {name}: rank {found.slowest_in} is {found.slowest_s / mean.region_time_s:.1f} times as long in "
            "regions as the mean rank, and others may wait for it: no placement of its own threads makes ranks even"
        )


def _span(least_and_most: tuple[int, int]) -> str:
    least, most = least_and_most
    return f"{most}" if least == most else f"{least}..{most}"


def _name(region: RegionTime, names: Names) -> str:
    """Return a region's function and line as far as they are known, and its module and offset."""
    name, place = names(region), f"{Path(region.module).name}+{region.offset:#x}"
    return name if name.endswith(place) else f"{name} ({place})"


def _remarks(found: RegionTimes, names: Names) -> Iterator[str]:
    """Return what no placement shortens, if it is worth a line: work of one thread, uneven work, serial parts."""
    for region in sorted(found.regions, key=lambda region: -region.time_s):
        share = region.time_s / found.wall_s if found.wall_s > 0 else 0.0
        if share < WORTH:
            continue
        if limit := limit_in_words(region):
            yield f"regions: {_name(region, names)}, {share:.0%} of the run: {limit}"
    if found.forked_from is None and (serial := serial_in_words(found)):  # a child may wait for work
        yield f"regions: {serial}"


def limit_in_words(region: RegionTime) -> str:
    """Return what no placement shortens of a region: work of one thread or uneven work; empty where neither is seen."""
    if region.at_work is None or region.team < 2:
        return ""
    if region.at_work < _ALONE:
        return (
            "one thread does the work, and no placement of the others helps; share it out, as a single construct or a "
            "Fortran workshare does not"
        )
    if region.at_work < _UNEVEN * region.team:
        return (
            f"it waits for the thread with most work; all {region.team} have as much as {region.at_work:.1f} of its "
            "kind; no placement shortens that, another schedule or smaller shares may"
        )
    return ""


def serial_in_words(found: RegionTimes) -> str:
    """Return which part of a run is outside all regions, empty where it is too small for a remark."""
    outside_s = found.wall_s - found.region_time_s
    if not found.regions or found.wall_s <= 0 or outside_s < WORTH * found.wall_s:
        return ""
    return (
        f"{outside_s / found.wall_s:.0%} of the run is outside all regions, where one thread works: more threads do "
        "not shorten it"
    )
