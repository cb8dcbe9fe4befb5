"""Profile one run of a program with so many threads on this computer, several on a core where it has too few."""

import math
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from numapredict.collect.host.host import describes_this_computer, host_topology
from numapredict.collect.host.work_folder import require_room
from numapredict.collect.mapping import Mapping
from numapredict.collect.measuring.samples.perf_script import Accesses
from numapredict.collect.measuring.samples.source import PerfSamples
from numapredict.collect.placement import Placement, ThreadSlot
from numapredict.collect.placing.claims import claims_beside
from numapredict.collect.placing.preload import PlacementFiles, processes_files
from numapredict.collect.placing.process import cannot_start, exit_and_signal, run_process
from numapredict.collect.placing.profile_file import Profile, is_profile, read_profile
from numapredict.collect.placing.start import start_of
from numapredict.collect.placing.unseen_libraries import unprofiled, unseen_libraries
from numapredict.collect.program import Program
from numapredict.collect.space import placement_if_any
from numapredict.collect.topology import Topology
from numapredict.native.errors import CounterError, UnrunnableProgramError

_NO_REGION = (
    "no parallel region was seen to begin in it or in what it started; it must have one, not have the OpenMP runtime"
    " linked in statically, and end by itself"
)


class ProfiledRun(msgspec.Struct, frozen=True):
    """A profiled run: the profile with the most samples, its exit code as a shell reports it, remarks, accesses."""

    profile: Profile
    exit_code: int
    notes: tuple[str, ...]
    samples: Accesses | None = None


def baseline(threads: int, topology: Topology) -> Mapping:
    """Return how threads are taken to run as they are: in order over all nodes, pages by first touch."""
    nodes = min(threads, len(topology.cpu_nodes))
    return Mapping(threads, nodes, "contiguous", nodes, "first-touch")


def profiled(program: Program, threads: int, folder: Path, source: PerfSamples | None = None) -> ProfiledRun:
    """Run the program, under perf where a source is given, and return its profile.

    Its output is discarded, as that of all runs that are only measured.
    Raises UnrunnableProgramError where it cannot start, cannot be profiled, or leaves no profile.
    """
    wanted = folder / "profile"
    placement = _placement(threads)
    files = PlacementFiles(profile=str(wanted), claims=claims_beside(wanted))
    start = start_of(program, placement, files, near=True)
    if start.way != "library":
        raise UnrunnableProgramError(
            f"{program.name} cannot be profiled: {start.obstacle}; link it dynamically, without sanitizers"
        )
    # Threads that share a core and wait by spinning take each other's time.
    waiting = {"OMP_WAIT_POLICY": "passive"} if len(set(placement.pus)) < threads else {}
    command, environment = start.command, waiting | start.environment
    if source is not None:
        own = {name: value for name, value in os.environ.items() if environment.get(name) == value}
        changed = {name: value for name, value in environment.items() if name not in own or name == "LD_PRELOAD"}
        command, environment = source.command(command, changed, folder / "samples"), own
    try:
        ending = run_process(command, environment, program.directory, math.inf, start.cpus)
    except (OSError, ValueError) as error:
        raise cannot_start(program.command[0], error) from None
    profiles = [read_profile(path) for path in processes_files(wanted) if path.stat().st_size and is_profile(path)]
    if not profiles:
        require_room(folder)
        how = f" ({ending.reason})" if ending.reason else ""
        why = next(unprofiled(files), None) or next(unseen_libraries(files), None) or _NO_REGION
        signal = exit_and_signal(ending.exit_code)[1]
        if signal and why == _NO_REGION:
            how, last = "", f" ({ending.last_line})" if ending.last_line else ""
            why = (
                f"it was killed by {signal} before the profile was written{last}; find out why, or name an input with"
                " which it ends by itself"
            )
        raise UnrunnableProgramError(f"{program.name} left no profile{how}: {why}")
    notes = [*unseen_libraries(files), *(f"of a further process: {why}" for why in unprofiled(files))]
    if len(profiles) > 1:
        notes.append(f"{len(profiles)} of its processes had parallel regions: this is the one with the most samples")
    if ending.reason:
        notes.append(f"the program failed: {ending.reason}")
    samples = None
    if source is not None:
        try:
            samples = source.read(folder / "samples")
        except CounterError as error:
            notes.append(f"memory accesses were sampled, but not read: {error}")
    return ProfiledRun(
        max(profiles, key=lambda one: len(one.samples)), exit_and_signal(ending.exit_code)[0], tuple(notes), samples
    )


def _placement(threads: int) -> Placement:
    """Return where the threads run here: on cores of their own where there are enough, else several on a core."""
    topology = host_topology()
    if not describes_this_computer():
        return _shared(threads, topology, sorted(os.sched_getaffinity(0)))
    fitting = placement_if_any(baseline(threads, topology), topology)
    pus = [core.pus[0] for node in topology.cpu_nodes for core in node.cores]
    return fitting or _shared(threads, topology, pus)


def _shared(threads: int, topology: Topology, pus: Sequence[int]) -> Placement:
    node_of = {pu: node.index for node in topology.nodes for core in node.cores for pu in core.pus}
    at = [pus[thread * len(pus) // threads] for thread in range(threads)]
    slots = tuple(ThreadSlot(node_of.get(pu, topology.cpu_nodes[0].index), pu) for pu in at)
    nodes = tuple(dict.fromkeys(topology.home(slot.node) for slot in slots))
    return Placement(Mapping(threads, len(nodes), "contiguous", len(nodes), "first-touch"), topology, slots, nodes)
