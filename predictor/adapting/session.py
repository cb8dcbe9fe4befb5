"""Run a program that is given other mappings while it runs, and say what came of it."""

import logging
import os
import secrets
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from numapredict.collect.binding import threads_asked
from numapredict.collect.host.host import describes_this_computer, host_topology
from numapredict.collect.host.work_folder import work_folder
from numapredict.collect.mapping import Mapping
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.adapt_table import AdaptResult, AdaptTable, read_result, result_path, write_table
from numapredict.collect.placing.balancing import balancing_is_on
from numapredict.collect.placing.child import end_like, run_child, signals_held
from numapredict.collect.placing.elf import preload_obstacle
from numapredict.collect.placing.executable import command_of, executable_of
from numapredict.collect.placing.placed_run_outcome import JSON, exit_and_signal, write_json
from numapredict.collect.placing.policies import memory_policies_refused
from numapredict.collect.placing.preload import PlacementFiles, adapting_environment
from numapredict.collect.placing.process import cannot_start
from numapredict.collect.placing.run_file import check_place
from numapredict.collect.placing.start import library_obstacle
from numapredict.collect.program import program_as_typed
from numapredict.collect.terminal.printable import printable
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidMappingError, NumapredictError, UsageError
from numapredict.native.library import placement_library
from numapredict.predictor.adapting.adapted import BASELINE, Adapted, TriedMapping, adapted_in_words, starts_next_run
from numapredict.predictor.adapting.candidates import candidate_columns
from numapredict.predictor.adapting.kept import Kept
from numapredict.predictor.adapting.places import in_place, pages_of
from numapredict.predictor.learning.model_choice import trained_gains_path
from numapredict.predictor.searching.prior import Prior, prior_of

QUIET_S = 1.0
"""Without any trial, from the start: most programs that short lose by one."""

_MOST_PROGRAMS = 1024  # native/placement/adapt/next_trial.h
_NOT_AGAIN = ("no gain", "cut short", "gone back")

log = logging.getLogger(__name__)


class Request(msgspec.Struct, frozen=True):
    """A command, the share of the time so far that trials may cost, and the file for the record."""

    command: tuple[str, ...]
    share: float = 0.05
    fresh: bool = False
    json: Path | None = None


class Columns(msgspec.Struct, frozen=True):
    """The mappings of a table but the baseline, in the order of its columns from 1 on, and the table."""

    labels: tuple[str, ...]
    table: AdaptTable

    def label(self, column: int) -> str:
        """Return a column's label, that of the baseline for 0."""
        return self.labels[column - 1] if 0 < column <= len(self.labels) else BASELINE


def share_of(text: str | None) -> float:
    """Return the share that a text such as 5% names, 5% without one; UsageError for no share between 0.1% and 50%."""
    if text is None:
        return Request(()).share
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0.001 <= share <= 0.5:
        raise UsageError(f"--budget-share is {printable(text)}: name a share from 0.1% to 50%, such as 5%")
    return share


def run_adapting(request: Request) -> int:
    """Run the program, report on it, and return its exit code, or end by its signal.

    Raises UnrunnableProgramError, UsageError and the errors of run_file before the program starts.
    """
    if request.json is not None:
        check_place(request.json, JSON)
    topology = host_topology()
    if not describes_this_computer():
        raise UsageError("--adapt is for this computer, and HWLOC_* variables describe another: unset them")
    program = program_as_typed(request.command)
    executable = executable_of(program)
    kept = Kept(program, topology, fresh=request.fresh)
    with work_folder() as folder:
        table_file, columns, environment = folder / "mappings", None, dict(os.environ)
        obstacle = _obstacle(executable, topology)
        if not obstacle:
            try:
                base = _base(topology)
                columns = _columns(request, topology, kept)
            except NumapredictError as error:
                obstacle = str(error)
            else:
                write_table(columns.table, base, table_file)
                files = PlacementFiles(adapt=str(table_file))
                environment = adapting_environment(
                    environment, base, str(placement_library()), files, secrets.token_hex(8)
                )
        cpus = tuple(sorted(os.sched_getaffinity(0)))
        began_s = time.perf_counter()
        with signals_held() as blocked:
            try:
                code = run_child(command_of(program), environment, cpus, blocked)
            except (OSError, ValueError) as error:
                raise cannot_start(program.command[0], error) from error
            time_s = time.perf_counter() - began_s
            result = AdaptResult(given_up=obstacle) if columns is None else _read(result_path(table_file))
            found = _adapted(request, topology, columns, kept, result)
            exit_code, signal = exit_and_signal(code)
            found = msgspec.structs.replace(found, time_s=time_s, exit_code=exit_code, signal=signal)
            for line in adapted_in_words(found):
                log.info(line)
            if request.json is not None:
                write_json(found, request.json)
    return end_like(code)


def _obstacle(executable: str, topology: Topology) -> str:
    """Return why the program is only run, as it is."""
    if len(topology.memory_nodes) == 1:
        return "this computer has one NUMA node"
    why = library_obstacle() or preload_obstacle(Path(executable), placement_library())
    return why or memory_policies_refused()


