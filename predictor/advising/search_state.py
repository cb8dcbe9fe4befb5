"""The state of a search: its runs so far, what they gain, and what a further one should add."""

import logging
import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from numapredict.collect.figure import TIME, Figure
from numapredict.collect.mapping import Mapping, order_of
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring.quiet import SHORT_S
from numapredict.collect.measuring.repetitions import others_noted
from numapredict.collect.measuring.run_limit import RunLimit, region_time_when_ended
from numapredict.collect.modelled.seen_regions import in_common
from numapredict.collect.placing.teams import Team, teams_of
from numapredict.predictor.advising.confirmation import CONFIRMING_ROUNDS, FURTHER_ROUNDS, LEAST_ADVISED
from numapredict.predictor.advising.own_threads import own_in_words, own_team
from numapredict.predictor.advising.search_run import Made, SearchRun
from numapredict.predictor.advising.worth import Worth
from numapredict.predictor.learning.features import time_by
from numapredict.predictor.learning.options import Clock
from numapredict.predictor.searching.expected_run import ExpectedRun, expected_run
from numapredict.predictor.searching.known_gains import KnownGains
from numapredict.predictor.searching.next_run import NextRun, next_run, weights_after
from numapredict.predictor.searching.prior import Prior

AS_FAST = 1.02
"""Mappings whose computed times differ by less than this factor count as equally fast: two traces differ by as much."""

_START_S = 0.1  # what starting a run may take in addition, before it is ended

log = logging.getLogger(__name__)


