"""A search: the runs of a program one after the other, each chosen for what it should add to the best so far."""

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numapredict.collect.mapping import AnyMapping, Mapping, applicable
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring.quiet import SHORT_S
from numapredict.collect.measuring.run_limit import UNLIMITED, RunLimit
from numapredict.collect.placing.teams import teams_of
from numapredict.collect.space import canonical, placement_if_any
from numapredict.collect.terminal.printable import counted
from numapredict.collect.terminal.progress import Trials, doing, trying
from numapredict.collect.topology import Topology
from numapredict.native.errors import UnrunnableProgramError, UnsupportedMappingError
from numapredict.predictor.advising.confirmation import LEAST_GAIN
from numapredict.predictor.advising.kept_runs import KeptRuns
from numapredict.predictor.advising.search_options import SearchOptions
from numapredict.predictor.advising.search_run import Made, outcome_in_words
from numapredict.predictor.advising.search_state import Search
from numapredict.predictor.advising.thesis_method import next_by_cluster
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.options import Clock
from numapredict.predictor.searching.next_run import NextRun
from numapredict.predictor.searching.prior import Prior

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Runner:
    """What runs the searched program, once a call: as it is now, and under a mapping up to a limit.

    ``run_baseline`` gives a measurement of the mapping ``baseline``, which need not be in our grammar. ``kept`` has the
    runs that earlier commands made, and keeps further ones; None where runs cost too little to be kept. ``traced``: a
    run costs something only where it is the first with its number of threads, of which all mappings are then known.
    ``look`` waits a moment for a quiet computer, and returns in words what others still take of it, empty for nothing.
    A run shorter than ``short_s`` does not show that by itself.
    """

    program: str
    baseline: AnyMapping
    run_baseline: Callable[[], Measurement]
    run: Callable[[Mapping, RunLimit], Measurement]
    kept: KeptRuns | None = None
    traced: bool = False
    look: Callable[[], str] = lambda: ""
    short_s: float = SHORT_S


def search(
    runner: Runner, prior: Prior, topology: Topology, options: SearchOptions, model: Model | None = None
) -> Search:
    """Run a program as it is, then under mapping after mapping, until no further run is worth it.

    By the thesis's method the ``model`` chooses them. Raises UnrunnableProgramError if the program fails as it is, and
    the machine's own errors; a mapping under which it fails, or that the machine cannot apply to it, is skipped.
    """
    trials = Trials(options.limit, log)
    with trying(trials):
        return _searched(runner, prior, topology, options, trials, model if options.method == "thesis" else None)


def _searched(
    runner: Runner, prior: Prior, topology: Topology, options: SearchOptions, trials: Trials, thesis: Model | None
) -> Search:
    wanted = None if thesis is None else [applicable(probe.mapping) for probe in thesis.probes]
    found = _begun(runner, prior, topology, options, trials, wanted)
    computes, cut = runner.traced and thesis is None, options.cut and thesis is None
    if computes:
        _compute(found, runner, trials)
    while (chosen := _next(found, options, thesis)) is not None:
        column, expected = chosen
        mapping, limit = prior.mappings[column], found.limit() if cut else UNLIMITED
        trials.begin(
            str(mapping),
            f"{runner.program} under {mapping}",
            expected=expected,
            most_s=limit.whole_s if math.isfinite(limit.whole_s) and not found.made[0].measurement.modelled else None,
        )
        measurement = _run(found, runner, column, limit)
        if measurement is None:
            trials.leave()
            continue
        bound = found.bound(measurement, limit.whole_s)
        found.add(Made(measurement, column, bound, limit.whole_s))
        if runner.kept is not None and not found.disturbed():
            runner.kept.add(measurement, limit.whole_s)
        trials.end(outcome_in_words(found.records()[-1], found.figure), found.best())
        if computes and measurement.status == "ok":
            _compute(found, runner, trials)
    if computes:
        _enter(found, found.fastest_computed(), trials)
    return found


