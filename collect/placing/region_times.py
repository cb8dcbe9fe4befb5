"""Region times: what the region clock counted in one run, with the names of the regions' functions."""

import os
import time
from pathlib import Path

import msgspec

from numapredict.collect.host.bounded_file import read_bounded
from numapredict.collect.measurement import Measurement
from numapredict.collect.placing.census import MOST_BYTES, CensusRegion, parse_census, stopped
from numapredict.collect.placing.preload import processes_files
from numapredict.collect.placing.symbols import function_at, load_address, uses_tasks
from numapredict.collect.source.demangling import demangled
from numapredict.collect.source.modules import Modules
from numapredict.collect.source.place import Place

PROVENANCE, MOST_NOTED = "region_times", 200
"""The name of a measurement's note with its region times, as JSON, and the most regions that it has one by one."""


class RegionTime(msgspec.Struct, frozen=True):
    """One outermost parallel region: ``count`` instances that took ``time_s`` together, with ``team`` threads.

    ``name`` is that of its outlined function, whole and as people write it, or module and offset where the module has
    no symbols. The last ``unfinished`` instances had not ended when the run did. ``at_work`` is
    how many threads' work the region has, if each had as much as the one with most: over its first instances, the
    processor time of all threads, less what they spent waiting at barriers, over that of the thread with most. None
    where it was not asked for or cannot be told, as of programs with tasks, which threads work on while they wait.
    ``place`` is the region's place in the source, if that was asked for.
    """

    name: str
    module: str
    offset: int
    count: int
    time_s: float
    team: int
    unfinished: int = 0
    at_work: float | None = None
    place: Place | None = None


class RegionTimes(msgspec.Struct, frozen=True):
    """The outermost parallel regions of one run, in the order in which they first began.

    ``wall_s`` is the run's time until its end or until it was stopped; ``complete`` says which of the two.
    ``process`` is its number, None where it was not kept. A forked child's run begins at the fork; ``forked_from`` is
    the number of its parent, None for a process that began as a program. ``program`` is its path, empty where it is
    not known; ``rank`` is its number in a parallel job, None where it is of none.
    """

    regions: tuple[RegionTime, ...]
    wall_s: float
    complete: bool
    process: int | None = None
    forked_from: int | None = None
    program: str = ""
    rank: int | None = None

    @property
    def region_time_s(self) -> float:
        """Return the time in parallel regions: more than the wall time where threads run regions side by side."""
        return sum(region.time_s for region in self.regions)


def read_region_times(path: Path) -> RegionTimes | None:
    """Return what a region file holds, or None when there is none or no region had begun by then.

    To be called when the process has ended: regions running when it was killed count until now.
    """
    try:
        data = read_bounded(path, MOST_BYTES)
    except OSError:
        return None
    census = parse_census(data)
    if census is not None and any(region.unfinished for region in census.regions):
        census = parse_census(stopped(data, time.monotonic_ns()))
    if census is None:
        return None
    return RegionTimes(
        tuple(map(_named, census.regions)),
        census.time_s,
        census.complete,
        census.process,
        census.forked_from or None,
        census.program,
        census.rank if census.ranks else None,
    )


def region_times_of_processes(path: Path) -> tuple[RegionTimes, ...]:
    """Return what the region files of a run's processes hold, of those that had regions."""
    return tuple(times for times in map(read_region_times, processes_files(path)) if times is not None)


def region_times_note(times: RegionTimes | None) -> tuple[tuple[str, str], ...]:
    """Return the note of a measurement's region times, none where none are known; the shortest of many are one."""
    if times is None:
        return ()
    longest = sorted(times.regions, key=lambda region: -region.time_s)
    noted, rest = [_spelt(region) for region in longest[:MOST_NOTED]], longest[MOST_NOTED:]
    if rest:
        instances, time_s = sum(region.count for region in rest), sum(region.time_s for region in rest)
        noted.append(
            RegionTime(f"{len(rest)} shorter regions", "", 0, instances, time_s, max(each.team for each in rest))
        )
    note = {"regions": noted, "wall_s": times.wall_s, "complete": times.complete}
    return ((PROVENANCE, msgspec.json.encode(note).decode()),)


def region_times_of(measurement: Measurement) -> RegionTimes | None:
    """Return the region times that a measurement has a note of, without places; None where it has none or another's."""
    try:
        return msgspec.json.decode(dict(measurement.provenance).get(PROVENANCE, ""), type=RegionTimes)
    except msgspec.MsgspecError:
        return None


def _spelt(region: RegionTime) -> RegionTime:
    """Return a region with names fit for JSON: a byte that is no character becomes its code."""
    name, module = (os.fsencode(text).decode(errors="backslashreplace") for text in (region.name, region.module))
    return msgspec.structs.replace(region, name=name, module=module)


def _named(region: CensusRegion) -> RegionTime:
    function, module = function_at(region.path, region.offset), region.path or region.module
    name = region.name if function is None else demangled(function)
    return RegionTime(
        name,
        module,
        region.offset,
        region.count,
        region.time_s,
        region.team,
        region.unfinished,
        _at_work(region),
    )


def _at_work(region: CensusRegion) -> float | None:
    longest_s = sum(region.longest_s)
    if longest_s <= 0 or uses_tasks(region.path):
        return None
    return min(sum(region.work_s) / longest_s, float(region.team))


def without_work(times: RegionTimes) -> RegionTimes:
    """Return the regions without the threads at work, of a run whose list of that says too much."""
    regions = tuple(msgspec.structs.replace(region, at_work=None) for region in times.regions)
    return msgspec.structs.replace(times, regions=regions)


def with_places(times: RegionTimes, modules: Modules) -> RegionTimes:
    """Return the regions with their places in the source, as far as debug information tells."""
    return msgspec.structs.replace(
        times,
        regions=tuple(
            msgspec.structs.replace(
                region, place=modules.place(region.module, load_address(region.module) + region.offset)
            )
            if region.module
            else region
            for region in times.regions
        ),
    )
