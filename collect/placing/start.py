"""How a program starts under a mapping on this computer: the preload library, or OMP_* and numactl without it."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Literal

import msgspec

from numapredict.collect.host.given_environment import given_environment
from numapredict.collect.host.tasks import UNBOUND, starts_tasks
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.page_policy import EXPRESSIBLE, FACTS
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.claims import claims_file
from numapredict.collect.placing.command import Launch, applied, launch, nearest_expressible
from numapredict.collect.placing.elf import preload_obstacle
from numapredict.collect.placing.executable import command_of, executable_of
from numapredict.collect.placing.policies import memory_policies_refused
from numapredict.collect.placing.preload import PlacementFiles, preload_environment
from numapredict.collect.placing.variables import CONFLICTING, giving_way, thread_counts
from numapredict.collect.program import Program
from numapredict.native.errors import MissingNativePartError, UnsupportedMappingError
from numapredict.native.library import marks_library, placement_library

PLACEMENT, NUMACTL = "placement", "numactl"
"""Names in a measurement's provenance: what placed the program, and numactl's options where the library did not."""

AS_IT_IS = AnyMapping("as-it-is")
"""In place of a mapping: the program as the caller would start it."""

Way = Literal["library", "numactl"]
_SEPARATORS = frozenset(": \t\n")  # ld.so(8): what separates the libraries of LD_PRELOAD; there is no escape


class Start(msgspec.Struct, frozen=True):
    """The start of a program under a mapping: the whole command, all of its environment, the PUs that it may use.

    ``numactl`` is the part of the command that goes before the program, empty where there is none. ``obstacle`` says
    why the library does not place it; ``overridden`` which of the caller's variables are replaced; ``doubts`` what the
    start does not apply of the mapping.
    """

    command: tuple[str, ...]
    environment: dict[str, str]
    cpus: tuple[int, ...]
    way: Way
    numactl: tuple[str, ...] = ()
    obstacle: str = ""
    overridden: str = ""
    doubts: tuple[str, ...] = ()


def start_of(
    program: Program, placement: Placement, files: PlacementFiles | None = None, *, near: bool = False
) -> Start:
    """Return the start of the program under the mapping, with the library where that can place it.

    Raises UnrunnableProgramError; UnsupportedMappingError for a page policy that is neither
    expressible nor permitted, and MissingNativePartError where numactl is needed and missing. With ``near`` these two
    become doubts, and the start does what it can.
    """
    command = command_of(program)
    file = Path(program.directory or ".") / executable_of(program)
    obstacle = library_obstacle() or preload_obstacle(file, placement_library())
    caller = given_environment() | dict(program.environment)
    if obstacle:
        environment, prefix, doubts = _with_numactl(caller, placement, program.name, obstacle, near)
        way: Way = "numactl"
    else:
        refused = policies_obstacle(placement)
        if refused and not near:
            raise UnsupportedMappingError(refused)
        launcher = starts_tasks(program.command)
        files = files or PlacementFiles()
        if files.claims is None:
            files = msgspec.structs.replace(files, claims=str(claims_file()))
        environment = preload_environment(caller, placement, str(placement_library()), files, launcher=launcher)
        if launcher:
            environment = dict(UNBOUND) | environment
        prefix, doubts, way = (), (refused,) if refused else (), "library"
    return Start(
        command=(*prefix, *command),
        environment=environment,
        cpus=placement.pus,
        way=way,
        numactl=prefix,
        obstacle=obstacle,
        overridden=giving_way(caller, environment),
        doubts=doubts,
    )


def start_as_it_is(program: Program, report: Path, *, forks: bool = False) -> Start:
    """Return the start of the program as the caller would start it, its regions timed into ``report`` if possible.

    ``forks``: those of forked children, too. Raises UnrunnableProgramError.
    """
    command = command_of(program)
    environment = given_environment() | dict(program.environment)
    try:
        library = marks_library()
    except MissingNativePartError:
        obstacle = "it was not built"
    else:
        obstacle = preload_obstacle(Path(program.directory or ".") / executable_of(program), library)
    if not obstacle and not _SEPARATORS.intersection(str(library)):
        own = [environment.get("LD_PRELOAD", ""), str(library)]
        environment |= {"LD_PRELOAD": ":".join(filter(None, own)), "NUMAPREDICT_REGIONS": str(report)}
        environment |= {"NUMAPREDICT_FORKS": "1"} if forks else {}
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    return Start(command, environment, cpus, "numactl", obstacle=obstacle)


def library_obstacle() -> str:
    """Return why the preload library can place no program at all, or an empty text."""
    try:
        library = placement_library()
    except MissingNativePartError as error:
        return str(error)
    if _SEPARATORS.intersection(str(library)):
        return "the path that it is installed at has a space or a colon, which LD_PRELOAD cannot name"
    return ""


def policies_obstacle(placement: Placement) -> str:
    """Return why this system would not let the pages of a mapping be placed, or an empty text."""
    mapping = placement.mapping
    if FACTS[mapping.page_policy].kernel == "local" or len(placement.topology.memory_nodes) == 1:
        return ""  # the kernel's default
    refused = memory_policies_refused()
    return f"{mapping.label}: {_refusal(refused)}" if refused else ""


def _refusal(reason: str) -> str:
    return (
        f"this system refuses the memory policy ({reason}); run outside the container or give it the capability"
        " SYS_NICE"
    )


def _with_numactl(
    caller: dict[str, str], placement: Placement, name: str, obstacle: str, near: bool
) -> tuple[dict[str, str], tuple[str, ...], tuple[str, ...]]:
    """Return the environment, the numactl call and the doubts of a start without the library."""
    mapping, nearest = placement.mapping, applied(placement)
    doubts: tuple[str, ...] = ()
    if nearest.mapping.page_policy not in EXPRESSIBLE:
        nearest = resolve(nearest_expressible(mapping), placement.topology)
        if not near:
            raise UnsupportedMappingError(
                f"{mapping.label}: page policy {mapping.page_policy} needs the preload library, which cannot place "
                f"{name}: {obstacle}; use {', '.join(EXPRESSIBLE)}"
            )
        doubts = (f"without it page policy {mapping.page_policy} becomes {nearest.mapping.page_policy}",)
    placed = launch(nearest)
    try:
        prefix = _usable_prefix(placed, mapping)
    except (MissingNativePartError, UnsupportedMappingError) as error:
        if not near:
            raise
        prefix, doubts = (), (*doubts, f"{error}; its pages are left to the kernel")
    environment = {name: value for name, value in caller.items() if name not in CONFLICTING}
    environment |= dict(placed.environment)
    environment["OMP_NUM_THREADS"] = thread_counts(mapping.threads, caller.get("OMP_NUM_THREADS"))
    return environment, prefix, doubts


def _usable_prefix(start: Launch, mapping: Mapping) -> tuple[str, ...]:
    """Return the numactl call, or () where it is unusable and the mapping does not need it."""
    if shutil.which(start.numactl[0]) is None:
        if start.memory_policy:
            raise MissingNativePartError(
                f"{mapping.label} needs numactl, which is not installed; install the package numactl"
            )
        return ()
    probe = subprocess.run(
        [*start.numactl, "true"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if probe.returncode == 0:
        return start.numactl
    if start.memory_policy:
        lines = probe.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
        raise UnsupportedMappingError(f"{mapping.label}: {_refusal(lines[-1])}")
    return ()
