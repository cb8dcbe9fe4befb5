"""Teams: the actual numbers of threads in a program's regions, which may differ from the requested one."""

import os
from collections.abc import Iterable, Mapping

import msgspec

from numapredict.collect.measurement import Measurement
from numapredict.collect.placing.census import CensusRegion

PROVENANCE = "teams"
"""The name of a measurement's note with its teams, as ``8:0.930 32:0.070``: threads and share of the region time."""

_NESTED = ("OMP_NESTED", "OMP_MAX_ACTIVE_LEVELS")


class Team(msgspec.Struct, frozen=True):
    """The regions of so many threads, with their share, 0 to 1, of the time of all regions."""

    threads: int
    share: float


def timed_teams(regions: Iterable[CensusRegion], environment: Mapping[str, str]) -> tuple[Team, ...]:
    """Return the teams of a run by its report; none with nested teams, which a report does not show."""
    if any(environment.get(name) for name in _NESTED) or "," in environment.get("OMP_NUM_THREADS", ""):
        return ()
    return teams_by_time((region.team, region.time_s) for region in regions)


def teams_by_time(times: Iterable[tuple[int, float]]) -> tuple[Team, ...]:
    """Return the teams of pairs (threads, seconds), the one that took longest first."""
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
    """Return the number of processors in a program's affinity mask on this computer."""
    return len(os.sched_getaffinity(0))
