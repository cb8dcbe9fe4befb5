"""The actual numbers of threads in a traced program's regions, which may differ from the requested one."""

import numpy as np

from numapredict.collect.modelled.trace import Trace
from numapredict.collect.placing.census import CENSUS_THREADS, Census, CensusRegion
from numapredict.collect.placing.teams import Team, teams_by_time


def traced_teams(census: Census, trace: Trace, asked: int) -> tuple[Team, ...]:
    """Return the teams of a traced program, weighted by native times.

    Threads of nested teams count for the enclosing region. An untraced region is assumed to have the requested threads,
    or those of the census if more.
    """
    segments = trace.segments[trace.segments["region"] != 0]
    threads = {}
    for key in np.unique(segments["region"]):
        mine = segments[segments["region"] == key]
        threads[int(key)] = max(int(mine["team"].max()), len(np.unique(mine["contiguous"])))
    return teams_by_time(
        (threads.get(region.key, _untraced(region, asked)), region.time_s) for region in census.regions
    )


def _untraced(region: CensusRegion, asked: int) -> int:
    return region.team if region.team > CENSUS_THREADS else asked
