"""Runs a program once, with its regions replayed meanwhile, and says what came of it."""

import logging
import os
import time
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from signal import SIGINT
from typing import NamedTuple

import click
import msgspec

from numapredict.collect.binding import threads_asked
from numapredict.collect.capturing.capturing_environment import capturing_environment
from numapredict.collect.capturing.exchange import AskedRegion, Outcome, fits, variable_text
from numapredict.collect.capturing.first_run import FirstRun, first_run
from numapredict.collect.capturing.gain import Gain, gains_of
from numapredict.collect.capturing.instance_class import RegionInstances
from numapredict.collect.capturing.order import Succession
from numapredict.collect.capturing.watcher import CapturedRegion, Watcher
from numapredict.collect.host.facts.allocation_text import restriction_lines
from numapredict.collect.host.given_environment import given_environment
from numapredict.collect.host.host import describes_this_computer, host_topology
from numapredict.collect.host.work_folder import work_folder
from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.measuring.disturbance import snapshot
from numapredict.collect.measuring.quiet import busy_in_words, others_at_work, others_since, short_s
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.child import STDERR, end_like, run_child, signals_held
from numapredict.collect.placing.elf import preload_obstacle
from numapredict.collect.placing.executable import command_of, executable_of
from numapredict.collect.placing.fixed_teams import team_facts
from numapredict.collect.placing.process import cannot_start, exit_and_signal
from numapredict.collect.placing.profile_file import check_builds, read_profile
from numapredict.collect.placing.run_file import JSON, check_place, write_json
from numapredict.collect.program import Program, program_as_typed
from numapredict.collect.space import canonical, default_mapping
from numapredict.collect.terminal.printable import counted
from numapredict.collect.terminal.progress import doing
from numapredict.collect.terminal.record_json import json_of
from numapredict.collect.terminal.terminal import ANSWER
from numapredict.collect.topology import Topology
from numapredict.native.errors import NumapredictError, UnrunnableProgramError, UsageError
from numapredict.native.library import capture_library
from numapredict.predictor.learning.model_choice import trained_gains_path
from numapredict.predictor.regions.choice import Tries, replayed
from numapredict.predictor.regions.kept_gains import keep
from numapredict.predictor.regions.one_mapping import one_mappings
from numapredict.predictor.regions.planning import PLAN, Made, Wish, planned
from numapredict.predictor.regions.region_answers import ENDED, INTERRUPTED, region_answers
from numapredict.predictor.regions.regions_text import regions_in_words
from numapredict.predictor.regions.replayed_regions import ReplayedRegions
from numapredict.predictor.searching.prior import Prior, kept_gains_path, prior_of
from numapredict.predictor.variables.timing import Way, costs_in_turn

LEAST_PLAIN_S, PLAIN_TIMES = 300.0, 5.0
"""The first run may take so long, and so many times what replays may take, if that is longer."""

FEWEST_REPLAYS, MOST_SLICES = 3, 2.0
"""A class has so many replays, or the time for all is used up; then it ends after so many times its part of that."""

MOST_OF_IT = 0.5
"""Of a region's time: a class with as much is replayed under mappings of its own choice."""

OTHERS = 2
"""Mappings that gained most in regions before: these are replayed in each further region, too."""

log = logging.getLogger(__name__)


class Request(msgspec.Struct, frozen=True):
    """A command, the time that its replays may take together, in seconds, and the plan to write, if one is wished.

    ``keep`` what its regions gain for later searches. ``as_json``: the answer goes to standard output, and what the
    program writes there to standard error. ``in_time``: the plan is measured in turn with the run as it is.
    """

    command: tuple[str, ...]
    budget_s: float = 60.0
    json: Path | None = None
    wish: Wish | None = None
    keep: bool = False
    as_json: bool = False
    in_time: bool = False


