"""The parallel regions of an answer's runs: how long each takes, and what no placement shortens."""

from collections.abc import Iterator
from pathlib import PurePath

import msgspec

from numapredict.collect.placing.region_times_text import limit_in_words, serial_in_words
from numapredict.collect.source.region_names import region_names
from numapredict.predictor.advising.advice_text import name_in_words
from numapredict.predictor.advising.region_run import RegionRun

_MOST_THREADS = 4096  # native/placement/process/settings.h

UNKNOWN = -1.0
"""In place of a figure that is not known: the table sorts it below all others."""


class RegionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One region: its function and line, its module and offset, and figures, UNKNOWN where they are not known.

    ``times_s`` are those of the runs, ``share``, 0 to 1, is the first time's of its run. ``limit`` is what no placement
    shortens.
    """

    name: str
    where: str
    instances: int
    times_s: tuple[float, ...]
    share: float
    threads: int
    at_work: float
    limit: str


class RegionsData(msgspec.Struct, frozen=True, kw_only=True):
    """All regions, those that take longest in the first run first; ``runs`` are the headings of their times.

    ``threads_of`` says in which run threads and those at work were seen, ``serial`` which part of that run is outside
    all regions. ``doubts`` say why lines or names are missing.
    """

    rows: tuple[RegionRow, ...]
    runs: tuple[str, ...]
    threads_of: str
    serial: str
    doubts: tuple[str, ...]


def regions_data(runs: tuple[RegionRun, ...]) -> RegionsData | None:
    """Return the regions of runs that are consistent; None where none are known."""
    if not any(run.times.regions for run in runs):
        return None
    told = next((run for run in reversed(runs) if any(each.at_work is not None for each in run.times.regions)), runs[0])
    by_run = [{(each.module, each.offset): each for each in run.times.regions} for run in runs]
    known = by_run[runs.index(told)]
    wall_s = runs[0].times.wall_s
    names = region_names(each for regions in by_run for each in regions.values())
    rows = []
    for key in dict.fromkeys(key for regions in by_run for key in regions):
        seen = next(regions[key] for regions in by_run if key in regions)
        times_s = tuple(regions[key].time_s if key in regions else UNKNOWN for regions in by_run)
        rows.append(
            RegionRow(
                name=names(seen),
                where=f"{PurePath(seen.module).name}+{seen.offset:#x}" if seen.module else seen.name,
                instances=seen.count,
                times_s=times_s,
                share=times_s[0] / wall_s if wall_s > 0 and times_s[0] >= 0 else UNKNOWN,
                threads=known[key].team if key in known else seen.team,
                at_work=_known(known[key].at_work) if key in known else UNKNOWN,
                limit=limit_in_words(known[key]) if key in known else "",
            )
        )
    places = [each.place for run in runs for each in run.times.regions if each.place is not None]
    return RegionsData(
        rows=tuple(sorted(rows, key=lambda row: -row.times_s[0])),
        runs=tuple(name_in_words(run.mapping) for run in runs),
        threads_of=name_in_words(told.mapping),
        serial=serial_in_words(told.times),
        doubts=tuple(dict.fromkeys(place.doubt for place in places if place.doubt)),
    )


def region_problems(runs: tuple[RegionRun, ...]) -> Iterator[tuple[str, str]]:
    """Yield field and problem of region times from a file that cannot have been read."""
    for number, run in enumerate(runs, 1):
        if not 0 <= run.times.wall_s < float("inf"):
            yield f"regions of run {number}, wall_s", f"{run.times.wall_s:g} cannot have been read"
        for region in run.times.regions:
            where = f"regions of run {number}, {region.name}"
            if not 0 <= region.time_s < float("inf"):
                yield f"{where}, time_s", f"{region.time_s:g} cannot have been read"
            if not 1 <= region.team <= _MOST_THREADS:
                yield f"{where}, team", f"{region.team} is not within 1 to {_MOST_THREADS}"
            if region.count < 1 or not 0 <= region.unfinished <= region.count:
                yield f"{where}, count", f"{region.count}, {region.unfinished} of them unfinished, cannot be"
            if region.at_work is not None and not 0 < region.at_work <= region.team:
                yield f"{where}, at_work", f"{region.at_work:g} of {region.team} threads"


def _known(value: float | None) -> float:
    return UNKNOWN if value is None else value
