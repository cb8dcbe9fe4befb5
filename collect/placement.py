"""Placement: what a mapping means on a topology: where each thread runs, and on which nodes pages go."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeVar

import msgspec

from numapredict.collect.domain import count_domains, domains_of
from numapredict.collect.mapping import Mapping, ThreadPolicy, problem_of
from numapredict.collect.page_policy import FACTS
from numapredict.collect.terminal.printable import counted
from numapredict.collect.topology import Core, Topology
from numapredict.native.errors import InvalidMappingError

T = TypeVar("T")


class ThreadSlot(msgspec.Struct, frozen=True):
    """Where one thread runs: the node's logical index and the PU's OS index."""

    node: int
    pu: int


@dataclass(frozen=True)
class Placement:
    """A mapping resolved on a topology that it fits: where every thread runs, and on which nodes pages go.

    ``slots`` are in the order of thread numbers; ``page_nodes`` (logical indices) have the preferred one first.
    ``ranks`` of a parallel job share the slots, in their order (rank_share.py): 0 for as many as are started.
    """

    mapping: Mapping
    topology: Topology
    slots: tuple[ThreadSlot, ...]
    page_nodes: tuple[int, ...]
    ranks: int = 0

    @property
    def pus(self) -> tuple[int, ...]:
        """Return the PU of each thread, by OS index."""
        return tuple(slot.pu for slot in self.slots)

    @cached_property
    def homes(self) -> tuple[int, ...]:
        """Return the node (logical index) whose memory serves each thread."""
        home = {index: self.topology.home(index) for index in {slot.node for slot in self.slots}}
        return tuple(home[slot.node] for slot in self.slots)

    @property
    def chunks(self) -> tuple[int, ...]:
        """Return the node of each of the chunks, one a thread, into which `dataset` cuts every allocation site.

        Under `weighted` they are pages in turn, as many of each page node as its weight is, in the kernel's order.
        """
        if FACTS[self.mapping.page_policy].decided_by == "weights":
            weights = zip(self.os_page_nodes, self.page_nodes, self.weights, strict=True)
            return tuple(node for _, node, weight in sorted(weights) for _ in range(weight))
        return self.chunks_on(self.mapping.page_nodes)

    @property
    def weights(self) -> tuple[int, ...]:
        """Return the weight of each page node under `weighted`, in their order."""
        from numapredict.collect.page_weights import page_weights  # loads numpy, which `run` seldom needs

        return page_weights(self.topology, tuple(slot.node for slot in self.slots), self.page_nodes)

    def chunks_on(self, page_nodes: int) -> tuple[int, ...]:
        """Return the node of each of these chunks with another number of page nodes, at most all."""
        threads, thread_nodes = self.mapping.threads, self.mapping.thread_nodes
        if page_nodes == thread_nodes:
            return self.homes
        return _spread(page_node_set(self.topology, thread_nodes, page_nodes, away=False), threads)

    @property
    def os_page_nodes(self) -> tuple[int, ...]:
        """Return the page nodes by OS index, in their order."""
        return self.os_indices(self.page_nodes)

    def os_indices(self, nodes: Iterable[int]) -> tuple[int, ...]:
        """Return the OS indices of nodes, which are given by logical index."""
        return tuple(self.topology.nodes[index].os_index for index in nodes)


def resolve(mapping: Mapping, topology: Topology) -> Placement:
    """Return a mapping's placement on a topology; raise InvalidMappingError, with the reason, if it does not fit."""
    problem = problem_of(mapping)
    if problem:
        raise InvalidMappingError(f"mapping {mapping.label}: {problem}")
    slots = _thread_slots(
        topology,
        mapping.threads,
        mapping.thread_nodes,
        mapping.thread_policy,
        mapping.threads_per_core,
        mapping.thread_l3s,
    )
    if not slots:
        raise _no_slots(mapping, topology)
    away = FACTS[mapping.page_policy].away
    page_nodes = page_node_set(topology, mapping.thread_nodes, mapping.page_nodes, away)
    if not page_nodes:
        raise _no_page_nodes(mapping, topology)
    return Placement(mapping, topology, slots, page_nodes)


