"""Run a program under a mapping: in this process's place, or as a child that this process reports on at the end."""

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from numapredict.collect.allocation_text import restriction_lines
from numapredict.collect.environment import NUMA_BALANCING
from numapredict.collect.host import host_topology
from numapredict.collect.machines.affinity import keep_to
from numapredict.collect.machines.balancing import SHARED, balancing_is_on, without_balancing
from numapredict.collect.machines.child import become, end_like, run_child, signals_held
from numapredict.collect.machines.command import applied
from numapredict.collect.machines.errors import UnrunnableProgramError
from numapredict.collect.machines.placed_pages import read_map
from numapredict.collect.machines.preload import PlacementFiles, processes_files
from numapredict.collect.machines.process import signal_name
from numapredict.collect.machines.region_times import RegionTimes, read_region_times
from numapredict.collect.machines.start import Start, start_of
from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.page_plan import PLANNED, plan_of
from numapredict.collect.plan_file import write_plan
from numapredict.collect.profile_file import is_profile, read_profile
from numapredict.collect.program import program_as_typed
from numapredict.collect.space import check
from numapredict.collect.topology import Topology
from numapredict.native.errors import NumapredictError
from numapredict.predictor.placed_run_record import PlacedRun, Placement, json_of, placement_of
from numapredict.predictor.placed_run_text import placement_in_words, plan_in_words, profile_in_words, regions_in_words
from numapredict.predictor.run_file import InvalidRunFileError, check_place, put, target

Say = Callable[[str], None]
PROFILE, JSON = "profile", "JSON file"


class RunOptions(msgspec.Struct, frozen=True):
    """What a run reports beside the program's own output, and what it is steered by.

    ``profile`` and ``json`` are written and ``use_profile`` read; ``balancing`` false switches the kernel's own page
    moving off.
    """

    verify: bool = False
    regions: bool = False
    profile: Path | None = None
    use_profile: Path | None = None
    json: Path | None = None
    balancing: bool = True

    @property
    def stays(self) -> bool:
        """Return whether there is something to do after the program."""
        return self != RunOptions()


def run_placed(label: str, command: tuple[str, ...], options: RunOptions, say: Say) -> int:
    """Run the program, placed, and return its exit code, or end by its signal; not at all where it can be replaced.

    ``say`` gets each line that is not the program's. Raises UnrunnableProgramError, InvalidLabelError,
    InvalidMappingError, InvalidProfileError and the errors of run_file before the program starts.
    """
    notes: list[str] = []

    def note(line: str) -> None:
        notes.append(line)
        say(line)

    topology = host_topology()
    for line in restriction_lines(topology):
        note(line)
    mapping = parse_label(label)
    check(mapping, topology)
    program = program_as_typed(command)
    with contextlib.ExitStack() as stack:
        files = PlacementFiles()
        if options.stays:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="numapredict-")))
            files = _files(options, mapping, topology, folder, note)
        start = start_of(program, mapping, topology, files, near=True)
        for line in _before(start, mapping, topology, options):
            note(line)
        try:
            if not options.stays:
                keep_to(start.cpus)
                become(start.command, start.environment)
            blocked = stack.enter_context(signals_held())
            began_s = time.perf_counter()
            with contextlib.nullcontext() if options.balancing else without_balancing(note, NUMA_BALANCING, SHARED):
                code = run_child(start.command, start.environment, start.cpus, blocked)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise UnrunnableProgramError(f"cannot start {command[0]}: {reason}; check the program") from error
        time_s = time.perf_counter() - began_s
        placement, regions = None, None
        if start.way == "library":
            placement, regions = _placement(files, mapping, topology, note), _regions(files)
            _tell(options, mapping, placement, regions, say)
            if options.profile is not None:
                for line in _keep_profiles(Path(str(files.profile)), options.profile):
                    note(line)
        if options.json is not None:
            found = PlacedRun(
                command=command,
                mapping=mapping.label,
                machine=topology.name,
                placed_by=start.way,
                time_s=time_s,
                exit_code=code if code >= 0 else 128 - code,
                signal=signal_name(-code) if code < 0 else None,
                placement=placement,
                processes=regions or (),
                notes=tuple(notes),
            )
            try:
                put(options.json, JSON, json_of(found))
            except (OSError, NumapredictError) as error:  # the program's exit code is worth more than ours
                say(f"{JSON}: {error}")
    return end_like(code)


