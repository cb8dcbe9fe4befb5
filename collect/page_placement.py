"""The node of each page under a placement, from each thread's accesses to it."""

import heapq
from dataclasses import dataclass, field
from functools import cached_property
from typing import assert_never

import numpy as np
import numpy.typing as npt

from numapredict.collect.placement import Placement
from numapredict.native.errors import InvalidMappingError

# A page is placed for locality under `mix` when one node makes at least this share of its accesses. Diener et al.
# (PDP 2015, the "mixed" policy of ICS'19) compare the same share, a page's exclusivity, with a threshold; the value
# is ours: at most one access in ten of such a page is remote. It must exceed one half for pages shared by two nodes.
DOMINANT_SHARE = 0.9

Nodes = npt.NDArray[np.int32]
Weights = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PageAccesses:
    """Each thread's accesses to each page, for P pages and T threads; the arrays must not change afterwards.

    ``address`` int64[P]: page numbers (address divided by the page size). ``accesses`` float64[P, T]: accesses of
    every thread, in lines. ``toucher`` int32[P]: the thread that wrote to the page first. ``size`` int64[P]: the
    pages of the allocation that it lies in, 0 where it lies in none that is placed by itself; ``place`` int64[P]: its
    place there, from 0. Values that depend on the pages alone are computed once.
    """

    address: npt.NDArray[np.int64]
    accesses: Weights
    toucher: npt.NDArray[np.int32]
    place: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
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

    def balanced(self, nodes: int) -> Nodes:
        """Return the position among ``nodes`` page nodes that the balance policy gives every page, int32[P]."""
        if nodes not in self._balanced:
            positions = np.empty(len(self.total), dtype=np.int32)
            positions[self.order] = greedy_balance(self.total[self.order], np.zeros(nodes))
            self._balanced[nodes] = positions
        return self._balanced[nodes]


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
            chunks = np.array(placement.chunks, dtype=np.int32)
            cut = np.take(chunks, pages.place * mapping.threads // np.maximum(pages.size, 1))
            # The preload library cuts allocations only. Other pages stay where they are first touched, if that is a
            # page node.
            at_home = np.isin(homes, page_nodes).all()
            others = np.take(homes, pages.toucher) if at_home else _interleaved(placement, pages)
            return np.where(pages.size > 0, cut, others)
        case "interleave":
            return _interleaved(placement, pages)
        case "weighted":
            turns = np.array(placement.chunks, dtype=np.int32)
            return np.take(turns, pages.address % len(turns))
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


def _interleaved(placement: Placement, pages: PageAccesses) -> Nodes:
    """Return the node of each page as the kernel interleaves: in ascending OS index, whatever node is preferred."""
    nodes = np.array(placement.page_nodes, dtype=np.int32)[np.argsort(placement.os_page_nodes)]
    return np.take(nodes, pages.address % len(nodes))


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
