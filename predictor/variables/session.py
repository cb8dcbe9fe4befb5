"""Answers one question on a program's variables: by a profile that it makes or reads, and where threads would run."""

import logging
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from numapredict.collect.binding import mapping_on, threads_asked
from numapredict.collect.host.cache import cache_folder
from numapredict.collect.host.host import host_topology
from numapredict.collect.host.work_folder import work_folder
from numapredict.collect.mapping import Mapping
from numapredict.collect.measuring.samples.selftest import doubt_of_samples
from numapredict.collect.measuring.samples.source import PerfSamples
from numapredict.collect.modelled.description import load_description
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.profile_file import Profile, read_profile
from numapredict.collect.program import program_as_typed
from numapredict.collect.source.modules import Modules
from numapredict.collect.terminal.printable import counted
from numapredict.collect.terminal.progress import doing
from numapredict.collect.topology import Topology
from numapredict.native.errors import UnrunnableProgramError, UsageError
from numapredict.predictor.variables.accesses import accesses_of
from numapredict.predictor.variables.analysis import all_regions, judged
from numapredict.predictor.variables.grouping import found_in
from numapredict.predictor.variables.memory_accesses import MemoryAccesses
from numapredict.predictor.variables.page_nodes import PageNodes, page_nodes_of
from numapredict.predictor.variables.planning import builds_in, planned
from numapredict.predictor.variables.profiling import ProfiledRun, baseline, profiled
from numapredict.predictor.variables.requests import all_requests
from numapredict.predictor.variables.tiers import tiered_plans
from numapredict.predictor.variables.timing import timed
from numapredict.predictor.variables.traffic import all_traffic
from numapredict.predictor.variables.variable import Severity, Variable, Variables
from numapredict.predictor.variables.variable_plan import Judged, plans_of

_FEW_TOUCHES = 100  # shares are then known to 0.05
_MOST_KNOWN = 0.5  # of a variable's pages: with fewer first touches it is told
_MOST_THREADS = 4096  # native/placement/process/settings.h

log = logging.getLogger(__name__)


class Question(msgspec.Struct, frozen=True):
    """A request: a command to profile, or the profile of an earlier run; on a described machine, under a mapping.

    ``plan`` is where to write a page plan of the ``variables`` with these names, or of all that are worth it. With
    ``time`` those that are worth it are judged by the time that they cost, too. ``tier``: the plan has what is touched
    most for its size in near memory, and the rest in far memory.
    """

    command: tuple[str, ...] = ()
    profile: Path | None = None
    machine: str | None = None
    mapping: str | None = None
    plan: Path | None = None
    variables: tuple[str, ...] = ()
    time: bool = False
    tier: bool = False


def ask(question: Question) -> Variables:
    """Return the answer; raises a NumapredictError with a one-line message if there is none."""
    topology = host_topology() if question.machine is None else load_description(question.machine).topology
    if len(topology.cpu_nodes) == 1 and (question.time or (question.plan is not None and not question.tier)):
        wish = "--time compares places" if question.time else "--plan places pages"
        raise UsageError(f"{wish} on several nodes, and this computer has one: name a --machine")
    own = _own_threads() if question.machine is None else None
    mapping = None if question.mapping is None else mapping_on(topology, question.mapping, own)
    if mapping is not None and mapping.page_policy != "first-touch":
        raise UsageError(
            f"mapping {mapping.label} does not leave pages to first touch, which this judges: name its threads, as in "
            f"{mapping.replaced(page_policy='first-touch', page_nodes=mapping.thread_nodes).label}"
        )
    placement = None if mapping is None else resolve(mapping, topology)
    if question.profile is not None:
        with doing(f"reading {question.profile}"):
            ran = ProfiledRun(read_profile(question.profile), 0, ())
        if mapping is not None and mapping.threads != ran.profile.slots:
            raise UsageError(
                f"mapping {mapping.label} has {counted(mapping.threads, 'thread')} and {question.profile} has "
                f"{ran.profile.slots}: name a mapping with as many"
            )
        return _answer(
            question,
            ran,
            topology,
            placement,
            Modules(question.profile.stat().st_mtime, build_ids=ran.profile.build_ids),
        )
    program = program_as_typed(question.command)
    threads = _threads(question, mapping, topology)
    source, doubts = None, tuple[str, ...]()
    if question.machine is None:
        source, doubts = _source(topology)
    with work_folder() as folder, doing(f"profiling {program.name} with {counted(threads, 'thread')}"):
        ran = profiled(program, threads, folder, source)
    ran = msgspec.structs.replace(ran, notes=(*ran.notes, *doubts))
    return _answer(question, ran, topology, placement, Modules(build_ids=ran.profile.build_ids))


