"""Run a program under a mapping: in this process's place, or as a child that this process reports on at the end."""

import contextlib
import logging
import re
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from numapredict.collect.binding import mapping_on
from numapredict.collect.host.environment import NUMA_BALANCING
from numapredict.collect.host.facts.allocation_text import restriction_lines
from numapredict.collect.host.host import host_topology
from numapredict.collect.host.tasks import Tasks
from numapredict.collect.host.work_folder import require_room, work_folder
from numapredict.collect.page_policy import PROFILED
from numapredict.collect.placement import Placement
from numapredict.collect.placing.affinity import keep_to
from numapredict.collect.placing.balancing import SHARED, balancing_is_on, without_balancing
from numapredict.collect.placing.child import become, end_like, run_child, signals_held
from numapredict.collect.placing.command import applied
from numapredict.collect.placing.mapping_here import own_share, placement_of, ranks_here
from numapredict.collect.placing.page_plan import plan_of
from numapredict.collect.placing.placed_run_outcome import (
    JSON,
    PROFILE,
    Note,
    exit_and_signal,
    keep_profiles,
    note_all,
    placement_found,
    regions_found,
    write_json,
)
from numapredict.collect.placing.placed_run_record import ObservedPlacement, PlacedRun
from numapredict.collect.placing.placed_run_text import placement_in_words, plan_in_words
from numapredict.collect.placing.plan_file import Plan, check_fits, read_plan, write_plan
from numapredict.collect.placing.policies import page_queries_refused
from numapredict.collect.placing.preload import PlacementFiles
from numapredict.collect.placing.process import cannot_start
from numapredict.collect.placing.profile_file import read_profile
from numapredict.collect.placing.region_times import RegionTimes
from numapredict.collect.placing.region_times_text import left_out_in_words, regions_in_words
from numapredict.collect.placing.run_file import check_place, target
from numapredict.collect.placing.start import Start, start_of
from numapredict.collect.program import program_as_typed
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidInputError, UnwritableError, UsageError

log = logging.getLogger(__name__)


class RunOptions(msgspec.Struct, frozen=True):
    """What a run reports in addition to the program's output, and its inputs.

    ``profile`` and ``json`` are written, ``use_profile`` and ``plan`` read; ``balancing`` false switches the kernel's
    own page moving off.
    """

    verify: bool = False
    regions: bool = False
    profile: Path | None = None
    use_profile: Path | None = None
    plan: Path | None = None
    json: Path | None = None
    balancing: bool = True

    @property
    def stays(self) -> bool:
        """Return whether there is something to do after the program."""
        return self != RunOptions()


def run_placed(label: str | None, command: tuple[str, ...], options: RunOptions) -> int:
    """Run the program, placed, and return its exit code, or end by its signal; with nothing to report it is exec'ed.

    Without a label the mapping is that of the plan. Raises UnrunnableProgramError, InvalidMappingError,
    InvalidInputError and the errors of run_file before the program starts.
    """
    here = ranks_here()
    if here is not None:
        _check_files_of_one(options, here)
    said = _Said(here)
    note = said.note
    topology = host_topology()
    note_all(restriction_lines(topology), note)
    plan = None if options.plan is None else _fitting(options.plan, topology, label)
    if label is None:
        if plan is None:
            raise UsageError("name a --mapping, or a --plan, which has one")
        label = plan.mapping
    placement, named = _placement(topology, label, said)
    program = program_as_typed(command)
    with contextlib.ExitStack() as stack:
        files = PlacementFiles()
        if options.stays:
            folder = stack.enter_context(work_folder())
            files = _files(options, placement, folder, note)
        start = start_of(program, placement, files, near=True)
        note_all(_before(start, placement, options), note)
        try:
            if not options.stays:
                keep_to(start.cpus)
                become(start.command, start.environment)
            blocked = stack.enter_context(signals_held())
            began_s = time.perf_counter()
            with contextlib.nullcontext() if options.balancing else without_balancing(note, NUMA_BALANCING, SHARED):
                code = run_child(start.command, start.environment, start.cpus, blocked)
        except (OSError, ValueError) as error:
            raise cannot_start(command[0], error) from error
        time_s = time.perf_counter() - began_s
        if options.stays:
            note_all(_unwritten(folder), note)
        observed, regions = _found(options, start, files, (placement, plan), said)
        if options.json is not None:
            exit_code, signal = exit_and_signal(code)
            found = PlacedRun(
                command=command,
                mapping=named,
                machine=topology.name,
                placed_by=start.way,
                time_s=time_s,
                exit_code=exit_code,
                signal=signal,
                placement=observed,
                processes=regions or (),
                notes=tuple(said.notes),
            )
            write_json(found, options.json)
    return end_like(code)


def _files(options: RunOptions, placement: Placement, folder: Path, note: Note) -> PlacementFiles:
    """Return the files that the library is to read and write, with the plan written."""
    wanted = {PROFILE: options.profile, JSON: options.json}
    for what, path in wanted.items():
        if path is not None:
            check_place(path, what)
    plan = None
    if options.plan is not None:
        plan = options.plan.absolute()
    elif options.use_profile is not None:
        plan = _plan(options.use_profile, placement, folder / "plan", note)
    for profile in (options.profile, options.use_profile):
        if options.json is not None and profile is not None and _is_profiles(options.json, profile):
            raise InvalidInputError(f"{options.json} is the profile's file: name another for -o")
    return PlacementFiles(
        plan=None if plan is None else str(plan),
        report=str(folder / "regions") if options.regions or options.json is not None else None,
        profile=None if options.profile is None else str(folder / "profile"),
        work=options.regions or options.json is not None,
        forks=options.verify or options.regions or options.json is not None,
        map=str(folder / "map") if options.verify or options.json is not None else None,
    )