def _files(options: RunOptions, mapping: Mapping, topology: Topology, folder: Path, say: Say) -> PlacementFiles:
    """Return the files that the library is to read and write, with the plan written."""
    wanted = {PROFILE: options.profile, JSON: options.json}
    for what, path in wanted.items():
        if path is not None:
            check_place(path, what)
    plan = None
    if options.use_profile is not None:
        plan = _plan(options.use_profile, mapping, topology, folder / "plan", say)
    other = options.profile or options.use_profile
    if options.json is not None and other is not None and target(options.json, JSON) == target(other, PROFILE):
        raise InvalidRunFileError(f"{options.json} is to hold the profile: name another file for --json")
    return PlacementFiles(
        plan=None if plan is None else str(plan),
        report=str(folder / "regions") if options.regions or options.json is not None else None,
        profile=None if options.profile is None else str(folder / "profile"),
        map=str(folder / "map") if options.verify or options.json is not None else None,
    )


def _plan(profile: Path, mapping: Mapping, topology: Topology, path: Path, say: Say) -> Path | None:
    """Write the plan that a profile gives for the mapping; return its path, or None where it gives none."""
    known = read_profile(profile)
    if applied(mapping, topology).page_policy not in PLANNED:
        say(f"page policy {mapping.page_policy} places pages without a profile; {profile} is not used")
        return None
    plan = plan_of(known, mapping, topology)
    if not plan.ranges:  # a plan would leave every page to first touch
        say(f"{profile} has no samples; pages are moved at the next touch, as without it")
        return None
    write_plan(plan, path)
    for line in plan_in_words(plan, known, mapping):
        say(line)
    return path


def _keep_profiles(written: Path, wanted: Path) -> Iterator[str]:
    """Put the profile of each process where the user wants it: FILE, FILE.2 and so on; return what they hold."""
    profiles = [path for path in processes_files(written) if path.stat().st_size]
    if not profiles:
        yield "profile: none was written"
        return
    if len(profiles) > 1:
        yield f"profile: {len(profiles)} programs had parallel regions: a profile of each, in order of writing"
    for number, path in enumerate(profiles, 1):
        to = wanted if number == 1 else wanted.with_name(f"{wanted.name}.{number}")
        if number > 1 and to.exists() and not is_profile(to):
            yield f"profile: {to} is there already and is no profile; what would be written there is left out"
            continue
        try:
            put(to, PROFILE, path.read_bytes())
        except (OSError, NumapredictError) as error:
            yield f"profile: {error}"
            continue
        yield profile_in_words(to)


def _before(start: Start, mapping: Mapping, topology: Topology, options: RunOptions) -> Iterator[str]:
    """Return what is to be known before the program starts: nothing where all is as the mapping says."""
    if start.overridden:
        yield f"the mapping decides over your environment: {start.overridden}"
    if start.obstacle:
        yield (
            f"the preload library cannot place {Path(start.command[len(start.numactl)]).name}: {start.obstacle}; its"
            " threads are placed by OMP_PLACES" + (", its pages by numactl" if start.numactl else "")
        )
        wanted = {"--verify": options.verify, "--regions": options.regions, "--profile": options.profile}
        lost = [name for name, value in {**wanted, "--use-profile": options.use_profile}.items() if value]
        if options.json is not None:
            lost.append("what --json says of threads, pages and regions")
        if lost:
            yield f"left out, for want of the library: {', '.join(lost)}"
    yield from start.doubts
    unguarded = start.way == "numactl" and applied(mapping, topology).page_policy == "first-touch"
    if unguarded and options.balancing and len(topology.memory_nodes) > 1 and balancing_is_on():
        yield "automatic NUMA balancing is on and may move its pages; --no-numa-balancing switches it off meanwhile"


def _placement(files: PlacementFiles, mapping: Mapping, topology: Topology, say: Say) -> Placement | None:
    """Return where threads and pages stood, if that was asked for and the library wrote it; say why not."""
    if files.map is None:
        return None
    try:
        found = read_map(Path(files.map))
    except NumapredictError as error:
        say(f"verify: {error}")
        return None
    if found is None:
        say("verify: nothing was written: the program was killed, or never ran to its end under the library")
        return None
    return placement_of(found, mapping, topology)


def _regions(files: PlacementFiles) -> tuple[RegionTimes, ...] | None:
    """Return the regions of each process that had some, or None where nobody asked."""
    if files.report is None:
        return None
    found = map(read_region_times, processes_files(Path(files.report)))
    return tuple(times for times in found if times is not None)


def _tell(
    options: RunOptions, mapping: Mapping, placement: Placement | None, regions: Sequence[RegionTimes] | None, say: Say
) -> None:
    """Say in words what was asked for in words."""
    if options.verify and placement is not None:
        for line in placement_in_words(placement, mapping):
            say(line)
    if options.regions and regions is not None:
        for line in regions_in_words(regions):
            say(line)
