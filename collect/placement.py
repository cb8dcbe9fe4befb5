"""Placement: what a mapping means on a topology, thread by thread and page by page."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import assert_never

import msgspec
import numpy as np
import numpy.typing as npt

from numapredict.collect.mapping import Mapping, problem_of
from numapredict.collect.page_policy import FACTS
from numapredict.collect.terminal.printable import counted
from numapredict.collect.topology import Node, Topology
from numapredict.native.errors import InvalidMappingError

# A page is placed for locality under `mix` when one node makes at least this share of its accesses. Diener et al.
# (PDP 2015, the "mixed" policy of ICS'19) compare the same share, a page's exclusivity, with a threshold; the value
# is ours: at most one access in ten of such a page is remote. It must exceed one half for pages shared by two nodes.
DOMINANT_SHARE = 0.9

Nodes = npt.NDArray[np.int32]
Weights = npt.NDArray[np.float64]


class ThreadSlot(msgspec.Struct, frozen=True):
    """Where one thread runs: the node's logical index and the PU's OS index."""

    node: int
    pu: int


@dataclass(frozen=True, eq=False)
class PageAccesses:
    """Each thread's accesses to each page, for P pages and T threads; the arrays must not change afterwards.

    ``address`` int64[P]: page numbers (address divided by the page size). ``accesses`` float64[P, T]: accesses of
    every thread, in lines. ``toucher`` int32[P]: the thread that wrote to the page first. ``site`` int32[P]: the
    page's allocation site. Values that depend on the pages alone are computed once.
    """

    address: npt.NDArray[np.int64]
    accesses: Weights
    toucher: npt.NDArray[np.int32]
    site: npt.NDArray[np.int32]
    _balanced: dict[int, Nodes] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def total(self) -> Weights:
        """Return the accesses of all threads together, float64[P]."""
        total: Weights = self.accesses.sum(axis=1)
        return total

    @cached_property
    def order(self) -> npt.NDArray[np.intp]:
        """Return the pages' positions in address order, intp[P]."""
        return np.argsort(self.address, kind="stable")

    @cached_property
    def rank_and_size(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return each page's place in its site by address, and the site's number of pages: two int64[P]."""
        by_site = np.lexsort((self.address, self.site))
        _, first, group, count = np.unique(
            self.site[by_site], return_index=True, return_inverse=True, return_counts=True
        )
        rank = np.empty(len(self.site), dtype=np.int64)
        size = np.empty(len(self.site), dtype=np.int64)
        rank[by_site] = np.arange(len(self.site)) - first[group]
        size[by_site] = count[group]
        return rank, size

    def balanced(self, nodes: int) -> Nodes:
        """Return the position among ``nodes`` page nodes that the balance policy gives every page, int32[P]."""
        if nodes not in self._balanced:
            positions = np.empty(len(self.total), dtype=np.int32)
            positions[self.order] = greedy_balance(self.total[self.order], np.zeros(nodes))
            self._balanced[nodes] = positions
        return self._balanced[nodes]


@dataclass(frozen=True)
class Placement:
    """A mapping resolved on a topology that it fits: where every thread runs, and on which nodes pages go.

    ``slots`` are in the order of thread numbers; ``page_nodes`` (logical indices) have the preferred one first.
    """

    mapping: Mapping
    topology: Topology
    slots: tuple[ThreadSlot, ...]
    page_nodes: tuple[int, ...]

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
        """Return the node of each of the chunks, one a thread, into which `dataset` cuts every allocation site."""
        if self.mapping.page_nodes == self.mapping.thread_nodes:
            return self.homes
        threads = self.mapping.threads
        return tuple(self.page_nodes[chunk * len(self.page_nodes) // threads] for chunk in range(threads))

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
    return Placement(mapping, topology, _thread_slots(mapping, topology), _page_node_set(mapping, topology))


def place_pages(placement: Placement, pages: PageAccesses) -> Nodes:
    """Return the node (logical index) of every page, int32[P].

    Raises InvalidMappingError when the accesses have another number of threads.
    """
    mapping = placement.mapping
    if pages.accesses.shape[1] != mapping.threads:
        raise InvalidMappingError(
            f"mapping {mapping.label} has {mapping.threads} threads, the accesses are of {pages.accesses.shape[1]}"
        )
    page_nodes = np.array(placement.page_nodes, dtype=np.int32)
    if len(page_nodes) == 1:
        return np.full(len(pages.address), page_nodes[0], dtype=np.int32)
    homes = np.array(placement.homes, dtype=np.int32)
    targets = page_nodes
    where: npt.NDArray[np.integer]
    match mapping.page_policy:
        case "first-touch":
            targets, where = homes, pages.toucher
        case "dataset":
            rank, size = pages.rank_and_size
            targets = np.array(placement.chunks, dtype=np.int32)
            where = rank * mapping.threads // size
        case "interleave":
            # The kernel interleaves pages over a set of nodes in ascending OS index; the preferred node has no effect.
            targets = page_nodes[np.argsort(placement.os_page_nodes)]
            where = pages.address % len(targets)
        case "balance":
            where = pages.balanced(len(page_nodes))
        case "locality":
            where, _ = _most_accessed(page_nodes, homes, pages)
        case "mix":
            where = _mixed(page_nodes, homes, pages)
        case "bind" | "remote":
            raise AssertionError(f"{mapping.label} has one page node")
        case other:
            assert_never(other)
    return np.take(targets, where)


def greedy_balance(weights: Weights, bins: Weights) -> Nodes:
    """Assign the weights in order, each to the least filled bin (thesis fig. 6), and return the bins, int32[P].

    ``bins`` float64[N] are the bins' initial weights; among equal bins the first gets the weight.
    """
    heap = [(load, position) for position, load in enumerate(bins.tolist())]
    heapq.heapify(heap)
    replace = heapq.heapreplace
    chosen: list[int] = []
    choose = chosen.append
    for weight in weights.tolist():
        load, position = heap[0]
        choose(position)
        replace(heap, (load + weight, position))
    return np.array(chosen, dtype=np.int32)


def _thread_slots(mapping: Mapping, topology: Topology) -> tuple[ThreadSlot, ...]:
    """Return where every thread runs, in the order of thread numbers.

    The threads are dealt to the thread nodes round robin, skipping full nodes: in this order under `scatter`; under
    `contiguous` each node gets as many, but consecutive threads. The i-th thread of a node takes its i-th core's first
    PU. Raises InvalidMappingError when there are too few nodes or cores.
    """
    nodes = topology.cpu_nodes[: mapping.thread_nodes]
    room = sum(len(node.cores) for node in nodes)
    if len(nodes) < mapping.thread_nodes or room < mapping.threads:
        raise InvalidMappingError(
            f"mapping {mapping.label} needs {counted(mapping.threads, 'core')} on "
            f"{counted(mapping.thread_nodes, 'node')}; {topology.name} has {counted(room, 'core')} on "
            f"{'its first ' if len(nodes) > 1 else ''}{counted(len(nodes), 'node')}"
        )
    owners = _deal(mapping.threads, nodes)
    if mapping.thread_policy == "contiguous":
        owners.sort()
    used = [0] * len(nodes)
    slots = []
    for owner in owners:
        node = nodes[owner]
        slots.append(ThreadSlot(node.index, node.cores[used[owner]].pus[0]))
        used[owner] += 1
    return tuple(slots)


def _page_node_set(mapping: Mapping, topology: Topology) -> tuple[int, ...]:
    """Return the nodes (logical indices) among which the pages are spread, the preferred one first.

    With as many page nodes as thread nodes they are the thread nodes' homes, each once. Otherwise they are the first
    of: these homes, then the other memory nodes by distance from the first thread node. `remote` has the farthest
    memory node without threads. Raises InvalidMappingError when there are too few.
    """
    thread_nodes = [node.index for node in topology.cpu_nodes[: mapping.thread_nodes]]
    homes = list(dict.fromkeys(topology.home(index) for index in thread_nodes))
    row = topology.distances[thread_nodes[0]]
    if FACTS[mapping.page_policy].away:
        free = [node.index for node in topology.memory_nodes if node.index not in thread_nodes]
        if not free:
            raise InvalidMappingError(
                f"mapping {mapping.label}: {mapping.page_policy} needs a node without threads, and "
                f"{topology.name} has none left"
            )
        return (min(free, key=lambda index: (-row[index], index)),)
    if mapping.page_nodes == mapping.thread_nodes:
        return tuple(homes)
    others = sorted(
        (node.index for node in topology.memory_nodes if node.index not in homes), key=lambda index: (row[index], index)
    )
    candidates = homes + others
    if mapping.page_nodes > len(candidates):
        raise InvalidMappingError(
            f"mapping {mapping.label} needs {counted(mapping.page_nodes, 'node')} with memory; "
            f"{topology.name} has {len(candidates)}"
        )
    return tuple(candidates[: mapping.page_nodes])


def _deal(threads: int, nodes: tuple[Node, ...]) -> list[int]:
    """Return the position in ``nodes`` of each thread, dealt round robin, skipping full nodes."""
    owners: list[int] = []
    depth = 0
    while len(owners) < threads:
        owners += [position for position, node in enumerate(nodes) if len(node.cores) > depth]
        depth += 1
    return owners[:threads]


def _most_accessed(page_nodes: Nodes, homes: Nodes, pages: PageAccesses) -> tuple[Nodes, Weights]:
    """Return the position of the page node whose threads access each page most, and their accesses; ties: first."""
    belongs = (homes[:, None] == page_nodes[None, :]).astype(np.float64)
    # One row a node: the comparisons below then run along memory.
    accesses = np.ascontiguousarray((pages.accesses @ belongs).T)
    best = np.zeros(accesses.shape[1], dtype=np.int32)
    most = accesses[0]
    for position in range(1, len(page_nodes)):
        more = accesses[position] > most
        best[more] = position
        most = np.maximum(most, accesses[position])
    return best, most


def _mixed(page_nodes: Nodes, homes: Nodes, pages: PageAccesses) -> Nodes:
    """Return the position of each page's node: by locality with a dominant page node, else balanced after those."""
    best, most = _most_accessed(page_nodes, homes, pages)
    dominated = most >= DOMINANT_SHARE * pages.total
    loads = np.bincount(best[dominated], weights=pages.total[dominated], minlength=len(page_nodes))
    shared = pages.order[~dominated[pages.order]]
    best[shared] = greedy_balance(pages.total[shared], loads.astype(np.float64))
    return best