def run_replayed(request: Request) -> int:
    """Run the program with its regions replayed, report on them, and return its exit code, or end by its signal.

    Raises UnrunnableProgramError, UsageError and the errors of run_file before the program starts.
    """
    _check(request)
    topology = host_topology()
    for line in restriction_lines(topology):
        log.info(line)
    program = program_as_typed(request.command)
    executable = executable_of(program)
    obstacle = preload_obstacle(Path(executable), capture_library())
    if obstacle:
        raise UnrunnableProgramError(f"{program.name} cannot be replayed: {obstacle}; link it dynamically")
    prior = _prior(topology)
    baseline = _baseline(prior, topology)
    placement = resolve(prior.mappings[baseline], topology)
    budget = _Budget(request, prior, baseline, topology)
    looked = others_at_work(placement.pus)
    with work_folder() as folder:
        before = snapshot(placement.pus)
        with doing(f"running {program.name} plainly, to learn which of its instances stand for which"):
            first = first_run(program, given_environment(), placement, folder, _most_plain_s(request.budget_s))
        busy = others_since(before, placement.pus)
        again = _Again(-SIGINT, 0.0, (), "")
        if first.ending is not None:
            again = _run_again(request, budget, first, (placement, folder))
        code, found = again.code, first.times
        exit_code, signal = exit_and_signal(code)
        why = INTERRUPTED if first.ending is None else ENDED if code < 0 else ""
        regions = region_answers(found, first.regions, again.captured, why)
        plain_s = first.ending.time_s if first.ending is not None else 0.0
        answer = ReplayedRegions(
            command=request.command,
            machine=topology.name,
            baseline=placement.mapping.label,
            exit_code=exit_code,
            signal=signal,
            wall_s=again.wall_s,
            replay_s=sum(one.seconds for one in again.captured),
            region_time_s=sum(times.region_time_s for times in found),
            regions=regions,
            one_mapping=one_mappings(regions),
            notes=tuple(_notes(first, again, placement, request.budget_s, executable)),
            directory=str(Path.cwd()),
            disturbed=busy or again.busy or (looked if plain_s < short_s(len(placement.pus)) else ""),
            plain_s=plain_s,
        )
    answer = _with_plan(answer, request.wish, executable, again, topology)
    if request.in_time:
        answer = _in_time(answer, program, placement)
    for line in regions_in_words(answer):
        log.log(logging.INFO if request.as_json else ANSWER, line)
    if request.keep:
        _keep(answer, executable, prior, topology)
    if request.json is not None:
        write_json(answer, request.json)
    if request.as_json:
        click.echo(json_of(answer), nl=False)
    return end_like(code)


class _Again(NamedTuple):
    """The second run: how it ended, how long it took, what was replayed in it, and what others took meanwhile."""

    code: int
    wall_s: float
    captured: tuple[CapturedRegion, ...]
    busy: str
    order: tuple[Succession, ...] = ()


def _run_again(request: Request, budget: "_Budget", first: FirstRun, where: tuple[Placement, Path]) -> _Again:
    """Run the program as its caller would, with the instances replayed that stand for others."""
    (placement, folder), program = where, program_as_typed(request.command)
    with Watcher(budget.replays, folder / "replays", budget.expect(first)) as watcher, signals_held() as blocked:
        settings = variable_text(watcher.name, str(folder / "second"))
        environment = capturing_environment(given_environment(), placement, capture_library(), settings)
        before = snapshot(placement.pus)
        output = STDERR if request.as_json else None
        try:
            code = run_child(command_of(program), environment, placement.pus, blocked, output)
        except (OSError, ValueError) as error:
            raise cannot_start(program.command[0], error) from error
        wall_s, busy = time.perf_counter() - before.at_s, others_since(before, placement.pus)
    return _Again(code, wall_s, watcher.found, busy, watcher.order)


def _most_plain_s(budget_s: float) -> float:
    """Return how long the first run may take: one that does not end tells enough by then."""
    return max(LEAST_PLAIN_S, PLAIN_TIMES * budget_s)


def _check(request: Request) -> None:
    """Raise the errors of a request that cannot be answered."""
    if request.json is not None:
        check_place(request.json, JSON)
    if request.wish is not None:
        check_place(request.wish.path, PLAN)
        if request.wish.profile is not None:
            check_builds(read_profile(request.wish.profile), request.wish.profile)
    if not describes_this_computer():
        raise UsageError("replays are made here, and HWLOC_* variables describe another machine: unset them")


