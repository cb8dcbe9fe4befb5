"""Which regions can have their arrays on the same nodes by whose threads touch what, and which cannot.

Under locality a replay has each page on the node of the threads that touch it in this region. Where regions' touches of
one array come from different nodes, that is more than one place. Pure.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

LEAST_FEWER = 0.2
"""So much less of a region's touches has to be local on another one's pages for the two to want them elsewhere."""

_TOGETHER = 16
"""Touches of neighbouring pages that are placed together: a share is then known to an eighth."""

_Numbers = npt.NDArray[np.int64]
_Weights = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NodeTouches:
    """One region's sampled touches of one array, one row a page and node, in page order.

    ``page`` int64[N], ``node`` int64[N], ``count`` int64[N] touches seen, ``weight`` float64[N] what they stand for.
    """

    page: _Numbers
    node: _Numbers
    count: _Numbers
    weight: _Weights


@dataclass(frozen=True)
class TouchGroups:
    """Groups of regions, by number from 1 on: those ``of`` each region are the ones whose places it can have.

    The touches of the ``owners`` of a group decide where its pages are. Both are empty where all regions are of one.
    """

    of: Mapping[int, frozenset[int]] = field(default_factory=dict)
    owners: Mapping[int, frozenset[int]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Wanted:
    """Where a region wants the pages of an array: those from ``first`` on, up to the next one, on ``node``."""

    first: _Numbers
    node: _Numbers


_Own = Mapping[int, NodeTouches]
_Places = Mapping[int, _Wanted]


def groups_of(touches: Mapping[int, _Own]) -> TouchGroups:
    """Return the groups of regions, by number; ``touches`` are those of each of each array that it uses.

    Regions to which it matters most come first: others, whose touches come from all nodes alike, fit with these.
    """
    wanted = {region: {array: _wanted(its) for array, its in own.items()} for region, own in touches.items()}
    strict = sorted(touches, key=lambda region: -_local_share(touches[region], wanted[region]))
    owners: list[list[int]] = []

    def fits(region: int, group: list[int]) -> bool:
        return all(_lost(touches[region], wanted[region], wanted[owner]) < LEAST_FEWER for owner in group)

    def arrays(group: list[int]) -> Set[int]:
        return set().union(*(touches[owner].keys() for owner in group))

    for region in strict:
        fitting = next((group for group in owners if fits(region, group)), None)
        if fitting is None:
            owners.append([region])
        elif not touches[region].keys() <= arrays(fitting):
            fitting.append(region)
    if len(owners) < 2:
        return TouchGroups()
    numbered = dict(enumerate(owners, 1))
    of = {
        region: frozenset(
            number
            for number, group in numbered.items()
            if touches[region].keys() <= arrays(group) and fits(region, group)
        )
        for region in touches
    }
    return TouchGroups(of, {number: frozenset(group) for number, group in numbered.items()})


def _wanted(touches: NodeTouches) -> _Wanted:
    """Return where most touches of each few neighbouring pages come from."""
    pages, row = np.unique(touches.page, return_inverse=True)
    seen = np.bincount(row, weights=touches.count)
    part = ((np.cumsum(seen) - seen) // _TOGETHER).astype(np.int64)
    by_node = np.zeros((int(part.max(initial=0)) + 1, int(touches.node.max(initial=0)) + 1))
    np.add.at(by_node, (part[row], touches.node), touches.weight)
    known, first = np.unique(part, return_index=True)
    return _Wanted(pages[first], by_node[known].argmax(axis=1))


def _lost(touches: _Own, own: _Places, other: _Places) -> float:
    """Return the share of a region's touches of common arrays that are local where it wants these, and there not."""
    common = touches.keys() & other.keys()
    whole = sum(float(touches[array].weight.sum()) for array in common)
    fewer = sum(_local(touches[array], own[array]) - _local(touches[array], other[array]) for array in common)
    return fewer / whole if whole > 0 else 0.0


def _local_share(touches: _Own, wanted: _Places) -> float:
    whole = sum(float(its.weight.sum()) for its in touches.values())
    return sum(_local(its, wanted[array]) for array, its in touches.items()) / whole if whole > 0 else 0.0


def _local(touches: NodeTouches, wanted: _Wanted) -> float:
    if not len(wanted.first):
        return 0.0
    at = np.maximum(np.searchsorted(wanted.first, touches.page, side="right") - 1, 0)
    return float(touches.weight[wanted.node[at] == touches.node].sum())
