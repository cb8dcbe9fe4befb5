"""What a program did in its window: the parallel regions that all its processes had completed by a time."""

import time
from pathlib import Path

import msgspec

from numapredict.collect.figure import STEP, VALUE
from numapredict.collect.placing.census import MOST_PROCESSES, census_so_far
from numapredict.collect.placing.preload import processes_files

Readings = tuple[tuple[str, float], ...]


class Completed(msgspec.Struct, frozen=True):
    """The regions of so many ``processes``: those ``completed``, of all, and ``steps``, of the one that took longest.

    ``region_time_s`` is the time in all, those in progress included.
    """

    processes: int = 0
    completed: int = 0
    steps: int = 0
    region_time_s: float = 0.0


def completed_now(report: Path) -> Completed:
    """Return what the processes of a run that write region files have done by now."""
    now_ns, files = time.monotonic_ns(), list(processes_files(report))
    found = [census for file in files if (census := census_so_far(file, now_ns)) is not None]
    spent: dict[int, tuple[float, int]] = {}
    for region in (region for census in found for region in census.regions):
        time_s, count = spent.get(region.key, (0.0, 0))
        spent[region.key] = time_s + region.time_s, count + region.count - region.unfinished
    return Completed(
        processes=len(files),
        completed=sum(count for _, count in spent.values()),
        steps=max(spent.values(), default=(0.0, 0))[1],
        region_time_s=sum(time_s for time_s, _ in spent.values()),
    )


def rate_of(done: Completed, time_s: float, window_s: float, *, early: bool) -> tuple[Readings, str]:
    """Return the readings of regions a second and their step, or none and in words why there are none.

    ``early``: the program ended before its window did.
    The last step may be nearly complete or just begun: two rates of so many steps can differ by one for nothing.
    """
    if done.processes >= MOST_PROCESSES:
        return (), (
            f"{MOST_PROCESSES} of its processes or more have parallel regions, and no more are counted; name a number "
            "that it prints by --metric"
        )
    if not done.steps and early:
        return (), (
            f"it ended after {time_s:.3g} s, before its window, and completed no parallel region: keep it in the "
            "foreground (no daemon), or name a number that it prints by --metric"
        )
    if not done.steps:
        return (), (
            f"it completed no parallel region in {min(time_s, window_s):.3g} s; name a number that it prints by "
            "--metric, or a longer window by --seconds"
        )
    rate = done.completed / time_s
    return ((VALUE, rate), (STEP, rate / done.steps)), ""
