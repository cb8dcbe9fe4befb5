"""A search: the runs of a program one after the other, each chosen for what it should add to the best so far."""

import logging
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from numapredict.collect.mapping import AnyMapping, Mapping, order_of
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring.run_limit import UNLIMITED, RunLimit, region_time_when_ended
from numapredict.collect.modelled.seen_regions import in_common
from numapredict.collect.placing.teams import Team, teams_of
from numapredict.collect.terminal.printable import counted
from numapredict.collect.terminal.progress import Trials, doing, trying
from numapredict.collect.topology import Topology
from numapredict.native.errors import UnrunnableProgramError, UnsupportedMappingError
from numapredict.predictor.advising.confirmation import CONFIRMING_ROUNDS, FURTHER_ROUNDS, LEAST_ADVISED, LEAST_GAIN
from numapredict.predictor.advising.kept_runs import KeptRuns
from numapredict.predictor.advising.own_threads import own_in_words, own_team
from numapredict.predictor.advising.search_options import SearchOptions
from numapredict.predictor.advising.search_run import Made, SearchRun, outcome_in_words
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


@dataclass(frozen=True)
class Runner:
    """What runs the searched program, once a call: as it is now, and under a mapping up to a limit.

    ``run_baseline`` gives a measurement of the mapping ``baseline``, which need not be in our grammar. ``kept`` has the
    runs that earlier commands made, and keeps further ones; None where runs cost too little to be kept. ``traced``: a
    run costs something only where it is the first with its number of threads, of which all mappings are then known.
    """

    program: str
    baseline: AnyMapping
    run_baseline: Callable[[], Measurement]
    run: Callable[[Mapping, RunLimit], Measurement]
    kept: KeptRuns | None = None
    traced: bool = False


@dataclass
class Search:
    """The state of a search: the runs so far, the first of them the baseline's.

    Runs are ranked by the whole run. By the ``clock``, that of the parallel regions where they are timed, the program
    is compared with known ones.
    ``closed``: columns of mappings that the machine cannot apply to the program, or that are beyond the limits.
    ``own``: the number of threads that the program sets itself; ``threads_text`` says what follows from it. ``kept``:
    so many runs are of earlier commands. ``computed``: what was computed from traces, by column, beside the runs.
    """

    prior: Prior
    known: KnownGains
    made: list[Made]
    clock: Clock
    closed: set[int] = field(default_factory=set)
    own: Team | None = None
    threads_text: str = ""
    kept: int = 0
    computed: dict[int, Measurement] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        """Return how many runs were made, without what was computed from their traces."""
        return sum(not made.computed for made in self.made)

    def gains(self) -> list[float]:
        """Return the gain of each run over the baseline in log2, by the clock; NaN for one that failed or was ended."""
        return self._gains([self._clocked_s(measurement) for measurement in self.compared()])

    def whole_gains(self) -> list[float]:
        """Return the same of the whole run."""
        return self._gains([measurement.time_s for measurement in self.compared()])

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
        base_s = measured[0].time_s
        return {each.mapping: base_s / each.time_s for each in measured if isinstance(each.mapping, Mapping)}

    def expected_speedups(self) -> list[float]:
        """Return what each of the prior's mappings should give over the baseline, by the geometric mean."""
        gains = weights_after(self.known, *self._told()) @ self.known.gains
        return [self.whole_speedup(0, 2**gain) for gain in gains.tolist()]

    def best(self) -> int:
        """Return the number of the run with the largest gain of the whole run, the first of equal ones."""
        return int(np.nanargmax(self.whole_gains()))

    def whole_speedup(self, number: int, speedup: float) -> float:
        """Return the speedup of the whole over that of a run, by that of the part which the clock times (Amdahl)."""
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
        return self.closed | ({n for n, count in enumerate(threads) if count != own} if own in threads else set())

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
        regions = self.clock == "regions"
        return SearchRun(
            mapping=mapping,
            outcome="done",
            time_s=measured.time_s,
            speedup=2**whole_gain,
            region_time_s=measured.region_time_s if regions else None,
            region_speedup=2**gain if regions else None,
        )

    def _gains(self, times: list[float]) -> list[float]:
        gains = dict.fromkeys(range(len(self.made)), math.nan)
        gains |= {n: math.log2(times[0] / time_s) for n, time_s in zip(self._ok(), times, strict=True) if time_s > 0}
        return list(gains.values())

    def _ok(self) -> list[int]:
        ended = [(n, made.measurement) for n, made in enumerate(self.made) if made.measurement.status == "ok"]
        return [n for n, measurement in ended if self._clocked_s(measurement) > 0]

    def _clocked_s(self, measurement: Measurement) -> float:
        return time_by(self.clock, measurement) or 0.0