def _source(topology: Topology) -> tuple[PerfSamples | None, tuple[str, ...]]:
    """Return what samples memory accesses here, if it is to be believed; else a note that says why not."""
    source = PerfSamples()
    doubt = doubt_of_samples(source, topology, cache_folder())
    return (None, (f"the processor did not sample memory accesses: {doubt}",)) if doubt else (source, ())


def _threads(question: Question, mapping: Mapping | None, topology: Topology) -> int:
    """Return the number of threads of the run: the mapping's, the caller's, else one on each core of the machine."""
    if mapping is not None:
        return mapping.threads
    own = _own_threads() if question.machine is None else None
    return own or topology.core_count


def _own_threads() -> int | None:
    """Return the caller's number of threads, where OMP_NUM_THREADS asks for one that the library can place."""
    own = threads_asked(os.environ.get("OMP_NUM_THREADS"))
    return own if own is not None and own <= _MOST_THREADS else None


def _answer(
    question: Question, ran: ProfiledRun, topology: Topology, placement: Placement | None, modules: Modules
) -> Variables:
    profile = ran.profile
    if placement is None and (question.tier or len(topology.cpu_nodes) > 1):
        placement = resolve(_fitting(profile.slots, topology), topology)
    nodes = None
    if placement is not None and len(topology.cpu_nodes) > 1:
        nodes = page_nodes_of(profile, placement, is_here=question.machine is None)
    found = found_in(profile, modules)
    if not found:
        raise UnrunnableProgramError(
            "too few samples: no touch of a variable was sampled, for the parallel regions took "
            f"{profile.time_s * 1000:.0f} ms; run a larger input, or more steps, for a second at least"
        )
    pairs: Sequence[Judged] = judged(found, profile, modules, nodes)
    pairs, accesses, unlike = _with_accesses(pairs, ran, topology, nodes)
    severity: Severity = "share of touches"
    together, untimed = None, tuple[str, ...]()
    if question.time and placement is not None:
        by_time = timed(pairs, profile, placement, program_as_typed(question.command), question.machine, ran.exit_code)
        pairs, together, severity, untimed = by_time.pairs, by_time.together, by_time.severity, by_time.notes
    variables = tuple(variable for _, variable in pairs)
    plan, unplanned = None, tuple[str, ...]()
    if question.plan is not None and placement is not None:
        if question.tier:
            placed = tiered_plans(pairs, profile, placement)
        else:
            placed = plans_of(pairs, question.variables, profile, placement)
        plan, unplanned = planned(
            placed, placement, question.plan, question.machine, question.command, builds_in(profile)
        )
    seen = sum(one.touches for one in variables)
    return Variables(
        command=question.command,
        profile=None if question.profile is None else str(question.profile),
        threads=profile.slots,
        machine=topology.name if nodes is not None else None,
        mapping=placement.mapping.label if placement is not None and nodes is not None else None,
        modelled=nodes is not None and not nodes.seen,
        exit_code=ran.exit_code if question.profile is None else None,
        region_time_s=profile.time_s,
        touches=seen,
        severity=severity,
        accesses=accesses,
        time=together,
        nodes=None if nodes is None else nodes.of_thread,
        requests=all_requests([one.requests for one in variables if one.requests is not None]),
        traffic=all_traffic([one.traffic for one in variables if one.traffic is not None]),
        page_bytes=profile.page_bytes,
        variables=variables,
        plan=plan,
        regions=all_regions(found, profile, modules, nodes),
        notes=(
            *ran.notes,
            *unlike,
            *untimed,
            *unplanned,
            *_notes(profile, variables, seen, nodes, modules.thread_locals(profile.build_ids)),
        ),
    )


