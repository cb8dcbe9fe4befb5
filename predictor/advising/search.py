"""A search: the runs of a program one after the other, each chosen for what it should add to the best so far."""

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import msgspec
import numpy as np

from numapredict.collect.limits import Limits
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring.run_limit import UNLIMITED, RunLimit, region_time_when_ended
from numapredict.collect.modelled.seen_regions import in_common
from numapredict.collect.placing.teams import Team, teams_of
from numapredict.collect.terminal.estimated_time import seconds_in_words
from numapredict.collect.terminal.progress import Trials, trying
from numapredict.collect.topology import Topology
from numapredict.native.errors import UnrunnableProgramError, UnsupportedMappingError
from numapredict.predictor.advising.kept_runs import KeptRuns
from numapredict.predictor.advising.own_threads import own_team
from numapredict.predictor.advising.verification import CONFIRMING_ROUNDS, FURTHER_ROUNDS, LEAST_GAIN
from numapredict.predictor.advising.worth import Worth
from numapredict.predictor.learning.features import time_by
from numapredict.predictor.learning.options import Clock
from numapredict.predictor.searching.expected_run import ExpectedRun, expected_run
from numapredict.predictor.searching.known_gains import KnownGains
from numapredict.predictor.searching.next_run import NextRun, next_run
from numapredict.predictor.searching.prior import Prior

RUNS = 4
"""Runs of a search if not stated, the baseline's included."""

MOST_RUNS = 16
"""Runs of a search at most if it is stated how often the program will run.

On the modelled times that shipped before lpdquad had two threads a core, for a program that will run 100,000 times, 11
runs are made on average and never more than 15. For 300 times it is 3.8 runs, and program and search take as long
together as by RUNS and LEAST_GAIN.
"""

_START_S = 0.1  # what starting a run may take in addition, before it is ended

log = logging.getLogger(__name__)


class SearchOptions(msgspec.Struct, frozen=True):
    """How many runs a search makes at most, and whether each is ended once it has taken as long as the best.

    ``fresh``: runs that earlier commands made are not used. ``expected_runs``: how often the program will run, by which
    a search stops in place of LEAST_GAIN; None if that is not known. Mappings beyond the ``limits`` are not tried.
    """

    runs: int = RUNS
    cut: bool = True
    fresh: bool = False
    expected_runs: int | None = None
    limits: Limits = Limits()

    @property
    def limit(self) -> str:
        """Return the number of runs in words."""
        return f"{self.runs}" if self.expected_runs is None else f"at most {self.runs}"


@dataclass(frozen=True)
class Runner:
    """What runs the searched program, once a call: as it is now, and under a mapping up to a limit.

    ``run_baseline`` gives a measurement of the mapping ``baseline``, which need not be in our grammar. ``kept`` has the
    runs that earlier commands made, and keeps further ones; None where runs cost too little to be kept.
    """

    program: str
    baseline: AnyMapping
    run_baseline: Callable[[], Measurement]
    run: Callable[[Mapping, RunLimit], Measurement]
    kept: KeptRuns | None = None


@dataclass(frozen=True)
class Made:
    """A run that was made of the prior's ``column``, the baseline's being the one most like it.

    ``bound`` is what an ended run gains at most, in log2; None for any other, and for one that was ended for what it
    did outside its parallel regions. ``limit_s`` is when it was to be ended at the latest.
    """

    measurement: Measurement
    column: int
    bound: float | None = None
    limit_s: float = math.inf


class SearchRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a search, of the baseline first: its time in seconds by the search's clock.

    ``ended``: it was stopped once it had taken as long as the best run, by the search's clock; ``time_s`` is when.
    ``speedup`` is over the baseline, None for such a run and for one that ``failed``, as ``message`` says, without a
    time.
    """

    mapping: AnyMapping
    outcome: Literal["done", "ended", "failed"]
    time_s: float | None
    speedup: float | None = None
    message: str = ""


@dataclass
class Search:
    """The state of a search: the runs so far, the first of them the baseline's.

    ``closed``: columns of mappings that the machine cannot apply to the program, or that are beyond the limits.
    ``own``: the number of threads that the program sets itself; ``threads_text`` says what follows from it. ``kept``:
    so many runs are of earlier commands.
    """

    prior: Prior
    known: KnownGains
    made: list[Made]
    clock: Clock
    closed: set[int] = field(default_factory=set)
    own: Team | None = None
    threads_text: str = ""
    kept: int = 0

    def gains(self) -> list[float]:
        """Return the gain of each run over the baseline in log2; NaN for one that failed or was ended."""
        compared = dict(zip(*self._ok(), strict=True))
        base_s = self._time_s(compared[0])
        times = [self._time_s(compared[n]) if n in compared else math.nan for n in range(len(self.made))]
        return [math.log2(base_s / time_s) if time_s > 0 else math.nan for time_s in times]

    def compared(self) -> tuple[Measurement, ...]:
        """Return the measurements of whole runs, over the regions that all of them saw."""
        return self._ok()[1]

    def records(self) -> tuple[SearchRun, ...]:
        """Return the runs as an answer has them, in order."""
        numbers, measured = self._ok()
        times = {n: self._time_s(measurement) for n, measurement in zip(numbers, measured, strict=True)}
        return tuple(
            self._record(made, times.get(n) or 0.0, gain)
            for n, (made, gain) in enumerate(zip(self.made, self.gains(), strict=True))
        )

    def best(self) -> int:
        """Return the number of the run with the largest gain, the first of equal ones."""
        return int(np.nanargmax(self.gains()))

    def limit(self) -> RunLimit:
        """Return when to end a further run: once it has taken as long as the best one, by the search's clock.

        Where that is of the parallel regions, all else may take three times as long as in the best run: a run must
        start, and one thread may initialise data on far nodes.
        """
        best = self.made[self.best()].measurement
        if best.modelled:
            return RunLimit(best.time_s)
        if self.clock == "process":
            return RunLimit(best.time_s + _START_S)
        regions_s = best.region_time_s or 0.0
        return RunLimit(best.time_s + max(2 * (best.time_s - regions_s), _START_S), regions_s)

    def bound(self, measurement: Measurement, limit_s: float) -> float | None:
        """Return what a run gains at most, in log2, if it was ended and had taken as long as the best, or longer.

        None for any other; ``limit_s`` is when it was to be ended at the latest.
        """
        if measurement.status != "timeout" or math.isinf(limit_s):
            return None
        gain = self.gains()[self.best()]
        if self.clock == "process":
            return gain
        seen_s = region_time_when_ended(measurement)
        most = math.inf if not seen_s else math.log2(self._time_s(self.made[0].measurement) / seen_s)
        return most if most <= gain else None

    def worth(self, following: NextRun, cut: bool) -> Worth:
        """Return what a further run costs and saves; one that is not cut may take as long as the longest so far."""
        best, whole_s = self.best(), [m.time_s for m in self.compared()]
        modelled = self.made[0].measurement.modelled
        run_s = self.limit().whole_s if cut else max(whole_s) + (0.0 if modelled else _START_S)
        confirming_s = 0.0 if best else 2 * (1 if modelled else CONFIRMING_ROUNDS) * whole_s[0]
        saving_s = (self.records()[best].time_s or 0.0) * (1 - 2 ** -max(following.expected_gain, 0.0))
        return Worth(run_s + confirming_s, confirming_s, saving_s)

    def confirming_rounds(self, runs: int | None) -> tuple[int, int]:
        """Return how often to run the best and the baseline in turn, and how much more often where that is not sure.

        Neither pays without a gain. Rounds must pay if the program runs so often and the gain comes again.
        """
        rounds = (1, 0) if self.made[0].measurement.modelled else (CONFIRMING_ROUNDS, FURTHER_ROUNDS)
        if not self.best() or not self._pays(rounds[0], runs):
            return 0, 0
        return rounds if self._pays(sum(rounds), runs) else (rounds[0], 0)

    def _pays(self, rounds: int, runs: int | None) -> bool:
        best, records = self.best(), self.records()
        cost_s = rounds * (self.made[0].measurement.time_s + self.made[best].measurement.time_s)
        saving_s = (records[0].time_s or 0.0) - (records[best].time_s or 0.0)
        return runs is None or Worth(cost_s, cost_s, saving_s).pays_in(runs)

    def following(self) -> NextRun | None:
        """Return the run that should add most, by the prior's columns; None where no mapping is left."""
        own = self.own.threads if self.own is not None else 0
        threads = [mapping.threads for mapping in self.prior.mappings]
        others = {n for n, count in enumerate(threads) if count != own} if own in threads else set()
        return next_run(self.known, *self._told(), self.closed | {made.column for made in self.made} | others)

    def expected(self, column: int) -> ExpectedRun:
        """Return what a run of one of the prior's columns should give over the best so far."""
        return expected_run(self.known, *self._told(), column)

    def add(self, made: Made) -> None:
        """Enter a run, and what it shows of the program's own number of threads."""
        self.made.append(made)
        team = own_team(made.measurement)
        if team is not None and self.own is None:
            self.own = team
            self.threads_text = self._own_in_words(team)
            log.warning(self.threads_text)
        elif team is not None and self.own is not None and team.threads != self.own.threads:
            self.own = Team(0, 0.0)
            self.threads_text = "its number of threads depends on OMP_NUM_THREADS: all mappings are considered"
            log.warning(self.threads_text)

    def _told(self) -> tuple[list[int], list[float], list[bool]]:
        """Return the columns and gains of the runs that gave any, and whether each was ended."""
        told = [
            (made.column, gain if made.bound is None else made.bound, made.bound is not None)
            for made, gain in zip(self.made, self.gains(), strict=True)
            if made.bound is not None or math.isfinite(gain)
        ]
        columns, gains, ended = zip(*told, strict=True)
        return list(columns), list(gains), list(ended)

    def _own_in_words(self, team: Team) -> str:
        """Return a sentence on the number of threads that the program sets itself."""
        text = f"the program sets its own number of threads: {team.threads}, whatever OMP_NUM_THREADS says; "
        if any(mapping.threads == team.threads for mapping in self.prior.mappings):
            return text + f"only mappings of {team.threads} are considered"
        return text + f"this machine has no mapping of {team.threads}: all are considered"

    def _record(self, made: Made, time_s: float, gain: float) -> SearchRun:
        measurement, seen_s = made.measurement, region_time_when_ended(made.measurement)
        if made.bound is not None:
            ended_s = seen_s if self.clock == "regions" else made.limit_s
            return SearchRun(mapping=measurement.mapping, outcome="ended", time_s=ended_s)
        if math.isnan(gain):
            why = measurement.message or (measurement.status if measurement.status != "ok" else "no time was read")
            if measurement.status == "timeout" and math.isfinite(made.limit_s):
                inside = "without any" if seen_s is None else f"of which {seconds_in_words(seen_s)}"
                why = (
                    f"ended after {seconds_in_words(made.limit_s)}, {inside} in parallel regions: "
                    "the rest took over three times as long as in the best run"
                )
            return SearchRun(mapping=measurement.mapping, outcome="failed", time_s=None, message=why)
        return SearchRun(mapping=measurement.mapping, outcome="done", time_s=time_s, speedup=2**gain)

    def _ok(self) -> tuple[list[int], tuple[Measurement, ...]]:
        numbers = [n for n, made in enumerate(self.made) if made.measurement.status == "ok"]
        return numbers, in_common(tuple(self.made[n].measurement for n in numbers))

    def _time_s(self, measurement: Measurement) -> float:
        return time_by(self.clock, measurement) or 0.0


