"""Run a program that is given other mappings while it runs, and say what came of it."""

import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from numapredict.collect.host.given_environment import given_environment
from numapredict.collect.host.host import describes_this_computer, host_topology
from numapredict.collect.host.work_folder import work_folder
from numapredict.collect.measuring.disturbance import snapshot
from numapredict.collect.measuring.quiet import others_since
from numapredict.collect.placing.adapt_table import AdaptResult, read_result, result_path, write_table
from numapredict.collect.placing.child import end_like, run_child, signals_held
from numapredict.collect.placing.claims import claims_file
from numapredict.collect.placing.elf import preload_obstacle
from numapredict.collect.placing.executable import command_of, executable_of
from numapredict.collect.placing.policies import memory_policies_refused
from numapredict.collect.placing.preload import PlacementFiles, adapting_environment
from numapredict.collect.placing.process import cannot_start, exit_and_signal
from numapredict.collect.placing.run_file import JSON, check_place, write_json
from numapredict.collect.placing.start import library_obstacle
from numapredict.collect.program import program_as_typed
from numapredict.collect.terminal.printable import printable
from numapredict.collect.topology import Topology
from numapredict.native.errors import NumapredictError, UsageError
from numapredict.native.library import placement_library
from numapredict.predictor.adapting.adapted import (
    BASELINE,
    Adapted,
    TeamOfRegion,
    TriedMapping,
    adapted_in_words,
    starts_next_run,
)

if TYPE_CHECKING:
    from numapredict.predictor.adapting.columns import Columns
    from numapredict.predictor.adapting.kept import Kept, KeptTeam

_NOT_AGAIN = ("no gain", "cut short", "gone back")

log = logging.getLogger(__name__)


class Request(msgspec.Struct, frozen=True):
    """A command, the share of the time so far that trials may cost, and the file for the record."""

    command: tuple[str, ...]
    share: float = 0.05
    fresh: bool = False
    json: Path | None = None


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
    obstacle = _obstacle(executable, topology)
    with work_folder() as folder:
        table_file, columns, kept, environment = folder / "mappings", None, None, given_environment()
        if not obstacle:
            from numapredict.predictor.adapting.columns import base_of, columns_of
            from numapredict.predictor.adapting.kept import Kept

            kept = Kept(program, topology, fresh=request.fresh)
            try:
                base = base_of(topology)
                columns = columns_of(request.share, topology, kept)
            except NumapredictError as error:
                obstacle = str(error)
            else:
                write_table(columns.table, base, table_file)
                files = PlacementFiles(adapt=str(table_file), claims=str(claims_file()))
                environment = adapting_environment(environment, base, str(placement_library()), files)
        cpus = tuple(sorted(os.sched_getaffinity(0)))
        watched = cpus if columns is not None else ()  # without mappings nothing is tried, and nothing claimed
        begun = snapshot(watched)
        with signals_held() as blocked:
            try:
                code = run_child(command_of(program), environment, cpus, blocked)
            except (OSError, ValueError) as error:
                raise cannot_start(program.command[0], error) from error
            time_s, busy = time.perf_counter() - begun.at_s, others_since(begun, watched)
            result = AdaptResult(given_up=obstacle) if columns is None else _read(result_path(table_file))
            found = _adapted(request, topology, columns, None if busy else kept, result)
            exit_code, signal = exit_and_signal(code)
            found = msgspec.structs.replace(
                found, time_s=time_s, exit_code=exit_code, signal=signal, disturbed=busy if found.trials else ""
            )
            for line in adapted_in_words(found):
                log.info(line)
            if request.json is not None:
                write_json(found, request.json)
    return end_like(code)


def _obstacle(executable: str, topology: Topology) -> str:
    """Return why the program is only run, as it is."""
    if topology.pu_count == 1:
        return "it may use one hardware thread: there is nothing to choose"
    why = library_obstacle() or preload_obstacle(Path(executable), placement_library())
    return why or memory_policies_refused()


def _read(path: Path) -> AdaptResult:
    try:
        return read_result(path)
    except NumapredictError as error:
        return AdaptResult(given_up=str(error))


def _adapted(
    request: Request, topology: Topology, columns: "Columns | None", kept: "Kept | None", result: AdaptResult
) -> Adapted:
    """Return the record but for the run's end, and keep what was found."""
    trials = () if columns is None else tuple(_tried(columns, result))
    start = BASELINE if columns is None else columns.label(columns.table.start)
    label = columns.label(result.column) if columns is not None and (result.end or trials) else start
    before = () if kept is None or kept.found is None else kept.found.rejected
    rejected = tuple(dict.fromkeys([*before, *(each.mapping for each in trials if each.outcome in _NOT_AGAIN)]))
    begins = starts_next_run(label, start, result.gain)
    regions = () if columns is None else _teams(columns, result)
    is_kept = (
        kept is not None and bool(trials) and kept.keep(label if begins else None, _without(rejected, label), regions)
    )
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
        kept=is_kept and (begins or any(each.team for each in regions)),
        time_s=result.time_s,
        exit_code=0,
        signal=None,
        status="ended" if result.end or not trials else "cut off",
        regions=tuple(TeamOfRegion(each.key, each.team) for each in regions if each.team),
    )


def _teams(columns: "Columns", result: AdaptResult) -> "tuple[KeptTeam, ...]":
    """Return what each region has at the end: what this run found, and what it began with."""
    from numapredict.predictor.adapting.kept import KeptTeam

    known = {each.key: each.team for each in (*columns.table.regions, *result.teams)}
    return tuple(KeptTeam(key, columns.team(team)) for key, team in known.items())


def _without(labels: Sequence[str], label: str) -> tuple[str, ...]:
    return tuple(each for each in labels if each not in (label, BASELINE))


def _tried(columns: "Columns", result: AdaptResult) -> list[TriedMapping]:
    return [
        TriedMapping(
            mapping=columns.label(each.column),
            before=columns.label(each.before),
            outcome=each.outcome,
            speedup=2**each.gain,
            cost_s=each.cost_s,
            at_s=each.at_s,
            steps=each.steps,
            turns=each.turns,
            teams=each.teams,
        )
        for each in result.trials
    ]