def _next(found: Search, options: SearchOptions, thesis: Model | None) -> tuple[int, str] | None:
    """Return the column of the next run and in words what it should give; None where no run is worth it."""
    if found.disturbed():  # no answer can follow
        return None
    if thesis is not None:
        column = next_by_cluster(found, thesis)
        return None if column is None else (column, "")
    following = found.following() if found.runs < options.runs else None
    if following is None or not _is_worth_it(found, following, options):
        return None
    return following.column, f"expected to add {100 * (2**following.expected_gain - 1):.0f}%"


def _run(found: Search, runner: Runner, column: int, limit: RunLimit) -> Measurement | None:
    """Return a run; None where the machine cannot apply the page policy to the program, which is then closed."""
    mapping = found.prior.mappings[column]
    try:
        return runner.run(mapping, limit)
    except UnsupportedMappingError as error:
        log.info(str(error))
        policy = mapping.page_policy
        found.refused |= {n for n, other in enumerate(found.prior.mappings) if other.page_policy == policy}
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
        and n not in found.closed | found.refused | tried
    ]
    with doing(f"computing {counted(len(alike), 'mapping')} of {counted(last.threads, 'thread')}"):
        for column in alike:
            if column not in found.refused and (measurement := _run(found, runner, column, UNLIMITED)) is not None:
                found.computed |= {column: measurement} if measurement.status == "ok" else {}
    _enter(found, found.fastest_computed(found.computed.keys() & set(alike)), trials)


def _enter(found: Search, made: Made | None, trials: Trials) -> None:
    """Enter what was computed as a run, if there is anything."""
    if made is not None:
        found.add(made)
        mapping = found.prior.mappings[made.column]
        outcome = f"{outcome_in_words(found.records()[-1])}, the fastest of {counted(mapping.threads, 'thread')}"
        trials.compute(outcome, found.best(), str(mapping))


def _is_worth_it(found: Search, following: NextRun, options: SearchOptions) -> bool:
    if options.expected_runs is None:
        return found.adds(following) >= LEAST_GAIN
    return found.worth(following, options.cut).pays_in(options.expected_runs)


def _begun(
    runner: Runner,
    prior: Prior,
    topology: Topology,
    options: SearchOptions,
    trials: Trials,
    wanted: Sequence[Mapping] | None,
) -> Search:
    """Return the search after the runs that are kept, of the ``wanted`` mappings alone if any, or the baseline's."""
    kept = () if runner.kept is None else runner.kept.runs
    busy = runner.look()
    first = kept[0].measurement if kept else _first(runner, trials)
    column = resembled(first, prior, topology)
    clock: Clock = "regions" if first.region_time_s else "process"
    found = Search(prior, prior.over(column), [], clock, busy=busy, short_s=runner.short_s, figure=options.figure)
    found.add(Made(first, column))
    if runner.kept is not None and not kept and not found.disturbed():  # what others changed is worth nothing tomorrow
        runner.kept.add(first)
    found.closed |= {n for n, mapping in enumerate(prior.mappings) if not options.limits.allow(mapping)}
    columns = {mapping: n for n, mapping in enumerate(prior.mappings) if n not in found.closed}
    for run in kept[1:]:
        at = columns.get(run.measurement.mapping) if isinstance(run.measurement.mapping, Mapping) else None
        if at is not None and (wanted is None or run.measurement.mapping in wanted):
            limit_s = math.inf if run.limit_s is None else run.limit_s
            found.add(Made(run.measurement, at, found.bound(run.measurement, limit_s), limit_s))
    found.kept = len(found.made) if kept else 0
    for record in found.records():
        trials.end(
            outcome_in_words(record, found.figure),
            found.best(),
            _what(runner, record.mapping),
            " (kept)" if kept else "",
        )
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
    like = Mapping(threads, used, "scatter", used, "first-touch", per_core)
    if nodes == 1 and placement_if_any(like, topology) is not None:  # else it has more threads than there are PUs
        like = canonical(like, topology)
    return prior.nearest(like, topology)