def _is_ended(measurement: Measurement, limit_s: float) -> bool:
    return measurement.status == "timeout" and math.isfinite(limit_s)


def search(runner: Runner, prior: Prior, topology: Topology, options: SearchOptions) -> Search:
    """Run a program as it is, then under mapping after mapping, until no further run is worth it.

    Raises UnrunnableProgramError if it fails as it is, and the machine's own errors; a mapping under which it fails, or
    that the machine cannot apply to it, is skipped.
    """
    trials = Trials(options.limit, log)
    with trying(trials):
        return _searched(runner, prior, topology, options, trials)


def _searched(runner: Runner, prior: Prior, topology: Topology, options: SearchOptions, trials: Trials) -> Search:
    found = begun(runner, prior, topology, options, trials)
    if runner.traced:
        _compute(found, runner, trials)
    while found.runs < options.runs:
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
        measurement = _run(found, runner, following.column, limit)
        if measurement is None:
            trials.leave()
            continue
        if runner.kept is not None:
            runner.kept.add(measurement, limit.whole_s)
        bound = found.bound(measurement, limit.whole_s)
        found.add(Made(measurement, following.column, bound, limit.whole_s))
        trials.end(outcome_in_words(found.records()[-1]), found.best())
        if runner.traced and measurement.status == "ok":
            _compute(found, runner, trials)
    _enter(found, found.fastest_computed(), trials)
    return found


def _run(found: Search, runner: Runner, column: int, limit: RunLimit) -> Measurement | None:
    """Return a run; None where the machine cannot apply the page policy to the program, which is then closed."""
    mapping = found.prior.mappings[column]
    try:
        return runner.run(mapping, limit)
    except UnsupportedMappingError as error:
        log.info(str(error))
        policy = mapping.page_policy
        found.closed |= {n for n, other in enumerate(found.prior.mappings) if other.page_policy == policy}
    return None


def _compute(found: Search, runner: Runner, trials: Trials) -> None:
    """Compute all mappings with as many threads as the last run, which was traced, and enter the fastest as a run."""
    last = found.made[-1].measurement.mapping
    if not isinstance(last, Mapping) or (found.own is not None and found.own.threads not in (0, last.threads)):
        return
    tried = {made.column for made in found.made} | found.computed.keys()
    alike = [
        n
        for n, mapping in enumerate(found.prior.mappings)
        if (mapping.threads, mapping.threads_per_core) == (last.threads, last.threads_per_core)
        and n not in found.closed | tried
    ]
    with doing(f"computing {counted(len(alike), 'mapping')} of {counted(last.threads, 'thread')}"):
        for column in alike:
            if column not in found.closed and (measurement := _run(found, runner, column, UNLIMITED)) is not None:
                found.computed |= {column: measurement} if measurement.status == "ok" else {}
    _enter(found, found.fastest_computed(found.computed.keys() & set(alike)), trials)


def _enter(found: Search, made: Made | None, trials: Trials) -> None:
    """Enter what was computed as a run, if there is anything."""
    if made is not None:
        found.add(made)
        mapping = found.prior.mappings[made.column]
        remark = f" (the fastest mapping of {counted(mapping.threads, 'thread')}, computed from its trace)"
        trials.end(outcome_in_words(found.records()[-1]), found.best(), str(mapping), remark)


def _is_worth_it(found: Search, following: NextRun, options: SearchOptions) -> bool:
    if options.expected_runs is None:
        return found.adds(following) >= LEAST_GAIN
    return found.worth(following, options.cut).pays_in(options.expected_runs)


def begun(runner: Runner, prior: Prior, topology: Topology, options: SearchOptions, trials: Trials) -> Search:
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
