"""Run a program under a mapping: in this process's place, or as a child that this process reports on at the end."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
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
from numapredict.collect.machines.preload import PlacementFiles, processes_files
from numapredict.collect.machines.start import Start, start_of
from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.page_plan import PLANNED, plan_of
from numapredict.collect.plan_file import write_plan
from numapredict.collect.profile_file import InvalidProfileError, is_profile, read_profile
from numapredict.collect.program import program_as_typed
from numapredict.collect.space import check
from numapredict.collect.topology import Topology
from numapredict.predictor.placed_run_text import placement_in_words, plan_in_words, profile_in_words, regions_in_words

Say = Callable[[str], None]


class UnwritableProfileError(InvalidProfileError):
    """The system does not let a profile be written where it is wanted."""

    exit_code = 1


class RunOptions(msgspec.Struct, frozen=True):
    """What a run reports beside the program's own output, and what it is steered by.

    ``profile`` is written and ``use_profile`` read; ``balancing`` false switches the kernel's own page moving off.
    """

    verify: bool = False
    regions: bool = False
    profile: Path | None = None
    use_profile: Path | None = None
    balancing: bool = True

    @property
    def stays(self) -> bool:
        """Return whether there is something to do after the program."""
        return self != RunOptions()


def run_placed(label: str, command: tuple[str, ...], options: RunOptions, say: Say) -> int:
    """Run the program, placed, and return its exit code, or end by its signal; not at all where it can be replaced.

    ``say`` gets each line that is not the program's. Raises UnrunnableProgramError, InvalidLabelError,
    InvalidMappingError and InvalidProfileError before the program starts.
    """
    topology = host_topology()
    for line in restriction_lines(topology):
        say(line)
    mapping = parse_label(label)
    check(mapping, topology)
    program = program_as_typed(command)
    with contextlib.ExitStack() as stack:
        files = PlacementFiles()
        if options.stays:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="numapredict-")))
            files = _files(options, mapping, topology, folder, say)
        start = start_of(program, mapping, topology, files, near=True)
        for line in _before(start, mapping, topology, options):
            say(line)
        try:
            if not options.stays:
                keep_to(start.cpus)
                become(start.command, start.environment)
            blocked = stack.enter_context(signals_held())
            with contextlib.nullcontext() if options.balancing else without_balancing(say, NUMA_BALANCING, SHARED):
                code = run_child(start.command, start.environment, start.cpus, blocked)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise UnrunnableProgramError(f"cannot start {command[0]}: {reason}; check the program") from error
        if start.way == "library":
            for line in _after(files, mapping, topology):
                say(line)
            if options.profile is not None:
                for line in _keep_profiles(Path(str(files.profile)), options.profile):
                    say(line)
    return end_like(code)


def _files(options: RunOptions, mapping: Mapping, topology: Topology, folder: Path, say: Say) -> PlacementFiles:
    """Return the files that the library is to read and write, with the plan written."""
    if options.profile is not None:
        _check_place(options.profile)
    plan = None
    if options.use_profile is not None:
        plan = _plan(options.use_profile, mapping, topology, folder / "plan", say)
    return PlacementFiles(
        plan=None if plan is None else str(plan),
        report=str(folder / "regions") if options.regions else None,
        profile=None if options.profile is None else str(folder / "profile"),
        map=str(folder / "map") if options.verify else None,
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


def _check_place(profile: Path) -> None:
    """Refuse before the run what could not be written after it, or is something else than a profile's file."""
    place = _target(profile)
    if place.exists() and not place.is_file():
        raise InvalidProfileError(f"profile {str(profile)!r} cannot be written: it is no regular file; name another")
    try:
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".numapredict-"):
            pass
    except OSError as error:
        raise UnwritableProfileError(
            f"profile {profile} cannot be written: {error.strerror}; name another file"
        ) from None


def _target(profile: Path) -> Path:
    """Return the file that a path means, so that what replaces it does not replace a link to it."""
    try:
        return profile.resolve()
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle, until Python 3.13
        reason = error.strerror if isinstance(error, OSError) else "its links go in a circle"
        raise InvalidProfileError(f"profile {profile} cannot be written: {reason}; name another file") from None


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
            _check_place(to)
            place = _target(to)
            with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".numapredict-", delete=False) as fresh:
                fresh.write(path.read_bytes())
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(fresh.name, 0o666 & ~umask)
            os.replace(fresh.name, place)
        except (OSError, InvalidProfileError) as error:
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
        if lost:
            yield f"left out, for want of the library: {', '.join(lost)}"
    yield from start.doubts
    unguarded = start.way == "numactl" and applied(mapping, topology).page_policy == "first-touch"
    if unguarded and options.balancing and len(topology.memory_nodes) > 1 and balancing_is_on():
        yield "automatic NUMA balancing is on and may move its pages; --no-numa-balancing switches it off meanwhile"


def _after(files: PlacementFiles, mapping: Mapping, topology: Topology) -> Iterator[str]:
    """Return what the library found out."""
    if files.map is not None:
        yield from placement_in_words(Path(files.map), mapping, topology)
    if files.report is not None:
        yield from regions_in_words(Path(files.report))