def search_options(
    runs: int | None, expected_runs: int | None, *, cut: bool, fresh: bool, limits: Limits | None = None
) -> SearchOptions:
    """Return the options of a search; without ``runs`` there are as many at most as suits ``expected_runs``."""
    most = runs or (RUNS if expected_runs is None else MOST_RUNS)
    return SearchOptions(runs=most, cut=cut, fresh=fresh, expected_runs=expected_runs, limits=limits or Limits())


def outcome_in_words(run: SearchRun) -> str:
    """Return what came of a run."""
    if run.time_s is None or run.outcome == "failed":
        return f"failed: {run.message}"
    time = seconds_in_words(run.time_s)
    return f"ended after {time}, slower than the best" if run.outcome == "ended" else f"{time}, {run.speedup:.2f}x"


def search(runner: Runner, prior: Prior, topology: Topology, options: SearchOptions) -> Search:
    """Run a program as it is, then under mapping after mapping, until no further run is worth it.

    Raises UnrunnableProgramError if it fails as it is, and the machine's own errors; a mapping under which it fails, or
    that the machine cannot apply to it, is skipped.
    """
    trials = Trials(options.limit, log)
    with trying(trials):
        return _searched(runner, prior, topology, options, trials)


def _searched(runner: Runner, prior: Prior, topology: Topology, options: SearchOptions, trials: Trials) -> Search:
    found = _begun(runner, prior, topology, options, trials)
    while len(found.made) < options.runs:
        following = found.following()
        if following is None or not _is_worth_it(found, following, options):
            break
        mapping, limit = prior.mappings[following.column], found.limit() if options.cut else UNLIMITED
        trials.begin(
            str(mapping),
            f"{runner.program} under {mapping}",
            expected=f"expected to add {100 * (2**following.expected_gain - 1):.0f}%",
            most_s=limit.whole_s if math.isfinite(limit.whole_s) and not found.made[0].measurement.modelled else None,
        )
        try:
            measurement = runner.run(mapping, limit)
        except UnsupportedMappingError as error:
            trials.leave()
            log.info(str(error))
            policy = mapping.page_policy  # that is what some machines cannot apply to some programs
            found.closed |= {n for n, other in enumerate(prior.mappings) if other.page_policy == policy}
            continue
        if runner.kept is not None:
            runner.kept.add(measurement, limit.whole_s)
        bound = found.bound(measurement, limit.whole_s)
        found.add(Made(measurement, following.column, bound, limit.whole_s))
        trials.end(outcome_in_words(found.records()[-1]), found.best())
    return found