# Spaces ask for the same teams under every page policy, and for the same nodes for every team.
@lru_cache(maxsize=256)
def _thread_slots(
    topology: Topology,
    threads: int,
    thread_nodes: int,
    thread_policy: ThreadPolicy,
    threads_per_core: int,
    thread_l3s: int = 0,
) -> tuple[ThreadSlot, ...]:
    """Return where every thread runs, in the order of thread numbers; nothing if they do not fit.

    The threads are dealt to the thread nodes round robin, skipping full nodes: in this order under `scatter`; under
    `contiguous` each node gets as many, but consecutive threads. With K threads a core the i-th thread of a node takes
    PU i % K of its core i // K. Over L3 caches a node's threads are dealt as all are over nodes.
    """
    nodes, pus = topology.cpu_nodes[:thread_nodes], _node_pus(topology, threads_per_core)[:thread_nodes]
    if len(pus) < thread_nodes or sum(map(len, pus)) < threads:
        return ()
    if thread_l3s:
        pus = _spread_over_l3s(topology, threads, pus, thread_policy, threads_per_core, thread_l3s)
        if sum(map(len, pus)) < threads:
            return ()
    return tuple(ThreadSlot(nodes[owner].index, pu) for owner, pu in dealt(threads, pus, thread_policy))


def _spread_over_l3s(
    topology: Topology,
    threads: int,
    node_pus: tuple[tuple[int, ...], ...],
    thread_policy: ThreadPolicy,
    threads_per_core: int,
    thread_l3s: int,
) -> tuple[tuple[int, ...], ...]:
    """Return each node's PUs in the order of its threads, which are dealt over its L3 caches; none if they do not fit.

    ``node_pus`` has all that threads could take. The L3 caches are dealt to the nodes round robin, as threads are, and
    those of a node are evenly apart.
    """
    l3s = [
        [pus_of(cores, threads_per_core) for cores in domains_of(topology, node.index)]
        for node in topology.cpu_nodes[: len(node_pus)]
    ]
    if count_domains(topology, len(node_pus)) < thread_l3s:
        return ()
    counts = Counter(_deal(thread_l3s, [len(rows) for rows in l3s]))
    used = [_evenly(rows, counts[number]) for number, rows in enumerate(l3s)]
    rooms = [sum(map(len, rows)) for rows in used]
    if sum(rooms) < threads:
        return ()
    counts = Counter(_deal(threads, rooms))
    return tuple(tuple(pu for _, pu in dealt(counts[number], rows, thread_policy)) for number, rows in enumerate(used))