def _with_accesses(
    pairs: Sequence[Judged], ran: ProfiledRun, topology: Topology, nodes: PageNodes | None
) -> tuple[Sequence[Judged], MemoryAccesses | None, tuple[str, ...]]:
    """Return the variables with the accesses that were sampled, those of all, and a note if they are of another run."""
    if ran.samples is None:
        return pairs, None, ()
    if nodes is not None and not nodes.seen:
        return (
            pairs,
            None,
            ("the processor's samples are of the run as it was, not of this mapping: they are left out",),
        )
    each, every = accesses_of([found for found, _ in pairs], ran.profile, ran.samples, topology, nodes)
    judged_so = zip(pairs, each, strict=True)
    return [(found, msgspec.structs.replace(one, accesses=own)) for (found, one), own in judged_so], every, ()


def _fitting(slots: int, topology: Topology) -> Mapping:
    """Return the baseline for so many threads, or, where the machine has fewer cores, for as many as it has."""
    return baseline(min(slots, topology.core_count), topology)


def names_in_words(names: Sequence[str | None]) -> str:
    """Return up to three names of variables, each once with how many have it; None: without a name."""
    counts = Counter(names)
    said = [
        f"{name or 'variables without a name'} ({count} of them)" if count > 1 else name or "a variable without a name"
        for name, count in counts.items()
    ]
    return ", ".join(said[:3]) + (", ..." if len(said) > 3 else "")


def _notes(
    profile: Profile,
    variables: tuple[Variable, ...],
    seen: int,
    nodes: PageNodes | None,
    thread_local: tuple[str, ...],
) -> list[str]:
    notes = []
    if nodes is not None and nodes.seen:
        notes.append("the kernel said during the run on which node each touched page and its thread were")
    if nodes is None:
        notes.append(
            "all cores here are of one NUMA node, so that no touch counts as remote: costs are by the touches of other "
            "threads than the one that touched a page first; for the remote share on a machine, use --machine NAME"
        )
    if seen < _FEW_TOUCHES:
        enough_s = profile.time_s * _FEW_TOUCHES / max(seen, 1)
        notes.append(
            f"too few samples: {seen} touches in {profile.time_s:.2g} s of parallel regions, so that shares are rough: "
            f"run a larger input, or more steps, for about {enough_s:.2g} s of them"
        )
    if profile.dropped:
        notes.append(f"{profile.dropped} allocations or samples were left out: the profile had no room for them")
    places = [
        place for one in variables for place in (one.allocated, one.first_touch) if place and not place.of_the_system
    ]
    notes += dict.fromkeys(place.doubt for place in places if place.doubt)
    half = [one for one in variables if one.kind != "small allocations" and one.first_touch_known < _MOST_KNOWN]
    if half:
        names = names_in_words([one.name for one in half])
        notes.append(
            f"the first touch of less than {_MOST_KNOWN:.0%} of the pages of {names} was seen"
            if nodes is not None and nodes.seen
            else f"the first touch of less than {_MOST_KNOWN:.0%} of the pages of {names} was seen: further "
            "allocations are taken to be touched first as the ones that were seen, or by thread 0 where none was"
        )
    small_bytes = sum(one.size_bytes for one in variables if one.kind == "small allocations")
    if small_bytes:
        notes.append(
            f"blocks under 4 KiB, and others that were not followed, count as one, {small_bytes / 2**20:.3g} MiB of "
            "the main heap: a profile knows neither their lines nor who touched them first"
        )
    notes.append("blocks under 64 KiB that threads other than the first allocate are not in this answer, nor counted")
    if any(one.through for one in variables):
        notes.append("where a function allocates for its callers, and they are not known, its line is shown")
    notes.append(
        "stacks and thread-local variables are not sampled: each thread has its own, which it touches first itself"
        + (f"; thread-local here: {', '.join(thread_local[:4])}" if thread_local else "")
    )
    return notes
