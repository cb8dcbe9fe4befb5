"""From a command line's request to a campaign that can run."""

import logging
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from numapredict.collect.binding import mapping_on
from numapredict.collect.campaign.campaign import Campaign, Options
from numapredict.collect.campaign.cere import Cere
from numapredict.collect.campaign.codelets import CAMPAIGN_SIZES, INITIALISATIONS, codelet_programs
from numapredict.collect.campaign.job_array import JobArray, checked_time_limit, time_limit_for, without_options
from numapredict.collect.campaign.listed_regions import region_programs, without_repeats
from numapredict.collect.campaign.machine_choice import modelled_machine, this_computer
from numapredict.collect.campaign.plan import Estimate
from numapredict.collect.campaign.shard import Shard
from numapredict.collect.campaign.sharded_campaign import ShardedCampaign
from numapredict.collect.capturing.region_machine import RegionMachine
from numapredict.collect.data.dataset import Dataset
from numapredict.collect.machine import Machine
from numapredict.collect.mapping import Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.measuring.hardware import HardwareMachine
from numapredict.collect.measuring.repetitions import disturbed_in_words
from numapredict.collect.measuring.stopping_rule import stopping_rule_of
from numapredict.collect.modelled.native_cycles import native_cycles_in_words
from numapredict.collect.modelled.seen_regions import compared_in_words
from numapredict.collect.placing.exit_code import exit_codes_in_words
from numapredict.collect.program import Program, name_with_arguments, program_of
from numapredict.collect.space import canonical, subset
from numapredict.collect.terminal.estimated_time import in_words
from numapredict.collect.terminal.printable import command_line, counted
from numapredict.native.errors import FailedRunsError, UsageError

LEAST_COVERAGE = 1.0  # percent of the run time: what CERE itself calls worth extracting
REPLAYS = 10  # of a region in one run, as CERE does it

_OF_THE_SCRIPT = ("--emit", "--time-limit")

log = logging.getLogger(__name__)
_TRACES = logging.getLogger("numapredict.collect.modelled.trace_store")


class CampaignRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What to measure and how, as a command line gives it; empty means all, or the default.

    ``commands`` are the user's programs, each a command with its arguments in one text, split as a shell would but
    never passed to one; ``region_files`` list regions of theirs, each of which is a program; ``cere_folders`` hold
    applications whose ``regions`` CERE replays. With any of these, codelets run only if named. ``no_smt`` leaves out
    the mappings of ``space`` with several threads on a core.
    """

    machine: str | None = None
    codelets: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    initialisations: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    region_files: tuple[Path, ...] = ()
    cere_folders: tuple[Path, ...] = ()
    regions: tuple[str, ...] = ()
    invocation: int = 1
    space: str = "full"
    no_smt: bool = False
    labels: tuple[str, ...] = ()
    jobs: int = 1
    scheduler: str | None = None
    repetitions: int = 5
    retry_failed: bool = False
    strict: bool = False


class CampaignSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What a campaign's folder holds when it has ended, as `--json` prints it."""

    folder: str
    machine: str
    modelled: bool
    programs: int
    measurements: int
    failed: int


def summary_of(dataset: Dataset, folder: Path) -> CampaignSummary:
    """Return what a campaign's dataset holds."""
    return CampaignSummary(
        folder=str(folder),
        machine=dataset.machine,
        modelled=dataset.modelled,
        programs=len(dataset.programs),
        measurements=len(dataset.measurements),
        failed=sum(measurement.status != "ok" for measurement in dataset.measurements),
    )


def summary_in_words(summary: CampaignSummary) -> str:
    """Return in a line what a campaign's folder holds."""
    return f"{summary.folder}: {counted(summary.measurements, 'measurement')} of {counted(summary.programs, 'program')}"


def prepare(request: CampaignRequest, folder: Path) -> Campaign:
    """Return the campaign that a request describes; nothing is run or written."""
    machine: Machine
    if request.machine:
        machine = modelled_machine(request.machine, strict=request.strict)
    else:
        machine = this_computer(stopping_rule_of(request.repetitions), strict=request.strict)
    if machine.modelled and request.region_files:
        raise UsageError("--regions-of is for this computer, where regions are replayed: leave out --machine")
    if not machine.modelled and request.jobs > 1:
        raise UsageError("--jobs is for modelled machines: programs that run at the same time disturb each other")
    if not machine.modelled and request.scheduler is not None:
        raise UsageError("--scheduler is for modelled machines: by the clock, many nodes collect with --shards")
    topology = machine.topology
    mappings: tuple[Mapping, ...]
    if request.labels:
        mappings = tuple(dict.fromkeys(canonical(mapping_on(topology, label), topology) for label in request.labels))
    else:
        mappings = subset(request.space, topology, smt=not request.no_smt)
    regions = without_repeats([program for path in request.region_files for program in region_programs(path)])
    programs = _own_programs(request.commands) + regions + _replayed(request)
    if request.codelets or not (request.commands or request.region_files or request.cere_folders):
        initialisations = request.initialisations or INITIALISATIONS
        programs += codelet_programs(request.codelets, request.sizes or CAMPAIGN_SIZES, initialisations)
    if isinstance(machine, HardwareMachine) and regions:
        limit_s = machine.conditions.timeout_s
        whole = this_computer(1, warm_up=0, timeout_s=limit_s, strict=request.strict, region_times=True)
        machine = RegionMachine(machine, whole, request.repetitions)
    options = Options(jobs=request.jobs, retry_failed=request.retry_failed, scheduler=request.scheduler)
    return Campaign(machine, folder, programs, mappings, made_by(), options)