def _pus(topology: Topology) -> int:
    return sum(len(core.pus) for node in topology.nodes for core in node.cores)


def _base(topology: Topology) -> Placement:
    """Return the placement on all PUs whose slots the table's columns name."""
    nodes, each = len(topology.cpu_nodes), topology.threads_per_core
    base = resolve(Mapping(_pus(topology), nodes, "contiguous", nodes, "locality", each), topology)
    if set(base.pus) != os.sched_getaffinity(0):
        raise InvalidMappingError("the PUs that it may use are not all those of whole cores")
    return base


def _columns(request: Request, topology: Topology, kept: Kept) -> Columns:
    """Return the table for a program, by what is known of this computer."""
    threads = threads_asked(os.environ.get("OMP_NUM_THREADS")) or _pus(topology)

    def can_be_given(mapping: Mapping) -> bool:
        return in_place(mapping, threads)

    trained = trained_gains_path(topology.name, topology)
    prior = prior_of(topology.name, topology, trained, can_be_given, modelled=False)
    first = _baseline(prior, topology, threads)
    known = prior.over(first)
    allowed = [column for column, each in enumerate(prior.mappings) if can_be_given(each)]
    chosen = list(candidate_columns(known, first, allowed))
    labels = [mapping.label for mapping in prior.mappings]
    wanted = kept.found.mapping if kept.found is not None else None
    if wanted in labels and labels.index(wanted) not in chosen:
        chosen.append(labels.index(wanted))
    names = [BASELINE, *(labels[column] for column in chosen[1:])]
    heaviest = sorted(range(len(known.weights)), key=lambda row: -known.weights[row])[:_MOST_PROGRAMS]
    whole = float(sum(known.weights[row] for row in heaviest))
    rejected = () if kept.found is None else kept.found.rejected
    mappings = [prior.mappings[column] for column in chosen]
    table = AdaptTable(
        share=request.share,
        quiet_s=QUIET_S,
        columns=tuple(
            (resolve(mapping, topology), place)
            for mapping, place in list(zip(mappings, pages_of(mappings), strict=True))[1:]
        ),
        known=tuple(
            (float(known.weights[row]) / whole, tuple(float(known.gains[row, column]) for column in chosen))
            for row in heaviest
        ),
        start=names.index(wanted) if wanted in names[1:] else 0,
        closed=tuple(column for column, name in enumerate(names) if name in rejected),
        crowded_only=balancing_is_on(),
    )
    return Columns(tuple(names[1:]), table)


def _baseline(prior: Prior, topology: Topology, threads: int) -> int:
    """Return the column of the mapping that the program as it is resembles: as many threads, over all nodes."""
    default = prior.mappings[prior.default]
    if threads == default.threads:
        return prior.default
    nodes = min(len(topology.cpu_nodes), threads)
    each = -(-threads // topology.core_count)
    return prior.nearest(Mapping(threads, nodes, "scatter", nodes, "first-touch", each), topology)


def _read(path: Path) -> AdaptResult:
    try:
        return read_result(path)
    except NumapredictError as error:
        return AdaptResult(given_up=str(error))


def _adapted(request: Request, topology: Topology, columns: Columns | None, kept: Kept, result: AdaptResult) -> Adapted:
    """Return the record but for the run's end, and keep what was found."""
    trials = () if columns is None else tuple(_tried(columns, result))
    start = BASELINE if columns is None else columns.label(columns.table.start)
    label = columns.label(result.column) if columns is not None and (result.end or trials) else start
    before = () if kept.found is None else kept.found.rejected
    rejected = tuple(dict.fromkeys([*before, *(each.mapping for each in trials if each.outcome in _NOT_AGAIN)]))
    begins = starts_next_run(label, start, result.gain)
    is_kept = bool(trials) and kept.keep(label if begins else None, _without(rejected, label))
    return Adapted(
        command=request.command,
        machine=topology.name,
        start=start,
        mapping=label,
        speedup=2**result.gain,
        spent_s=result.spent_s,
        saved_s=result.saved_s,
        pages=result.pages,
        step_regions=result.regions,
        step_s=result.step_s,
        trials=trials,
        left_alone=result.given_up,
        kept=is_kept and begins,
        time_s=result.time_s,
        exit_code=0,
        signal=None,
        status="ended" if result.end or not trials else "cut off",
    )


def _without(labels: Sequence[str], label: str) -> tuple[str, ...]:
    return tuple(each for each in labels if each not in (label, BASELINE))


def _tried(columns: Columns, result: AdaptResult) -> list[TriedMapping]:
    return [
        TriedMapping(
            mapping=columns.label(each.column),
            before=columns.label(each.before),
            outcome=each.outcome,
            speedup=2**each.gain,
            cost_s=each.cost_s,
            at_s=each.at_s,
            steps=each.steps,
        )
        for each in result.trials
    ]