@dataclass
class Search:
    """The state of a search: the runs so far, the first of them the baseline's.

    Runs are ranked by the ``figure`` of the whole run. By the ``clock``, that of the parallel regions where they are
    timed, the program is compared with known ones; by the figure, where that is not the time.
    ``closed``: columns of mappings beyond the limits; ``refused``: of those that the machine cannot apply to it.
    ``own``: the number of threads that the program sets itself; ``threads_text`` says what follows from it. ``kept``:
    so many runs are of earlier commands. ``busy``: what others took of the computer before. ``computed``: what was
    computed from traces, by column, beside the runs. ``only``: the column that alone may be advised, None for all.
    """

    prior: Prior
    known: KnownGains
    made: list[Made]
    clock: Clock
    closed: set[int] = field(default_factory=set)
    refused: set[int] = field(default_factory=set)
    own: Team | None = None
    threads_text: str = ""
    kept: int = 0
    busy: str = ""
    computed: dict[int, Measurement] = field(default_factory=dict)
    only: int | None = None
    short_s: float = SHORT_S
    figure: Figure = TIME

    @property
    def runs(self) -> int:
        """Return how many runs were made, without what was computed from their traces."""
        return sum(not made.computed for made in self.made)

    @property
    def short(self) -> bool:
        """Return whether the program's run is too short to show what others use of the computer."""
        return self.made[0].measurement.time_s < self.short_s

    def disturbed(self) -> str:
        """Return in words what others took of the computer while the runs were made, empty for nothing."""
        seen = [others_noted(made.measurement) for made in self.made[self.kept :]]
        return next(filter(None, [*seen, self.busy if self.short else ""]), "")

    def gains(self) -> list[float]:
        """Return the gain of each run over the baseline in log2, by the clock; NaN for one that failed or was ended."""
        return self._gains([self._clocked_s(measurement) for measurement in self.compared()])

    def whole_gains(self) -> list[float]:
        """Return the same of the whole run, by the figure."""
        return self._gains([self.figure.cost(measurement) for measurement in self.compared()])

    def compared(self) -> tuple[Measurement, ...]:
        """Return the measurements of runs that ended by themselves, over the regions that all of them saw."""
        return in_common(tuple(self.made[n].measurement for n in self._ok()))

    def records(self) -> tuple[SearchRun, ...]:
        """Return the runs as an answer has them, in order."""
        measured = dict(zip(self._ok(), self.compared(), strict=True))
        gains = zip(self.whole_gains(), self.gains(), strict=True)
        return tuple(
            self._record(made, measured.get(n), *of) for n, (made, of) in enumerate(zip(self.made, gains, strict=True))
        )

    def speedups(self) -> dict[Mapping, float]:
        """Return the speedup of the whole run over the baseline of all mappings that ran or were computed."""
        measured = in_common((*self.compared(), *self.computed.values()))
        base = self.figure.cost(measured[0])
        return {each.mapping: base / self.figure.cost(each) for each in measured if isinstance(each.mapping, Mapping)}

    def expected_speedups(self) -> list[float]:
        """Return what each of the prior's mappings should give over the baseline, by the geometric mean."""
        gains = weights_after(self.known, *self._told()) @ self.known.gains
        return [self.whole_speedup(0, 2**gain) for gain in gains.tolist()]

    def best(self) -> int:
        """Return the number of the run with the largest gain of the whole run, the first of equal ones.

        Among those that may be advised, and the baseline's.
        """
        barred = [self.only not in (None, made.column) for made in self.made]
        barred[0] = False
        return int(np.nanargmax(np.where(barred, math.nan, self.whole_gains())))

    def whole_speedup(self, number: int, speedup: float) -> float:
        """Return the speedup of the whole over that of a run, by that of the part which the clock times (Amdahl)."""
        if not self.figure.is_time:
            return speedup
        run = self.made[number].measurement
        clocked_s = min(self._clocked_s(run), run.time_s)
        return run.time_s / (run.time_s - clocked_s + clocked_s / speedup)

    def limit(self) -> RunLimit:
        """Return when to end a further run: once it has taken as long as the best one."""
        best = self.made[self.best()].measurement
        return RunLimit(best.time_s + (0.0 if best.modelled else _START_S))

    def bound(self, measurement: Measurement, limit_s: float) -> float | None:
        """Return what a run gains at most by the clock, in log2, if it was ended and had come so far.

        None for any other; ``limit_s`` is when it was to be ended.
        """
        if not _is_ended(measurement, limit_s):
            return None
        if self.clock == "process":
            return self.gains()[self.best()]
        seen_s = region_time_when_ended(measurement)
        return math.log2(self._clocked_s(self.made[0].measurement) / seen_s) if seen_s else None

    def worth(self, following: NextRun, cut: bool) -> Worth:
        """Return what a further run costs and saves; one that is not cut may take as long as the longest so far."""
        best, whole_s = self.best(), [m.time_s for m in self.compared()]
        modelled = self.made[0].measurement.modelled
        run_s = self.limit().whole_s if cut else max(whole_s) + (0.0 if modelled else _START_S)
        confirming_s = 0.0 if best else 2 * (1 if modelled else CONFIRMING_ROUNDS) * whole_s[0]
        saving_s = self._clocked_s(self.made[best].measurement) * (1 - 2 ** -max(following.expected_gain, 0.0))
        saving_s = saving_s if self.figure.is_time else 0.0  # what a better metric saves is for its user to say
        return Worth(run_s + confirming_s, confirming_s, saving_s)

    def adds(self, following: NextRun) -> float:
        """Return by how much, in log2, a further run is expected to speed up the whole of the best one."""
        return math.log2(self.whole_speedup(self.best(), 2 ** max(following.expected_gain, 0.0)))

    def confirming_rounds(self, runs: int | None) -> tuple[int, int]:
        """Return how often to run the best and the baseline in turn, and how much more often where that is not sure.

        Neither pays without a gain. Rounds must pay if the program runs so often and the gain comes again.
        """
        if not self.best():
            return 0, 0
        if self.made[0].measurement.modelled:  # computed again at no cost
            return 1, 0
        if not self._pays(CONFIRMING_ROUNDS, runs):
            return 0, 0
        return CONFIRMING_ROUNDS, FURTHER_ROUNDS if self._pays(CONFIRMING_ROUNDS + FURTHER_ROUNDS, runs) else 0

    def _pays(self, rounds: int, runs: int | None) -> bool:
        best, records = self.best(), self.records()
        cost_s = rounds * (self.made[0].measurement.time_s + self.made[best].measurement.time_s)
        saving_s = (records[0].time_s or 0.0) - (records[best].time_s or 0.0)
        return runs is None or Worth(cost_s, cost_s, saving_s).pays_in(runs)

    def following(self) -> NextRun | None:
        """Return the run that should add most, by the prior's columns; None where no mapping is left."""
        tried = {made.column for made in self.made}
        return next_run(self.known, *self._told(), self.left_out() | tried, self.computed.keys() - tried)

    def left_out(self) -> set[int]:
        """Return the columns that are closed, or have another number of threads than the program sets itself."""
        own = self.own.threads if self.own is not None else 0
        threads = [mapping.threads for mapping in self.prior.mappings]
        others = {n for n, count in enumerate(threads) if count != own} if own in threads else set()
        return self.closed | self.refused | others

    def expected(self, column: int) -> ExpectedRun:
        """Return what a run of one of the prior's columns should give over the best so far."""
        return expected_run(self.known, *self._told(), column)

    def add(self, made: Made) -> None:
        """Enter a run, and what it shows of the program's own number of threads."""
        self.made.append(made)
        team = own_team(made.measurement)
        if team is not None and self.own is None:
            self.own = team
            here = any(mapping.threads == team.threads for mapping in self.prior.mappings)
            others = tuple(each for each in teams_of(made.measurement) if each.threads != team.threads)
            self.threads_text = own_in_words(team, others, here, made.measurement.modelled)
            log.warning(self.threads_text)
        elif team is not None and self.own is not None and team.threads != self.own.threads:
            self.own = Team(0, 0.0)
            self.threads_text = "its number of threads depends on OMP_NUM_THREADS: all mappings are considered"
            log.warning(self.threads_text)

    def fastest_computed(self, columns: Iterable[int] | None = None) -> Made | None:
        """Return the fastest of these computed columns, or of all; None where a run is as fast, but for 1%.

        Over the regions that all of them saw. Of mappings within AS_FAST of the fastest, it is the simplest: the one
        with the fewest threads, then the first of the space.
        """
        tried = {made.column: made.measurement for made in self.made if made.measurement.status == "ok"}
        among = self.computed if columns is None else {column: self.computed[column] for column in columns}
        known = {column: each for column, each in among.items() if column not in tried} | tried
        measured = in_common(tuple(known.values()))
        times = {column: each.time_s for column, each in zip(known, measured, strict=True) if each.time_s > 0}
        enough_s = min(time_s for column, time_s in times.items() if column in tried) * 2**-LEAST_ADVISED
        others = {column: time_s for column, time_s in times.items() if column not in tried and time_s < enough_s}
        near = [column for column, time_s in others.items() if time_s <= min(others.values()) * AS_FAST]
        column = min(near, key=lambda column: order_of(self.prior.mappings[column]), default=None)
        return None if column is None else Made(self.computed[column], column, computed=True)

    def _told(self) -> tuple[list[int], list[float], list[bool]]:
        """Return the columns and gains of the runs that gave any, and whether each was ended."""
        told = [
            (made.column, gain if made.bound is None else made.bound, made.bound is not None)
            for made, gain in zip(self.made, self.gains(), strict=True)
            if made.bound is not None or math.isfinite(gain)
        ]
        columns, gains, ended = zip(*told, strict=True)
        return list(columns), list(gains), list(ended)

    def _record(self, made: Made, measured: Measurement | None, whole_gain: float, gain: float) -> SearchRun:
        mapping = made.measurement.mapping
        if _is_ended(made.measurement, made.limit_s):
            return SearchRun(mapping=mapping, outcome="ended", time_s=made.limit_s)
        if measured is None or math.isnan(gain):
            status = made.measurement.status
            why = made.measurement.message or (status if status != "ok" else "no time was read")
            return SearchRun(mapping=mapping, outcome="failed", time_s=None, message=why)
        regions = self.clock == "regions" and self.figure.is_time
        return SearchRun(
            mapping=mapping,
            outcome="done",
            computed=made.computed,
            time_s=measured.time_s,
            figure=self.figure.value(measured),
            speedup=2**whole_gain,
            region_time_s=measured.region_time_s if regions else None,
            region_speedup=2**gain if regions else None,
            local_share=made.measurement.local_share,
        )

    def _gains(self, times: list[float]) -> list[float]:
        gains = dict.fromkeys(range(len(self.made)), math.nan)
        gains |= {n: math.log2(times[0] / time_s) for n, time_s in zip(self._ok(), times, strict=True) if time_s > 0}
        return list(gains.values())

    def _ok(self) -> list[int]:
        ended = [(n, made.measurement) for n, made in enumerate(self.made) if made.measurement.status == "ok"]
        return [n for n, measurement in ended if self._clocked_s(measurement) > 0]

    def _clocked_s(self, measurement: Measurement) -> float:
        """Return what the clock shows in seconds; where another figure is compared, that."""
        return (time_by(self.clock, measurement) or 0.0) if self.figure.is_time else self.figure.cost(measurement)


def _is_ended(measurement: Measurement, limit_s: float) -> bool:
    return measurement.status == "timeout" and math.isfinite(limit_s)
