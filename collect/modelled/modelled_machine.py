"""ModelledMachine: a described NUMA machine; its figures are computed from a trace and a description, not measured."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from numapredict.collect.machine import TracesToTake
from numapredict.collect.mapping import Mapping, ThreadPolicy
from numapredict.collect.measurement import (
    Counters,
    Measurement,
    NodeCounters,
    Repetition,
    bandwidth_GBps,
    rounded,
)
from numapredict.collect.modelled import contention
from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled.campaign_time import campaign_time_s
from numapredict.collect.modelled.description import MachineDescription
from numapredict.collect.modelled.native_cycles import NativeCycles, cycles_note, native_cycles
from numapredict.collect.modelled.phases import PhasedTrace, phase_trace, slots
from numapredict.collect.modelled.seen_regions import CUT_CENSUS, SHARE, WHOLE_CENSUS, regions_note
from numapredict.collect.modelled.shared_caches import WRITTEN_BACK, Demand, Lines, lines_of, replay
from numapredict.collect.modelled.synchronisation import Synchronisation
from numapredict.collect.modelled.thread_places import ThreadPlaces, places_of, places_on
from numapredict.collect.modelled.trace import Trace
from numapredict.collect.modelled.trace_store import TraceStore
from numapredict.collect.page_placement import PageAccesses, place_pages
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.census import CENSUS_THREADS, Census
from numapredict.collect.placing.exit_code import PROVENANCE as EXIT_CODE
from numapredict.collect.placing.exit_code import refusal
from numapredict.collect.placing.region_times import RegionTime, RegionTimes, region_times_note
from numapredict.collect.placing.teams import Team, teams_by_time, teams_note
from numapredict.collect.program import Program
from numapredict.collect.space import fits
from numapredict.native.errors import TracingError, UnrunnableProgramError

_KEPT_TRACES = 8
_KEPT_GROUPINGS = 64

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class TracedProgram:
    """One program with one number of threads, ``siblings`` on each core, ready for any mapping of these numbers."""

    lines: Lines
    pages: PageAccesses
    trace: Trace
    census: Census
    siblings: int

    @property
    def phased(self) -> PhasedTrace:
        """Return the phases."""
        return self.lines.phased


class ModelledMachine:
    """A machine given by a description: it traces a program once a thread count, and computes any mapping from that.

    The model, in order: private caches (in the tracer), shared caches as the mapping groups the threads, pages by the
    mapping's page policy (first touch from the recorded toucher), latency and bandwidth with queues at controllers and
    links, and the slowest thread at each barrier. With ``strict``, a program that ends with an exit code other than 0
    has failed. ``region_times``: measurements have a note of each region's time.
    """

    modelled = True
    executions = 1

    def __init__(
        self,
        description: MachineDescription,
        store: TraceStore | None = None,
        *,
        strict: bool = False,
        region_times: bool = False,
    ) -> None:
        self.description = description
        self.strict, self.region_times = strict, region_times
        self.store = store or TraceStore(description)
        self.name, self.topology = description.name, description.topology
        self.controllers_GBps = description.controller_read_GBps
        self._costs = contention.costs_of(description)
        self._synchronisation = Synchronisation(description)
        self._traced: OrderedDict[Hashable, TracedProgram] = OrderedDict()
        self._demands: OrderedDict[Hashable, Demand] = OrderedDict()
        self._cycles: dict[str, NativeCycles | None] = {}

    def supports(self, mapping: Mapping) -> bool:
        """Return whether the mapping fits the described topology."""
        return fits(mapping, self.topology)

    @property
    def threads_for_cycles(self) -> tuple[int, ...]:
        """Return with how many threads a program is traced for its own cycles, none where all have the machine's."""
        return (CENSUS_THREADS,) if self.description.cycles_from_native_run else ()

    def estimate_s(self, program: Program, mappings: Sequence[Mapping]) -> float:
        """Return roughly how long one core takes for runs under these mappings and for the traces that they still need.

        Of a program that cannot run, only the runs count: its first one says why it cannot.
        """
        try:
            traces = self.traces_to_take(program, mappings).threads
        except UnrunnableProgramError:
            traces = ()
        return campaign_time_s(traces, mappings, len(self.description.nodes))

    def traces_to_take(self, program: Program, mappings: Sequence[Mapping]) -> TracesToTake:
        """Return the traces missing in the cache, and the most time that the budget allows for them.

        There is one for each number of threads, each number of threads that share a core, and a program's own cycles.
        """
        needed = {(mapping.threads, mapping.threads_per_core) for mapping in mappings}
        needed |= {(threads, 1) for threads in self.threads_for_cycles if needed}
        missing = tuple(threads for threads, each in sorted(needed) if not self.store.has_trace(program, threads, each))
        budget = self.store.budget
        return TracesToTake(missing, budget.census_s + budget.trace_s * len(missing) if missing else 0.0)

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        """Return the modelled time and counters of a program under a mapping.

        Raises InvalidMappingError, UnrunnableProgramError, MissingNativePartError where QEMU is missing, and
        UnwritableError where the cache or TMPDIR cannot be. A program that fails gives a measurement that says so.
        """
        placement = resolve(mapping, self.topology)
        places = places_of(placement.slots, self._described(program))
        try:
            traced = self.traced(program, mapping.threads, mapping.thread_policy, int(places.siblings.max()))
        except TracingError as error:
            return Measurement(
                program=program.name,
                mapping=mapping,
                machine=self.name,
                modelled=True,
                status="crashed",
                message=str(error),
                provenance=(("source", "model"),),
            )
        return self._measured(program, placement, places, traced)

    def placement(self, program: Program, mapping: Mapping) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Return the page numbers that the model follows and the node of each under the mapping: int64[P], int32[P]."""
        placement = resolve(mapping, self.topology)
        siblings = int(places_of(placement.slots, self.description).siblings.max())
        pages = self.traced(program, mapping.threads, mapping.thread_policy, siblings).pages
        return pages.address, place_pages(placement, pages)

    def traced(
        self, program: Program, threads: int, thread_policy: ThreadPolicy = "contiguous", siblings: int = 1
    ) -> TracedProgram:
        """Return a program's trace with a number of threads, taken now if there is none in the cache.

        The thread policy gives the slots of threads in nested teams and in teams smaller than the mapping.
        ``siblings``: how many threads share a core and its private cache.
        """
        key = (program.identity, threads, siblings)
        traced = _kept(self._traced, key, _KEPT_TRACES, lambda: self._prepare(program, threads, "contiguous", siblings))
        if thread_policy == "contiguous" or not traced.trace.follows_thread_policy:
            return traced
        prepare = partial(self._prepare, program, threads, thread_policy, siblings)
        return _kept(self._traced, (*key, thread_policy), _KEPT_TRACES, prepare)

    def _prepare(self, program: Program, threads: int, thread_policy: ThreadPolicy, siblings: int) -> TracedProgram:
        census = self.store.census(program)
        if self.strict and census.exit_code:
            raise TracingError(refusal(program.name, census.exit_code))
        trace = self.store.trace(program, threads, siblings)
        if self.strict and trace.exit_code:
            raise TracingError(refusal(program.name, trace.exit_code))
        phased = phase_trace(trace, census, threads, thread_policy)
        lines = lines_of(phased, self.description, self.store.budget.seed)
        pages = _page_accesses(lines, slots(trace.pages, thread_policy), trace)
        return TracedProgram(lines, pages, trace, census, siblings)

    def run_placed(
        self,
        program: Program,
        thread_node: tuple[int, ...],
        page_node: npt.NDArray[np.int32],
        thread_policy: ThreadPolicy = "contiguous",
    ) -> tuple[Repetition, dict[int, float]]:
        """Return the modelled time and counters, and the time of each region, by its key, in seconds.

        Threads and pages stand as given, which no mapping need name. ``thread_node``: the node of every slot;
        ``page_node``: int32[P], of every page of ``placement``; ``thread_policy``: which slots a nested or smaller team
        uses. Raises as ``run`` does, and TracingError for a program that fails.
        """
        traced = self.traced(program, len(thread_node), thread_policy)
        return self._timed(program, traced, places_on(thread_node, self._described(program)), page_node, thread_policy)

    def _described(self, program: Program) -> MachineDescription:
        """Return the machine as it runs a program: with the program's own cycles per instruction where it has them."""
        if not self.description.cycles_from_native_run:
            return self.description
        if program.identity not in self._cycles:
            self._cycles[program.identity] = self._native_cycles(program)
        own = self._cycles[program.identity]
        return msgspec.structs.replace(self.description, cycles_per_instruction=own.cycles) if own else self.description

    def _native_cycles(self, program: Program) -> NativeCycles | None:
        """Return a program's own cycles, None where no native run tells them; the first run says why it cannot run."""
        try:
            traced = self.traced(program, CENSUS_THREADS)
        except TracingError:
            return None
        computer, seed = self.store.computer(program), self.store.budget.seed
        return native_cycles(traced.phased, traced.census, computer, self.description, seed) if computer else None

    def _timed(
        self,
        program: Program,
        traced: TracedProgram,
        places: ThreadPlaces,
        page_node: npt.NDArray[np.int32],
        thread_policy: ThreadPolicy,
    ) -> tuple[Repetition, dict[int, float]]:
        phased = traced.phased
        demand = _kept(
            self._demands,
            (
                *(program.identity, traced.siblings, places.node, places.core),
                traced.trace.follows_thread_policy and thread_policy,
            ),
            _KEPT_GROUPINGS,
            lambda: replay(traced.lines, places),
        )
        scale = (phased.lines_per_record * phased.stands_for)[:, None, None]
        memory = demand.by_memory_node(page_node) * scale[..., None]
        waits_s, exclusive_ns = self._waits(phased, places)
        load = contention.Demand(
            memory=memory,
            transfers=demand.transfers * scale[..., None],
            hits=demand.hits * scale,
            instructions=phased.instructions,
            exclusive_ns=exclusive_ns,
            dynamic=phased.dynamic,
            members=phased.members,
            places=places,
        )
        recorded_s = contention.solve(load, self._costs) * phased.imbalance + phased.barriers * waits_s
        times = recorded_s * phased.weight
        region_time_s = rounded(float(times[~phased.serial].sum()))
        repetition = Repetition(
            time_s=rounded(float(times.sum())),
            region_time_s=region_time_s,
            counters=self._counters(memory, phased, places.node, region_time_s),
        )
        keys = np.unique(phased.region[~phased.serial])
        return repetition, {int(key): float(times[phased.region == key].sum()) for key in keys}

    def _measured(
        self, program: Program, placement: Placement, places: ThreadPlaces, traced: TracedProgram
    ) -> Measurement:
        mapping, own = placement.mapping, self._cycles.get(program.identity)
        pages = place_pages(placement, traced.pages)
        exit_code = traced.census.exit_code or traced.trace.exit_code
        repetition, times_s = self._timed(program, traced, places, pages, mapping.thread_policy)
        native_s = {region.key: region.time_s for region in traced.census.regions}
        return Measurement(
            program=program.name,
            mapping=mapping,
            machine=self.name,
            modelled=True,
            repetitions=(repetition,),
            provenance=(
                ("source", "model"),
                ("trace_end", t.ENDS.get(traced.trace.end, str(traced.trace.end))),
                (SHARE, f"{traced.phased.share:.3f}"),
                WHOLE_CENSUS if traced.census.complete else CUT_CENSUS,
                ("lines_followed", f"1 in {traced.phased.lines_per_record}"),
                ("program_threads", str(traced.trace.threads)),
                *(cycles_note(own, self.description) if self.threads_for_cycles else ()),
                *regions_note(times_s, native_s, traced.phased.seen),
                *self._region_times_note(traced, times_s, repetition.time_s, mapping),
                *teams_note(traced_teams(traced.census, traced.trace, mapping.threads)),
                *(((EXIT_CODE, str(exit_code)),) if exit_code else ()),
            ),
        )

    def _region_times_note(
        self, traced: TracedProgram, times_s: dict[int, float], time_s: float, mapping: Mapping
    ) -> tuple[tuple[str, str], ...]:
        """Return the note of the regions that the trace saw: their instances of the native run, and modelled times."""
        if not self.region_times:
            return ()
        threads = threads_by_region(traced.census, traced.trace, mapping.threads)
        regions = tuple(
            RegionTime(
                region.name,
                region.path or region.module,
                region.offset,
                region.count,
                times_s[region.key],
                threads[region.key],
            )
            for region in traced.census.regions
            if times_s.get(region.key, 0.0) > 0
        )
        return region_times_note(RegionTimes(regions, time_s, traced.census.complete))

    def _waits(
        self, phased: PhasedTrace, places: ThreadPlaces
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return what the threads of each phase pay to start and end a region, or for a barrier, in seconds, [M].

        And what each thread pays for its chunks, of which each is an atomic addition, and for its locks, in ns, [M, T].
        """
        teams, team = np.unique(phased.members, axis=0, return_inverse=True)
        waits = [self._synchronisation.waits(tuple(places.nodes[mask].tolist()), places.spread(mask)) for mask in teams]
        figures = np.array([(w.fork_join_ns, w.barrier_ns, w.atomic_ns, w.lock_ns) for w in waits])[team.ravel()]
        fork_join, barrier, atomic, lock = figures.reshape(-1, 4).T
        exclusive_ns = phased.chunks * atomic[:, None] + phased.locks * lock[:, None]
        return np.where(phased.begins, fork_join, barrier) * 1e-9, exclusive_ns

    def _counters(
        self, memory: npt.NDArray[np.float64], phased: PhasedTrace, node: tuple[int, ...], region_time_s: float
    ) -> Counters:
        """Return each node's accesses in the regions, in lines, and bandwidths over the regions' time."""
        nodes = memory.shape[3]
        by_thread = np.einsum("mtkn,m->tn", memory, np.where(phased.serial, 0.0, phased.weight))
        accesses = np.zeros((nodes, nodes))
        np.add.at(accesses, np.array(node), by_thread)
        local = [rounded(float(accesses[n, n])) for n in range(nodes)]
        remote = [rounded(float(accesses[n].sum() - accesses[n, n])) for n in range(nodes)]
        rates = (
            [bandwidth_GBps(lines, self.description.line_bytes, region_time_s) for lines in each]
            for each in (local, remote)
        )
        return Counters(tuple(map(NodeCounters, local, remote, *rates)))


def _page_accesses(lines: Lines, toucher_of_page: npt.NDArray[np.int64], trace: Trace) -> PageAccesses:
    """Return each thread's accesses to each page in the regions, as a profile would sample them, and the first toucher.

    ``toucher_of_page``: the slot of each of the trace's pages.
    """
    phased = lines.phased
    page = lines.page_of_line[lines.line].astype(np.int64)
    share = np.where(phased.serial, 0.0, phased.weight * phased.stands_for)[phased.phase]
    share = np.where(lines.kind == WRITTEN_BACK, 0.0, share) * phased.lines_per_record
    count = len(lines.page)
    accesses = np.bincount(page * phased.threads + phased.thread, weights=share, minlength=count * phased.threads)
    by_page = np.argsort(trace.pages["page"], kind="stable")
    known, touchers = trace.pages[by_page], toucher_of_page[by_page]
    at = np.minimum(np.searchsorted(known["page"], lines.page.astype(np.uint64)), max(len(known) - 1, 0))
    found = known["page"][at] == lines.page.astype(np.uint64)
    toucher = np.where(found, np.minimum(touchers[at], phased.threads - 1), 0)
    grouped = found & (known["group_pages"][at] > 0)  # blocks of one call are one array
    size = np.where(grouped, known["group_pages"][at], np.where(found, known["pages"][at], 0)).astype(np.int64)
    place = np.where(grouped, known["group_page"][at], lines.page - known["first"][at].astype(np.int64))
    return PageAccesses(
        address=lines.page,
        accesses=accesses.astype(np.float64).reshape(count, phased.threads),
        toucher=toucher.astype(np.int32),
        place=np.where(size > 0, np.minimum(place, np.maximum(size - 1, 0)), 0),
        size=size,
    )


def _kept(store: "OrderedDict[Hashable, T]", key: Hashable, most: int, make: Callable[[], T]) -> T:
    """Return the entry of a key, made now if missing; above ``most`` entries the least recently used one is removed."""
    if key in store:
        store.move_to_end(key)
        return store[key]
    store[key] = made = make()
    if len(store) > most:
        store.popitem(last=False)
    return made


def traced_teams(census: Census, trace: Trace, asked: int) -> tuple[Team, ...]:
    """Return the teams of a traced program, weighted by native times: their sizes may differ from the requested one.

    Threads of nested teams count for the enclosing region. An untraced region is assumed to have the requested threads,
    or those of the census if more.
    """
    threads = threads_by_region(census, trace, asked)
    return teams_by_time((threads[region.key], region.time_s) for region in census.regions)


def threads_by_region(census: Census, trace: Trace, asked: int) -> dict[int, int]:
    """Return the threads of each region, by its key: see ``traced_teams``."""
    segments = trace.segments[trace.segments["region"] != 0]
    threads = {}
    for key in np.unique(segments["region"]):
        mine = segments[segments["region"] == key]
        threads[int(key)] = max(int(mine["team"].max()), len(np.unique(mine["contiguous"])))
    untraced = {region.key: region.team if region.team > CENSUS_THREADS else asked for region in census.regions}
    return untraced | threads
