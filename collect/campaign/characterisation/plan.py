"""Which mappings a characterisation runs, and for which figure: from the topology alone (thesis sec. 4)."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, assert_never

import msgspec

from numapredict.collect.mapping import THREAD_POLICIES, Mapping, ThreadPolicy
from numapredict.collect.page_policy import FACTS, PAGE_POLICIES, USUAL, PagePolicy
from numapredict.collect.placement import pus_of
from numapredict.collect.space import (
    canonical_form,
    default_mapping,
    fits,
    full_counts,
    node_counts,
    placement_if_any,
    powers_of_two,
    smt_degrees,
)
from numapredict.collect.topology import Topology
from numapredict.native.errors import UsageError

BASE: PagePolicy = "first-touch"
"""The page policy of the thesis's tables of threads and nodes (figs. 8, 9, 16 and 17)."""


class Asked(msgspec.Struct, frozen=True):
    """One cell of a table or figure: the mapping requested, and its canonical form, which is run."""

    asked: Mapping
    run: Mapping


class CharacterisationPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The mappings of a characterisation by what they are for; a mapping may have several places.

    ``grid``: threads x nodes x thread policies (figs. 8, 9, 16, 17), for each number of threads a core; ``whole``:
    every page policy with all cores or the most threads asked for, on the most nodes (figs. 10 to 12, 14, 15, 18 to
    22); ``one_node``: one full node with its pages on it, on all nodes and on another one (figs. 13, 18 and 23).
    ``default`` is what speedups are relative to.
    """

    default: Mapping
    grid: tuple[Asked, ...]
    whole: tuple[Asked, ...]
    one_node: tuple[Asked, ...]

    @property
    def places(self) -> tuple[Asked, ...]:
        """Return every place once."""
        return tuple(dict.fromkeys((*self.grid, *self.whole, *self.one_node)))

    @property
    def mappings(self) -> tuple[Mapping, ...]:
        """Return every mapping that is run, once."""
        return tuple(dict.fromkeys(place.run for place in self.places))

    @property
    def thread_counts(self) -> tuple[int, ...]:
        """Return the numbers of threads, ascending."""
        return tuple(sorted({mapping.threads for mapping in self.mappings}))


def usual_thread_counts(topology: Topology) -> tuple[int, ...]:
    """Return the powers of two up to the first node's cores, and what fills 1, 2, 4 ... and all nodes."""
    powers = powers_of_two(len(topology.cpu_nodes[0].cores))
    return tuple(sorted({*powers, *full_counts(topology)}))


def plan_of(
    topology: Topology, threads: Sequence[int] = (), page_policies: Sequence[PagePolicy] = (), *, smt: bool = True
) -> CharacterisationPlan:
    """Return what to run on a machine: all usual numbers of threads, and tables for first touch, if none are given.

    With ``smt`` there are tables for several threads on each core too, where the machine has such cores: for the
    numbers that fill the first nodes' cores or all that they can run.
    Raises UsageError for a number of threads that the machine has no cores for, and for page policies that
    none of its mappings can have.
    """
    full = full_counts(topology)
    degrees = smt_degrees(topology) if smt else ()
    usual = {1: usual_thread_counts(topology)} | {each: (*full, *(each * count for count in full)) for each in degrees}
    most = {each: sum(len(pus_of(node.cores, each)) for node in topology.cpu_nodes) for each in usual}
    for count in threads:
        if not 1 <= count <= max(most.values()):
            raise UsageError(
                f"{count} threads do not fit {topology.name}, which has {topology.core_count} cores; "
                f"give 1 to {max(most.values())}"
            )
    counts = {each: tuple(sorted({*(threads or of_degree)})) for each, of_degree in usual.items()}
    wanted = tuple(policy for policy in PAGE_POLICIES if policy in page_policies) or (BASE,)
    sizes = [_Size(t, n, None, each) for each in counts for t in counts[each] for n in node_counts(topology)]
    grid = _places(topology, sizes, wanted)
    for policy in wanted:
        if not any(place.asked.page_policy == policy for place in grid):
            raise UsageError(
                f"{topology.name} has no mapping with page policy {policy!r} and "
                f"{', '.join(map(str, counts[1]))} threads; choose another policy or fewer threads"
            )
    all_threads = max(counts[1])
    each = next(each for each in most if all_threads <= most[each])
    widest = [nodes for nodes in node_counts(topology) if _some_fit(topology, all_threads, nodes, each)][-1:]
    whole = _once(_places(topology, [_Size(all_threads, nodes, None, each) for nodes in widest], USUAL))
    one_node = _one_node(topology, counts[1])
    if one_node and widest == [1]:  # so few threads were requested that they fit one node
        whole, one_node = one_node, ()
    return CharacterisationPlan(default=default_mapping(topology), grid=grid, whole=whole, one_node=one_node)


def _one_node(topology: Topology, counts: tuple[int, ...]) -> tuple[Asked, ...]:
    """Return the places with all threads on one node, as many as fit; none on a machine with a single node."""
    fitting = [count for count in counts if count <= len(topology.cpu_nodes[0].cores)]
    if not fitting or len(topology.nodes) == 1:
        return ()
    everywhere = len(topology.memory_nodes)
    places = _places(topology, [_Size(max(fitting), 1, 1)], ("bind",))
    places += _places(topology, [_Size(max(fitting), 1, everywhere)], ("interleave",))
    places += _places(topology, [_Size(max(fitting), 1, 1)], ("remote",))
    return _once(places)


def _once(places: Sequence[Asked]) -> tuple[Asked, ...]:
    """Return the first of the places of each mapping that is run."""
    return tuple({place.run: place for place in reversed(places)}.values())[::-1]


class _Size(NamedTuple):
    """The numbers of a place; page nodes are by policy where None."""

    threads: int
    nodes: int
    page_nodes: int | None
    threads_per_core: int = 1


def _places(topology: Topology, sizes: Iterable[_Size], page_policies: Sequence[PagePolicy]) -> tuple[Asked, ...]:
    """Return the places of all sizes that fit, with both thread policies, without those equal to fewer a core."""
    places = []
    for threads, nodes, pages, each in sizes:
        for thread_policy in THREAD_POLICIES:
            for page_policy in page_policies:
                page_nodes = pages or _page_nodes(topology, nodes, page_policy)
                mapping = Mapping(threads, nodes, thread_policy, page_nodes, page_policy, each)
                placement = placement_if_any(mapping, topology)
                if placement is not None and (run := canonical_form(placement)).threads_per_core == each:
                    places.append(Asked(mapping, run))
    return tuple(places)


def _page_nodes(topology: Topology, thread_nodes: int, page_policy: PagePolicy) -> int:
    """Return over how many nodes a policy spreads pages: the thread nodes, as far as so many have memory."""
    match FACTS[page_policy].page_nodes:
        case "one node":
            return 1
        case "thread nodes":
            return thread_nodes
        case "any number":
            return min(thread_nodes, len(topology.memory_nodes))
        case other:
            assert_never(other)


def _some_fit(topology: Topology, threads: int, nodes: int, threads_per_core: int) -> bool:
    thread_policies: tuple[ThreadPolicy, ...] = THREAD_POLICIES
    sizes = (Mapping(threads, nodes, policy, nodes, BASE, threads_per_core) for policy in thread_policies)
    return any(fits(mapping, topology) for mapping in sizes)
