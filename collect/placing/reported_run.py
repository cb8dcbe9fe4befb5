"""A placed run that reports: the program is a child, and where its threads, pages and time went is said at its end."""

import contextlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

from numapredict.collect.binding import mapping_on
from numapredict.collect.host.environment import NUMA_BALANCING
from numapredict.collect.host.facts.allocation_text import restriction_lines
from numapredict.collect.host.host import host_topology
from numapredict.collect.host.tasks import Tasks
from numapredict.collect.host.work_folder import require_room, work_folder
from numapredict.collect.page_policy import PROFILED
from numapredict.collect.placement import Placement
from numapredict.collect.placing.balancing import SHARED, without_balancing
from numapredict.collect.placing.child import end_like, run_child, signals_held
from numapredict.collect.placing.command import applied
from numapredict.collect.placing.mapping_here import placement_here, ranks_here
from numapredict.collect.placing.page_plan import plan_of
from numapredict.collect.placing.placed_run_outcome import PROFILE, keep_profiles, placement_found, regions_found
from numapredict.collect.placing.placed_run_record import ObservedPlacement, PlacedRun
from numapredict.collect.placing.placed_run_text import placement_in_words, plan_in_words
from numapredict.collect.placing.plan_file import Plan, check_fits, read_plan, write_plan
from numapredict.collect.placing.preload import PlacementFiles
from numapredict.collect.placing.process import cannot_start, exit_and_signal
from numapredict.collect.placing.profile_file import read_profile
from numapredict.collect.placing.region_times import RegionTimes
from numapredict.collect.placing.region_times_text import left_out_in_words, regions_in_words
from numapredict.collect.placing.run_file import JSON, check_place, target, write_json
from numapredict.collect.placing.run_notes import Note, RunNotes, note_all
from numapredict.collect.placing.run_options import RunOptions
from numapredict.collect.placing.start import Start, start_of
from numapredict.collect.placing.start_text import start_in_words
from numapredict.collect.placing.unseen_libraries import unseen_libraries
from numapredict.collect.program import program_as_typed
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidInputError, UnwritableError, UsageError


def run_reported(label: str | None, command: tuple[str, ...], options: RunOptions) -> int:
    """Run the program, placed, as a child; report, and return its exit code, or end by its signal.

    Raises as run_placed does.
    """
    here = ranks_here()
    if here is not None:
        _check_files_of_one(options, here)
    said = RunNotes(here)
    note = said.note
    topology = host_topology()
    note_all(restriction_lines(topology), note)
    plan = None if options.plan is None else _fitting(options.plan, topology, label)
    if label is None:
        if plan is None:
            raise UsageError("name a --mapping, or a --plan, which has one")
        label = plan.mapping
    placement, named = placement_here(topology, label, said)
    program = program_as_typed(command)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(work_folder())
        files = _files(options, placement, folder, note)
        start = start_of(program, placement, files, near=True)
        note_all(start_in_words(start, placement, options), note)
        blocked = stack.enter_context(signals_held())
        began_s = time.perf_counter()
        try:
            with contextlib.nullcontext() if options.balancing else without_balancing(note, NUMA_BALANCING, SHARED):
                code = run_child(start.command, start.environment, start.cpus, blocked)
        except (OSError, ValueError) as error:
            raise cannot_start(command[0], error) from error
        time_s = time.perf_counter() - began_s
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


def _found(
    options: RunOptions, start: Start, files: PlacementFiles, placed: tuple[Placement, Plan | None], said: RunNotes
) -> tuple[ObservedPlacement | None, tuple[RegionTimes, ...] | None]:
    """Return the observed placement and regions of a run that has ended, and say what was asked for."""
    placement, plan = placed
    if start.way != "library":
        return None, None
    note_all(unseen_libraries(files), said.note)
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
