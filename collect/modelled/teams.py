"""Teams: how many threads a program's regions truly had, whatever number was asked for."""

import os
from collections.abc import Iterable, Mapping

import msgspec
import numpy as np

from numapredict.collect.measurement import Measurement
from numapredict.collect.modelled.trace import Trace
from numapredict.collect.placing.census import CENSUS_THREADS, Census, Region

PROVENANCE = "teams"
"""The name of a measurement's note with its teams, as ``8:0.930 32:0.070``: threads and share of the region time."""

_NESTED = ("OMP_NESTED", "OMP_MAX_ACTIVE_LEVELS")


class Team(msgspec.Struct, frozen=True):
    """The regions of so many threads, with their share, 0 to 1, of the time of all regions."""

    threads: int
    share: float


def traced_teams(census: Census, trace: Trace, asked: int) -> tuple[Team, ...]:
    """Return the teams of a traced program, weighed by native times.

    Threads of nested teams count for the region around them. A region that was not traced had the threads asked for,
    unless it had more than that in the census.
    """
    segments = trace.segments[trace.segments["region"] != 0]
    threads = {}
    for key in np.unique(segments["region"]):
        mine = segments[segments["region"] == key]
        threads[int(key)] = max(int(mine["team"].max()), len(np.unique(mine["contiguous"])))
    return _teams((threads.get(region.key, _untraced(region, asked)), region.time_s) for region in census.regions)


def _untraced(region: Region, asked: int) -> int:
    return region.team if region.team > CENSUS_THREADS else asked


def timed_teams(regions: Iterable[Region], environment: Mapping[str, str]) -> tuple[Team, ...]:
    """Return the teams of a run by its report; none where nested teams are asked for, which a report does not tell."""
    if any(environment.get(name) for name in _NESTED) or "," in environment.get("OMP_NUM_THREADS", ""):
        return ()
    return _teams((region.team, region.time_s) for region in regions)


def _teams(times: Iterable[tuple[int, float]]) -> tuple[Team, ...]:
    """Return teams of (threads, seconds), the longest first."""
    by_threads: dict[int, float] = {}
    for threads, time_s in times:
        by_threads[threads] = by_threads.get(threads, 0.0) + time_s
    whole = sum(by_threads.values())
    if whole <= 0:
        return ()
    return tuple(Team(n, by_threads[n] / whole) for n in sorted(by_threads, key=lambda n: (-by_threads[n], n)))


def teams_note(teams: tuple[Team, ...]) -> tuple[tuple[str, str], ...]:
    """Return the note of a measurement's teams, none where none are known."""
    text = " ".join(f"{team.threads}:{team.share:.3f}" for team in teams)
    return ((PROVENANCE, text),) if text else ()


def teams_of(measurement: Measurement) -> tuple[Team, ...]:
    """Return the teams of a measurement, the one with the largest share of the time first."""
    pairs = (text.split(":") for text in dict(measurement.provenance).get(PROVENANCE, "").split())
    return tuple(Team(int(threads), float(share)) for threads, share in pairs)


def processors_here() -> int:
    """Return how many processors a program that asks finds in its affinity mask on this computer."""
    return len(os.sched_getaffinity(0))