def prepare_shard(request: CampaignRequest, folder: Path, shard: Shard) -> ShardedCampaign:
    """Return a shard of the campaign that a request describes; nothing is run or written."""
    whole = prepare(request, folder)
    own = shard.programs_of(whole.programs)
    return ShardedCampaign(whole.machine, folder, own, whole.mappings, whole.made_by, whole.options, shard=shard)


def job_script(request: CampaignRequest, folder: Path, shards: int, time_limit: str | None) -> str:
    """Return the job script that collects in shards; without a time limit, twice the longest shard's estimate.

    The estimate is of this computer, which need not be like the nodes.
    """
    if time_limit is None:
        time_limit = time_limit_for(prepare_shard(request, folder, Shard(0, 1)).longest_shard_s(shards))
        if request.machine is None:
            log.info(
                f"--time={time_limit} is an estimate for this computer: if the nodes are others, give --time-limit"
            )
    array = JobArray(
        shards=shards, time_limit=checked_time_limit(time_limit), cpus=request.jobs if request.machine else None
    )
    return array.script(["numapredict", *without_options(sys.argv[1:], _OF_THE_SCRIPT)])


def say_estimate(campaign: Campaign) -> str:
    """Return in words how many runs a campaign has left and how long they will take."""
    return estimate_in_words(campaign.estimate())


def estimate_in_words(estimate: Estimate) -> str:
    """Return an estimate in words."""
    impossible = counted(estimate.unsupported, "mapping")
    left_out = f", {impossible} left out (not possible here)" if estimate.unsupported else ""
    finished = f", {estimate.finished} finished earlier" if estimate.finished else ""
    return f"{counted(estimate.runs, 'run')} to do{finished}{left_out}: {in_words(estimate.time_s)}, {estimate.basis}"


def run_campaign(campaign: Campaign) -> Dataset:
    """Run a campaign to its end, and write and return its dataset; the steps of its traces are not logged.

    Raises FailedRunsError, with the dataset written, where every run failed.
    """
    before = _TRACES.level
    _TRACES.setLevel(logging.WARNING)  # several lines a program would hide the campaign's progress
    try:
        summary = campaign.run()
    finally:
        _TRACES.setLevel(before)
    for program, reason in summary.refused:
        log.warning(f"left out {program}: {reason}")
    if summary.failed:
        failed = counted(summary.failed, "run")
        log.warning(f"{failed} failed; the dataset says how, --retry-failed runs what failed again")
    dataset = campaign.finish()
    warn_of(dataset.measurements)
    if summary.failed and summary.failed == summary.finished:
        why = next((m.message or m.status for m in dataset.measurements if m.status != "ok"), "failed")
        raise FailedRunsError(f"{campaign.folder}: all {summary.failed} runs failed, the first with: {why}")
    return dataset


def warn_of(measurements: Sequence[Measurement]) -> None:
    """Log programs' own cycles, exit codes other than 0, traces that saw different regions, and disturbed runs."""
    for line in native_cycles_in_words(measurements):
        log.info(line)
    for notes in (exit_codes_in_words, compared_in_words, disturbed_in_words):
        for line in notes(measurements):
            log.warning(line)


def made_by() -> str:
    """Return the command that is running, without the path of the interpreter or the tool."""
    return command_line(["numapredict", *sys.argv[1:]])


def _replayed(request: CampaignRequest) -> tuple[Program, ...]:
    programs: tuple[Program, ...] = ()
    for folder in request.cere_folders:
        cere = Cere(folder)
        known = cere.regions()
        missing = [name for name in request.regions if name not in {region.name for region in known}]
        if missing:
            raise UsageError(
                f"CERE knows no region {missing[0]!r} in {folder}; numapredict collect regions {folder} lists them"
            )
        hot = [region.name for region in known if region.coverage is None or region.coverage >= LEAST_COVERAGE]
        programs += cere.programs(request.regions or hot, request.invocation, REPLAYS)
    if request.cere_folders and not programs:
        raise UsageError(f"CERE finds no region of {LEAST_COVERAGE:g}% of the run time; name one with --region")
    return programs


def _own_programs(commands: tuple[str, ...]) -> tuple[Program, ...]:
    programs = []
    for text in commands:
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise UsageError(f"--program {text!r}: {error}; quote it as for a shell") from None
        if not words:
            raise UsageError("--program is empty; give a command with its arguments")
        programs.append(program_of(words, name_with_arguments(words)))
    return tuple(programs)
