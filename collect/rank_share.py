"""Ranks of a parallel job that share one mapping of a computer, and the label's suffix that says where each goes; pure.

``16x4-contiguous-locality-1pernode``: 16 threads on 4 nodes, and of these one rank a node has 4. ``-2persocket`` and
``-1perl3`` are two ranks a socket and one a level 3 cache. The thread policy then deals a rank's threads over the nodes
of its part. Without the suffix rank r of n has threads r * threads / n to (r + 1) * threads / n - 1 of the mapping.
In C this is native/placement/process/settings.h.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import msgspec

from numapredict.collect.domain import domains_used
from numapredict.collect.mapping import Mapping
from numapredict.collect.placement import Placement, ThreadSlot, dealt, pus_of, resolve
from numapredict.collect.terminal.printable import counted
from numapredict.collect.topology import Topology, restrict
from numapredict.native.errors import InvalidMappingError

Part = Literal["node", "socket", "l3"]
PARTS: tuple[Part, ...] = get_args(Part)
_IN_WORDS: dict[Part, str] = {"node": "node", "socket": "socket", "l3": "level 3 cache"}
_SUFFIX = re.compile(rf"(.+)-([1-9][0-9]{{0,3}})per({'|'.join(PARTS)})")


class RanksPer(msgspec.Struct, frozen=True):
    """So many ranks on each part of the mapping's nodes."""

    count: int
    part: Part

    def __str__(self) -> str:
        """Return the suffix of a label."""
        return f"-{self.count}per{self.part}"


def split_label(text: str) -> tuple[str, RanksPer | None]:
    """Return the mapping's part of a text, and what its suffix says of ranks, None where it has none."""
    match = _SUFFIX.fullmatch(text)
    if match is None:
        return text, None
    return match[1], RanksPer(int(match[2]), next(part for part in PARTS if part == match[3]))


def shared(placement: Placement, ranks: RanksPer, packages: Sequence[frozenset[int]] = ()) -> Placement:
    """Return the placement with its slots in the order of the ranks, each rank's one after the other.

    ``packages`` has the PUs of each package, for ranks by socket. Raises InvalidMappingError where the ranks cannot
    have equally many threads, or a part has too few cores.
    """
    mapping, topology = placement.mapping, placement.topology
    label = f"{mapping.label}{ranks}"
    if mapping.thread_l3s:
        raise InvalidMappingError(
            f"mapping {label}: {ranks} says how ranks share caches; leave out -{mapping.thread_l3s}l3"
        )
    nodes = topology.cpu_nodes[: mapping.thread_nodes]
    places = [ThreadSlot(node.index, pu) for node in nodes for pu in pus_of(node.cores, mapping.threads_per_core)]
    groups = _parts(topology, places, ranks.part, packages)
    if groups is None:
        raise InvalidMappingError(
            f"mapping {label}: {topology.name} has no {_IN_WORDS[ranks.part]} for each core; use -1pernode"
        )
    count = len(groups) * ranks.count
    if mapping.threads % count:
        raise InvalidMappingError(
            f"mapping {label}: {counted(mapping.threads, 'thread')} cannot be shared evenly by {counted(count, 'rank')}"
            f", {ranks.count} on each of {counted(len(groups), _IN_WORDS[ranks.part])}; take a multiple of {count}"
        )
    each = mapping.threads // count
    slots: list[ThreadSlot] = []
    for group in groups:
        for number in range(ranks.count):
            own = group[number * len(group) // ranks.count : (number + 1) * len(group) // ranks.count]
            if len(own) < each:
                raise InvalidMappingError(
                    f"mapping {label}: a rank has {counted(each, 'thread')}, and its part of a "
                    f"{_IN_WORDS[ranks.part]} {counted(len(own), 'place')}; take fewer threads"
                )
            slots += _dealt(mapping, own, each)
    return replace(placement, slots=tuple(slots), ranks=count)


def slots_of(placement: Placement, rank: int, ranks: int) -> tuple[ThreadSlot, ...]:
    """Return the slots of one rank of so many: equal shares but for rounding, and at least one slot."""
    first, end = (number * len(placement.slots) // ranks for number in (rank, rank + 1))
    return placement.slots[first : max(end, first + 1)]


def os_page_nodes_of(placement: Placement, rank: int, ranks: int) -> tuple[int, ...]:
    """Return the page nodes of one rank (OS indices).

    They are the homes of its own threads where the mapping's page nodes are those of all threads; else the mapping's.
    """
    if set(placement.page_nodes) != set(placement.homes):
        return placement.os_page_nodes
    homes = (placement.topology.home(slot.node) for slot in slots_of(placement, rank, ranks))
    return placement.os_indices(dict.fromkeys(homes))


def share_of(placement: Placement, rank: int, ranks: int) -> Placement:
    """Return the placement of one rank as one of its own, on the part of the topology that is the rank's."""
    mapping, slots = placement.mapping, slots_of(placement, rank, ranks)
    pus = tuple(slot.pu for slot in slots)
    own = restrict(placement.topology, pus, frozenset(os_page_nodes_of(placement, rank, ranks)))
    nodes = len({slot.node for slot in slots})
    at_home = set(placement.page_nodes) == set(placement.homes)
    threads_per_core = min(mapping.threads_per_core, own.threads_per_core)
    share = Mapping(
        len(slots),
        nodes,
        mapping.thread_policy,
        nodes if at_home else mapping.page_nodes,
        mapping.page_policy,
        threads_per_core,
        domains_used(own, pus) if mapping.thread_l3s else 0,
    )
    return replace(resolve(share, own), ranks=1)


def _parts(
    topology: Topology, places: list[ThreadSlot], part: Part, packages: Sequence[frozenset[int]]
) -> list[list[ThreadSlot]] | None:
    """Return the places by part, in their order; None where one is in no part."""
    if part == "node":
        nodes = dict.fromkeys(place.node for place in places)
        return [[place for place in places if place.node == node] for node in nodes]
    sets = list(packages)
    if part == "l3":
        pus = {core.index: core.pus for node in topology.nodes for core in node.cores}
        caches = (cache for cache in topology.caches if cache.level == 3)
        sets = [frozenset(pu for core in cache.cores for pu in pus[core]) for cache in caches]
    found: dict[int, list[ThreadSlot]] = {}
    for place in places:
        number = next((number for number, one in enumerate(sets) if place.pu in one), None)
        if number is None:
            return None
        found.setdefault(number, []).append(place)
    return list(found.values())


def _dealt(mapping: Mapping, places: list[ThreadSlot], threads: int) -> list[ThreadSlot]:
    """Return the slots of a rank's threads among its places, dealt over its nodes by the thread policy."""
    rows = [[place for place in places if place.node == node] for node in dict.fromkeys(one.node for one in places)]
    return [place for _, place in dealt(threads, rows, mapping.thread_policy)]