def _keep(answer: ReplayedRegions, executable: str, prior: Prior, topology: Topology) -> None:
    """Keep what the regions gained; where that cannot be, a line says so, and the program's exit code stays."""
    if answer.disturbed:
        log.info("what the regions gained is not kept, since the computer was busy")
        return
    try:
        path = kept_gains_path(trained_gains_path(topology.name, topology))
        log.info(keep(path, Path(executable).name, answer.regions, prior, topology))
    except NumapredictError as error:
        log.info(str(error))


def _with_plan(
    answer: ReplayedRegions, wish: Wish | None, executable: str, again: _Again, topology: Topology
) -> ReplayedRegions:
    """Return the answer with the plan, if one is wished, or with a note on why there is none: the exit code stays."""
    if wish is None:
        return answer
    if answer.disturbed:
        return msgspec.structs.replace(answer, notes=(*answer.notes, f"no plan was written to {wish.path}"))
    known = {(Path(one.asked.module).name, one.asked.offset): one.asked.key for one in again.captured}
    places = [(region.module, region.offset) for region in answer.regions]
    keys = {(module, at): known[name, at] for module, at in places if ((name := Path(module).name), at) in known}
    try:
        made = planned(answer, wish, executable, keys, topology, again.order)
    except NumapredictError as error:
        made = Made(None, (str(error),), answer.one_mapping)
    notes = (*answer.notes, *made.notes)
    return msgspec.structs.replace(answer, plan=made.plan, notes=notes, one_mapping=made.one_mapping)


def _in_time(answer: ReplayedRegions, program: Program, placement: Placement) -> ReplayedRegions:
    """Return the answer with what its plan takes off the time in regions, or with a note on why that is not known."""
    plan = answer.plan
    if plan is None:
        return answer
    there = resolve(parse_label(plan.mapping), placement.topology)
    ways: list[Way] = [(placement, None), (there, Path(plan.path))]
    before = snapshot(placement.pus)
    busy = others_at_work(placement.pus)
    try:
        with work_folder() as folder:
            costs = () if busy else costs_in_turn(program, ways, folder, answer.exit_code)
    except UnrunnableProgramError as error:
        return msgspec.structs.replace(answer, notes=(*answer.notes, f"the plan was not measured: {error}"))
    busy = busy or others_since(before, placement.pus)
    if busy or costs[0] is None:
        why = busy_in_words(busy) or "no run had time in regions"
        return msgspec.structs.replace(answer, notes=(*answer.notes, f"the plan was not measured: {why}"))
    return msgspec.structs.replace(answer, plan=msgspec.structs.replace(plan, time=costs[0]))


class _Budget:
    """Replays class after class of instances, each in its part of the time for them; it lives in the watching process.

    A class has as much of what is left as its share of the regions' time, of those still to come.
    """

    def __init__(self, request: Request, prior: Prior, baseline: int, topology: Topology) -> None:
        self._left_s, self._prior, self._baseline, self._topology = request.budget_s, prior, baseline, topology
        self._pages_alone = request.wish is not None and request.wish.profile is not None
        self._gained: dict[str, float] = {}  # labels of mappings, and what they gave at most
        self._first: dict[tuple[int, int], list[str]] = {}  # of each region's first class, the best first
        self._to_come: dict[tuple[int, int], float] = {}

    def expect(self, first: FirstRun) -> tuple[RegionInstances, ...]:
        """Expect the classes of a first run, and return its regions."""
        self._to_come = {
            (region.key, number): region.weight * one.share
            for region in first.regions
            for number, one in enumerate(region.classes)
            if one.wanted
        }
        return first.regions

    def replays(self, asked: AskedRegion) -> Generator[Placement, Outcome, bool]:
        of_all = asked.weight / max(sum(self._to_come.values()), asked.weight)
        began_s, until_s, slice_s = time.monotonic(), self._left_s, self._left_s * of_all
        further = (asked.process, asked.key) in self._first and asked.share < MOST_OF_IT
        others = sorted(self._gained, key=lambda label: -self._gained[label])[:OTHERS]
        if further:
            others = self._first[asked.process, asked.key]
        tries = Tries(
            others=tuple(others),
            pages_alone=self._pages_alone,
            further=further,
            enough=lambda: time.monotonic() - began_s > slice_s / 2,
        )
        choices = replayed(asked, self._prior, self._baseline, self._topology, tries)
        made = list[tuple[str, Outcome]]()
        another = False
        try:
            placement = next(choices)
            while until_s > (spent_s := time.monotonic() - began_s):
                if len(made) >= FEWEST_REPLAYS and spent_s > MOST_SLICES * slice_s:
                    break
                outcome = yield placement
                made.append((placement.mapping.label, outcome))
                placement = choices.send(outcome)
        except StopIteration as ended:
            another = bool(ended.value)
        finally:
            self._left_s -= time.monotonic() - began_s
            if not another:
                self._to_come.pop((asked.key, asked.number), None)
                self._note(asked, gains_of(made))
        return another

    def _note(self, asked: AskedRegion, gains: Sequence[Gain]) -> None:
        """Keep which mappings gained."""
        if len(gains) > 1 and (asked.process, asked.key) not in self._first:
            best_first = sorted(gains, key=lambda gain: (-(gain.speedup or 0.0), gain.mapping))
            self._first[asked.process, asked.key] = [gain.mapping for gain in best_first]
        for gain in gains[1:]:
            if (gain.speedup or 0.0) > 1:
                self._gained[gain.mapping] = max(gain.speedup or 0.0, self._gained.get(gain.mapping, 0.0))