class _Said:
    """What a run says: of ranks that were started together the first says what is the same for all."""

    def __init__(self, here: Tasks | None) -> None:
        self.here = here
        self.notes: list[str] = []

    def note(self, line: str) -> None:
        """Keep a line for the record, and log it once."""
        self.notes.append(line)
        if self.here is None or self.here.rank == 0:
            log.info(line)

    def report(self, line: str) -> None:
        """Log a line about this process's own program."""
        log.info(line if self.here is None else f"rank {self.here.rank}: {line}")


def _placement(topology: Topology, label: str, said: _Said) -> tuple[Placement, str]:
    """Return what this process has of the placement that a label means, and its label in full."""
    placement, ranks = placement_of(topology, label)
    named = f"{placement.mapping}{ranks or ''}"
    if named != label:
        said.note(f"{label} is {named}")
    if said.here is None:
        return placement, named
    own = own_share(placement, ranks, said.here)
    return own, own.mapping.label


def _found(
    options: RunOptions, start: Start, files: PlacementFiles, placed: tuple[Placement, Plan | None], said: _Said
) -> tuple[ObservedPlacement | None, tuple[RegionTimes, ...] | None]:
    """Return the observed placement and regions of a run that has ended, and say what was asked for."""
    placement, plan = placed
    if start.way != "library":
        return None, None
    observed, regions = placement_found(files, placement, said.note, plan), regions_found(files)
    if options.verify and observed is not None:
        note_all(placement_in_words(observed, placement.mapping), said.report)
    if regions is not None:
        note_all(left_out_in_words(regions), said.note)
        if options.regions:
            note_all(regions_in_words(regions), said.report)
    if options.profile is not None:
        note_all(keep_profiles(files, options.profile), said.note)
    return observed, regions


def _check_files_of_one(options: RunOptions, here: Tasks) -> None:
    """Raise UsageError where each of several ranks would write the same file."""
    for path in (options.json, options.profile):
        if path is not None:
            raise UsageError(
                f"each of the {here.count} ranks here would write {path}: start numapredict run once, in front of"
                f" {here.starter}, or leave the file out"
            )


def _fitting(path: Path, topology: Topology, label: str | None) -> Plan:
    """Return a plan that is for this machine, for the program's files as they are, and for the mapping of this label.

    One without teams serves with other mappings, too, if these leave all else to first touch.
    """
    plan = read_plan(path)
    check_fits(plan, path, topology)
    own = plan.mapping if label is None else mapping_on(topology, label, None).label
    if own != plan.mapping:
        if plan.regions:
            raise InvalidInputError(
                f"{path} is a plan for mapping {plan.mapping}, and {own} has other threads or pages: leave out "
                "--mapping"
            )
        if not own.endswith("-first-touch"):
            raise InvalidInputError(
                f"--plan leaves what it does not place to first touch, and mapping {own} does not: name one that ends "
                "in -first-touch"
            )
    return plan


def _is_profiles(path: Path, profile: Path) -> bool:
    """Return whether a path is that of a profile, or of a further process's: PROFILE.2 and so on."""
    place, of = target(path, JSON), target(profile, PROFILE)
    return place.parent == of.parent and re.fullmatch(rf"{re.escape(of.name)}(\.\d+)?", place.name) is not None


def _plan(profile: Path, placement: Placement, path: Path, note: Note) -> Path | None:
    """Write the plan that a profile gives for the mapping; return its path, or None where it gives none."""
    known = read_profile(profile)
    mapping = placement.mapping
    if applied(placement).mapping.page_policy not in PROFILED:
        note(f"page policy {mapping.page_policy} places pages without a profile; {profile} is not used")
        return None
    plan = plan_of(known, placement)
    if not plan.ranges:  # the plan would leave every page to first touch
        note(f"{profile} has no samples; pages are moved at the next touch, as without it")
        return None
    write_plan(Plan(placement.topology.fingerprint, placement.topology.name, mapping.label, pages=plan), path)
    for line in plan_in_words(plan, known, mapping):
        note(line)
    return path


def _unwritten(folder: Path) -> Iterator[str]:
    """Return why files that the library writes while the program runs may be incomplete."""
    try:
        require_room(folder)
    except UnwritableError as error:
        yield f"what is reported of this run may be incomplete: {error}"


def _before(start: Start, placement: Placement, options: RunOptions) -> Iterator[str]:
    """Return the lines to log before the program starts: none where the mapping is applied exactly."""
    if start.overridden:
        yield f"the mapping overrides your environment: {start.overridden}"
    if start.obstacle:
        yield (
            f"the preload library cannot place {Path(start.command[len(start.numactl)]).name}: {start.obstacle}; its"
            " threads are placed by OMP_PLACES" + (", its pages by numactl" if start.numactl else "")
        )
        wanted = {"--verify": options.verify, "--regions": options.regions, "--profile": options.profile}
        read = {"--use-profile": options.use_profile, "--plan": options.plan}
        lost = [name for name, value in {**wanted, **read}.items() if value]
        if options.json is not None:
            lost.append("what -o says of threads, pages and regions")
        if lost:
            yield f"left out without the library: {', '.join(lost)}"
    yield from start.doubts
    if (options.verify or options.json is not None) and (unseen := page_queries_refused()):
        yield (
            f"this system does not show where pages are ({unseen}): only threads are verified; run outside the"
            " container or give it the capability SYS_NICE"
        )
    unguarded = start.way == "numactl" and applied(placement).mapping.page_policy == "first-touch"
    if unguarded and options.balancing and len(placement.topology.memory_nodes) > 1 and balancing_is_on():
        yield "automatic NUMA balancing is on and may move its pages; --no-numa-balancing switches it off for the run"
