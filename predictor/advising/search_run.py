"""One run of a search: what is known of it, and what an answer shows."""

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import msgspec

from numapredict.collect.figure import TIME, Figure
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.terminal.estimated_time import seconds_in_words


@dataclass(frozen=True)
class Made:
    """A run that was made of the prior's ``column``, the baseline's being the one most like it.

    ``bound`` is what an ended run gains at most by the clock, in log2; None for any other, and for one that was ended
    before its first parallel region. ``limit_s`` is when it was to be ended. ``computed``: it was the best of its
    number of threads, for which there was a trace.
    """

    measurement: Measurement
    column: int
    bound: float | None = None
    limit_s: float = math.inf
    computed: bool = False


class SearchRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a search, of the baseline first: its time in seconds, of the whole run.

    ``ended``: it was stopped once it had taken as long as the best run; ``time_s`` is when. ``figure`` is its metric,
    None where times are compared. ``speedup`` is over the baseline, by the metric if there is one, None for such a run
    and for one that ``failed``, as ``message`` says, without a time. ``region_time_s`` and ``region_speedup`` are those
    of the parallel regions, None where these are not timed. ``local_share`` is the part of its accesses to memory that
    the thread's own node served, 0 to 1, None where nothing read it. ``computed``: it was the best of its number of
    threads, by the trace of another run.
    """

    mapping: AnyMapping
    outcome: Literal["done", "ended", "failed"]
    time_s: float | None
    figure: float | None = None
    speedup: float | None = None
    region_time_s: float | None = None
    region_speedup: float | None = None
    local_share: float | None = None
    message: str = ""
    computed: bool = False


def numbers_of(runs: Iterable[SearchRun]) -> tuple[str, ...]:
    """Return the title of each: its number, or that it was computed and took no run."""
    number = itertools.count(1)
    return tuple("computed" if run.computed else f"run {next(number)}" for run in runs)


def outcome_in_words(run: SearchRun, figure: Figure = TIME) -> str:
    """Return what came of a run, the figure first that is compared."""
    if run.time_s is None or run.outcome == "failed":
        return f"failed: {run.message}"
    time = seconds_in_words(run.time_s)
    if run.figure is not None:
        return f"{figure.in_words(run.figure)} in {time}, {run.speedup:.2f}x"
    return f"ended after {time}, slower than the best" if run.outcome == "ended" else f"{time}, {run.speedup:.2f}x"