def _is_worth_it(found: Search, following: NextRun, options: SearchOptions) -> bool:
    if options.expected_runs is None:
        return following.expected_gain >= LEAST_GAIN
    return found.worth(following, options.cut).pays_in(options.expected_runs)


def _begun(runner: Runner, prior: Prior, topology: Topology, options: SearchOptions, trials: Trials) -> Search:
    """Return the search after the runs that are kept, or after the baseline's."""
    kept = () if runner.kept is None else runner.kept.runs
    first = kept[0].measurement if kept else _first(runner, trials)
    column = resembled(first, prior, topology)
    found = Search(prior, prior.over(column), [], "regions" if first.region_time_s else "process")
    found.add(Made(first, column))
    found.closed |= {n for n, mapping in enumerate(prior.mappings) if not options.limits.allow(mapping)}
    columns = {mapping: n for n, mapping in enumerate(prior.mappings) if n not in found.closed}
    for run in kept[1:]:
        at = columns.get(run.measurement.mapping) if isinstance(run.measurement.mapping, Mapping) else None
        if at is not None:
            limit_s = math.inf if run.limit_s is None else run.limit_s
            found.add(Made(run.measurement, at, found.bound(run.measurement, limit_s), limit_s))
    found.kept = len(found.made) if kept else 0
    for record in found.records():
        trials.end(outcome_in_words(record), found.best(), _what(runner, record.mapping), " (kept)" if kept else "")
    return found


def _what(runner: Runner, mapping: AnyMapping) -> str:
    """Return in a few words what a run was made under."""
    return str(mapping) if mapping != runner.baseline or isinstance(mapping, Mapping) else "as it is now"


def _first(runner: Runner, trials: Trials) -> Measurement:
    how = f"under {runner.baseline}" if isinstance(runner.baseline, Mapping) else "as it is now"
    trials.begin(_what(runner, runner.baseline), f"{runner.program} {how}")
    first = runner.run_baseline()
    if first.status != "ok":
        raise UnrunnableProgramError(
            first.message
            if "; " in first.message  # it says what to do
            else f"{runner.program} failed when it ran {how}: {first.message or first.status}; make it run first"
        )
    if runner.kept is not None:
        runner.kept.add(first)
    return first


def resembled(baseline: Measurement, prior: Prior, topology: Topology) -> int:
    """Return the column of the mapping that the baseline resembles: as many threads, spread over the nodes."""
    teams, default = teams_of(baseline), prior.mappings[prior.default]
    if isinstance(baseline.mapping, Mapping):
        return prior.nearest(baseline.mapping, topology)
    if not teams or teams[0].threads == default.threads:
        return prior.default
    threads, nodes = teams[0].threads, len(topology.cpu_nodes)
    used, per_core = min(nodes, threads), math.ceil(threads / topology.core_count)
    return prior.nearest(Mapping(threads, used, "scatter", used, "first-touch", per_core), topology)
