"""Run a characterisation: plan its mappings, run them as a campaign, and evaluate the measurements."""

import datetime
import logging
import re
from pathlib import Path

import msgspec

from numapredict.collect.campaign.campaign import Campaign, Options
from numapredict.collect.campaign.characterisation.plan import CharacterisationPlan, plan_of
from numapredict.collect.campaign.characterisation.result import Characterisation, characterisation_of
from numapredict.collect.campaign.machine_choice import modelled_machine, this_computer
from numapredict.collect.campaign.request import made_by, say_estimate, warn_of
from numapredict.collect.data.dataset import DESCRIPTION_FILE, TABLE_FILE, read_dataset
from numapredict.collect.data.journal import JOURNAL_FILE, read_journal
from numapredict.collect.host.durable import refused_as
from numapredict.collect.host.environment import emulation
from numapredict.collect.host.topology_text import shape_of
from numapredict.collect.machine import Machine
from numapredict.collect.measuring.stopping_rule import stopping_rule_of
from numapredict.collect.modelled.tracing import TraceBudget, check_program
from numapredict.collect.page_policy import PagePolicy
from numapredict.collect.placing.executable import executable_of
from numapredict.collect.program import Program, program_of
from numapredict.collect.terminal.estimated_time import in_words
from numapredict.collect.terminal.printable import counted
from numapredict.native.errors import (
    FailedRunsError,
    InvalidInputError,
    UnrunnableProgramError,
    UsageError,
)

RUNS_FOLDER = "runs"
_CENSUS_PART = 0.1

log = logging.getLogger(__name__)


class CharacterisationRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to characterise and how, as a command line gives it; empty means the default.

    ``budget_s`` bounds what a modelled machine traces, in seconds for all traces together; ``fresh`` forgets runs that
    an earlier characterisation of the folder has finished; ``strict`` refuses a program that ends with an exit code
    other than 0.
    """

    command: tuple[str, ...]
    machine: str | None = None
    folder: Path | None = None
    threads: tuple[int, ...] = ()
    page_policies: tuple[PagePolicy, ...] = ()
    no_smt: bool = False
    budget_s: float | None = None
    repetitions: int = 5
    fresh: bool = False
    retry_failed: bool = False
    strict: bool = False


def characterise_command(request: CharacterisationRequest) -> tuple[Characterisation, Path]:
    """Return the characterisation that a command line requests, and the folder for its results.

    Raises a NumapredictError, with one clear line, for a program, machine or folder that cannot be used.
    """
    program = program_of(request.command)
    machine: Machine
    if request.machine is None:
        executable = executable_of(program)
        machine = this_computer(stopping_rule_of(request.repetitions), strict=request.strict)
        plan = plan_of(machine.topology, request.threads, request.page_policies, smt=not request.no_smt)
    else:
        executable = check_program(program)
        described = modelled_machine(request.machine)
        plan = plan_of(described.topology, request.threads, request.page_policies, smt=not request.no_smt)
        budget = budget_of(request.budget_s, len({*plan.thread_counts, *described.threads_for_cycles}))
        machine = modelled_machine(request.machine, budget, strict=request.strict)
    log.info(f"{machine.name}{', modelled' if machine.modelled else ''}: {shape_of(machine.topology)}")
    if not machine.modelled and emulation():
        log.warning(f"this computer is emulated by {emulation()}: its times mean nothing")
    folder = request.folder or default_folder(program, machine.name)
    if request.fresh:
        forget(folder)
    check_unchanged(Path(executable), folder)
    campaign = campaign_of(program, machine, plan, folder, retry_failed=request.retry_failed)
    log.info(work_in_words(campaign))
    return characterise(campaign, plan), folder


def campaign_of(
    program: Program, machine: Machine, plan: CharacterisationPlan, folder: Path, *, retry_failed: bool = False
) -> Campaign:
    """Return the campaign that runs a plan; its journal and dataset are in a folder below ``folder``."""
    options = Options(retry_failed=retry_failed)
    return Campaign(machine, folder / RUNS_FOLDER, (program,), plan.mappings, made_by(), options)


def characterise(campaign: Campaign, plan: CharacterisationPlan) -> Characterisation:
    """Run what is left of a campaign of one program and return its characterisation.

    Raises UnrunnableProgramError where the machine refuses the program, and FailedRunsError where every run failed.
    """
    (program,) = campaign.programs
    summary = campaign.run()
    for name, reason in summary.refused:
        raise UnrunnableProgramError(f"{name} cannot be characterised on {campaign.machine.name}: {reason}")
    dataset = campaign.finish()
    found = characterisation_of(program, campaign.machine.topology, plan, dataset.measurements)
    found = msgspec.structs.replace(found, controllers_GBps=campaign.machine.controllers_GBps)
    failed = [run for run in found.runs if run.status != "ok"]
    if len(failed) == len(found.runs):
        raise FailedRunsError(f"{program.name}: all {len(failed)} runs failed, the first with: {failed[0].message}")
    if failed:
        log.warning(f"{len(failed)} runs failed and are left out; --retry-failed runs them again")
    warn_of(dataset.measurements)
    return found


def budget_of(budget_s: float | None, traces: int) -> TraceBudget:
    """Return the tracing budget for a census and ``traces`` traces; the default budget where ``budget_s`` is None."""
    if budget_s is None:
        return TraceBudget()
    return TraceBudget(census_s=budget_s * _CENSUS_PART, trace_s=budget_s * (1 - _CENSUS_PART) / traces)


def work_in_words(campaign: Campaign) -> str:
    """Return how many runs there are and how long they, or the traces that they need, may take."""
    todo = campaign.plan()
    (program,) = campaign.programs
    mappings = [mapping for batch in todo.batches for mapping in batch.mappings]
    traces = campaign.machine.traces_to_take(program, mappings)
    if traces is None:
        return say_estimate(campaign)
    if not todo.runs:
        return f"all {todo.finished} mappings were finished earlier"
    earlier = f", {todo.finished} finished earlier" if todo.finished else ""
    text = f"{todo.runs} mappings to do{earlier}"
    if not traces.threads:
        return f"{text}; the traces that they need are there"
    some = f"{counted(len(traces.threads), 'trace')} ({', '.join(map(str, traces.threads))} threads)"
    return f"{text}; {some}, at most {in_words(traces.most_s)} in all"


def default_folder(program: Program, machine: str) -> Path:
    """Return the folder, in the current one, of a program's characterisation on a machine."""
    words = (re.sub(r"[^\w.-]+", "-", text).strip("-.") or "x" for text in (program.name, machine))
    return Path("-on-".join(words))


def forget(folder: Path) -> None:
    """Remove the runs of an earlier characterisation."""
    for name in (JOURNAL_FILE, DESCRIPTION_FILE, TABLE_FILE):
        path = folder / RUNS_FOLDER / name
        with refused_as(f"cannot remove {path}", InvalidInputError):
            path.unlink(missing_ok=True)


def check_unchanged(executable: Path, folder: Path) -> None:
    """Raise UsageError where a program was rebuilt after its kept runs."""
    runs = folder / RUNS_FOLDER
    header = read_journal(runs / JOURNAL_FILE).header
    if header is None and not (runs / DESCRIPTION_FILE).exists():
        return
    created = header.created if header else read_dataset(runs).created
    try:
        begun_s = datetime.datetime.fromisoformat(created).timestamp()
        changed = int(executable.stat().st_mtime) > begun_s
    except (OSError, ValueError):
        return  # another form of command, or a file that may be run but not read: nothing to compare
    if changed:
        raise UsageError(
            f"{executable} is newer than its runs in {runs}; --fresh runs all again, --output names another folder"
        )