def _prior(topology: Topology) -> Prior:
    """Return what is known of this computer, of the mappings that replays can apply."""

    def applies(mapping: Mapping) -> bool:
        return fits(resolve(mapping, topology))

    trained = trained_gains_path(topology.name, topology)
    return prior_of(topology.name, topology, trained, applies, modelled=False)


def _baseline(prior: Prior, topology: Topology) -> int:
    """Return the column of the mapping that the program runs under: all cores, or as many as OMP_NUM_THREADS asks."""
    asked = threads_asked(os.environ.get("OMP_NUM_THREADS"))
    default = default_mapping(topology)
    if asked is None or asked == default.threads:
        return prior.default
    nodes = min(asked, default.thread_nodes)
    if asked > topology.core_count:
        raise UsageError(
            f"OMP_NUM_THREADS is {asked} and this computer has {counted(topology.core_count, 'core')}: ask for at most "
            "as many"
        )
    return prior.nearest(canonical(Mapping(asked, nodes, "contiguous", nodes, "first-touch"), topology), topology)


def _notes(first: FirstRun, again: _Again, placement: Placement, budget_s: float, executable: str) -> Iterable[str]:
    captured = again.captured
    yield (
        f"baseline: {placement.mapping}; a replay is the median of three or more in a fork of the program, after its "
        "pages were copied and caches had time to fill, and as many after these were emptied (of long ones, one)"
    )
    if first.ending is None:
        yield f"{INTERRUPTED}; the times of regions are those until then"
    elif first.ending.timed_out:
        yield (
            f"the first run was ended after {first.ending.time_s:.0f} s, and its regions' times are those until then: "
            "the longer --seconds is, the longer it may take"
        )
    if first.ending is not None and again.code < 0:
        what = "interrupted" if again.code == -SIGINT else f"ended by {exit_and_signal(again.code)[1]}"
        yield f"the second run was {what}; the replays are those until then"
    if any(one.outcome.awake for region in captured for one in region.replays):
        yield (
            "some of the program's threads did not sleep during replays, and took processors from them: unset "
            "OMP_WAIT_POLICY=active and the like"
        )
    if any(one.cut for one in captured):
        yield f"{ENDED}: let it run to its end"
    if any(not one.replays and not one.cut for one in captured):
        yield f"the {budget_s:g} s for replays were used up: --seconds allows more"
    asks = team_facts((executable,)).asks.rstrip("_")
    if asks and captured:
        yield (
            f"it calls {asks}, and may go another way with another number of threads, which a replay does not: "
            "`run --mapping` measures it"
        )
    own = {one.asked.team for one in captured} - {0, placement.mapping.threads}
    if own:
        yield (
            f"some regions set their own number of threads ({', '.join(map(str, sorted(own)))}): only mappings with as "
            "many were replayed for them"
        )