def _evenly(rows: Sequence[T], count: int) -> list[T]:
    """Return so many of the rows, as far apart as they can be: neighbouring caches may share a die and its link."""
    return [rows[number * len(rows) // count] for number in range(count)]


def dealt(threads: int, rows: Sequence[Sequence[T]], thread_policy: ThreadPolicy) -> Iterator[tuple[int, T]]:
    """Yield for each thread the number of its node's row and its place in it, of which there are enough."""
    owners = _deal(threads, [len(row) for row in rows])
    if thread_policy == "contiguous":
        owners.sort()
    left = [iter(row) for row in rows]
    for owner in owners:
        yield owner, next(left[owner])


def _no_slots(mapping: Mapping, topology: Topology) -> InvalidMappingError:
    """Return the error that says why the threads do not fit: too few nodes, cores, or PUs of a core."""
    nodes, each = topology.cpu_nodes[: mapping.thread_nodes], mapping.threads_per_core
    if each > topology.threads_per_core:
        return InvalidMappingError(
            f"mapping {mapping.label} puts {each} threads on each core; {topology.name} has "
            f"{counted(topology.threads_per_core, 'usable PU')} per core"
        )
    unit, room = "core" if each == 1 else "PU", sum(map(len, _node_pus(topology, each)[: len(nodes)]))
    if mapping.thread_l3s and mapping.threads <= room:
        l3s = count_domains(topology, mapping.thread_nodes)
        return InvalidMappingError(
            f"mapping {mapping.label} needs {counted(mapping.threads, unit)} on "
            f"{counted(mapping.thread_l3s, 'L3 cache')}; {topology.name} has {counted(room, unit)} on "
            f"{counted(l3s, 'L3 cache')} of {'its first ' if len(nodes) > 1 else ''}{counted(len(nodes), 'node')}"
        )
    return InvalidMappingError(
        f"mapping {mapping.label} needs {counted(mapping.threads, unit)} on "
        f"{counted(mapping.thread_nodes, 'node')}; {topology.name} has {counted(room, unit)} on "
        f"{'its first ' if len(nodes) > 1 else ''}{counted(len(nodes), 'node')}"
    )


@lru_cache(maxsize=16)
def _node_pus(topology: Topology, threads_per_core: int) -> tuple[tuple[int, ...], ...]:
    """Return ``pus_of`` each node with cores; nothing where no core has so many PUs."""
    if threads_per_core > topology.threads_per_core:
        return ()
    return tuple(pus_of(node.cores, threads_per_core) for node in topology.cpu_nodes)


@lru_cache(maxsize=256)
def _spread(nodes: tuple[int, ...], chunks: int) -> tuple[int, ...]:
    """Return the node of each of so many chunks, spread evenly and in order."""
    return tuple([nodes[chunk * len(nodes) // chunks] for chunk in range(chunks)])


@lru_cache(maxsize=256)
def page_node_set(topology: Topology, thread_nodes: int, page_nodes: int, away: bool) -> tuple[int, ...]:
    """Return the nodes (logical indices) among which the pages are spread, the preferred one first; nothing if too few.

    With as many page nodes as thread nodes they are the thread nodes' homes, each once. Otherwise they are the first
    of: these homes, then the other memory nodes by distance from the first thread node. `remote`, the only policy with
    pages ``away`` from the threads, has the farthest memory node without threads.
    """
    threads_on = [node.index for node in topology.cpu_nodes[:thread_nodes]]
    homes = list(dict.fromkeys(topology.home(index) for index in threads_on))
    row = topology.distances[threads_on[0]]
    if away:
        free = [node.index for node in topology.memory_nodes if node.index not in threads_on]
        return (min(free, key=lambda index: (-row[index], index)),) if free else ()
    if page_nodes == thread_nodes:
        return tuple(homes)
    others = sorted(
        (node.index for node in topology.memory_nodes if node.index not in homes), key=lambda index: (row[index], index)
    )
    candidates = homes + others
    return tuple(candidates[:page_nodes]) if page_nodes <= len(candidates) else ()


def _no_page_nodes(mapping: Mapping, topology: Topology) -> InvalidMappingError:
    """Return the error that says why the pages' nodes are too few."""
    if FACTS[mapping.page_policy].away:
        return InvalidMappingError(
            f"mapping {mapping.label}: {mapping.page_policy} needs a node without threads, and "
            f"{topology.name} has none left"
        )
    return InvalidMappingError(
        f"mapping {mapping.label} needs {counted(mapping.page_nodes, 'node')} with memory; "
        f"{topology.name} has {len(topology.memory_nodes)}"
    )


def pus_of(cores: Sequence[Core], threads_per_core: int) -> tuple[int, ...]:
    """Return the PUs (OS indices) for threads on these cores, in their order, with so many on each that has as many.

    A core with fewer PUs, such as a hybrid processor's slower ones, has a thread on each of them.
    """
    return tuple(pu for core in cores for pu in core.pus[:threads_per_core])


def _deal(threads: int, rooms: list[int]) -> list[int]:
    """Return the position in ``rooms`` of each thread's node, dealt round robin, skipping nodes without room."""
    owners: list[int] = []
    depth = 0
    while len(owners) < threads:
        owners += [position for position, room in enumerate(rooms) if room > depth]
        depth += 1
    return owners[:threads]
