"""Spaces: which mappings fit a topology, which of them mean the same, and the named subsets of the literature."""

import itertools
from collections import Counter
from typing import assert_never

from numapredict.collect.mapping import THREAD_POLICIES, Mapping, ThreadPolicy
from numapredict.collect.page_policy import FACTS, PAGE_POLICIES, PagePolicy
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidMappingError, UsageError

SUBSETS = ("full", "thesis", "dashti", "diener", "wang", "denoyelle")


def canonical(mapping: Mapping, topology: Topology) -> Mapping:
    """Return the representative of all mappings that place threads and pages alike on this topology.

    Contiguous represents scatter where they are equal, bind everything on one node, and the fewest page nodes and
    threads a core any choice with the same effect. Raises InvalidMappingError for a mapping that does not fit.
    """
    return canonical_form(resolve(mapping, topology))


def canonical_form(placement: Placement) -> Mapping:
    """Return the canonical mapping of this placement: see ``canonical``."""
    mapping, topology = placement.mapping, placement.topology
    if mapping.threads_per_core > 1:
        most = max(Counter(slot.node for slot in placement.slots).values())
        mapping = mapping.replaced(threads_per_core=min(mapping.threads_per_core, most))
    if mapping.thread_policy != "contiguous":
        in_order = mapping.replaced(thread_policy="contiguous")
        if resolve(in_order, topology).slots == placement.slots:
            mapping = in_order
    home = topology.home(placement.slots[0].node)
    bound = mapping.replaced(page_policy="bind", page_nodes=1)
    policy = FACTS[mapping.page_policy]
    if policy.with_threads and set(placement.homes) == {home}:
        return bound
    if policy.decided_by == "chunk":
        return _fewest_chunk_nodes(resolve(mapping, topology), bound)
    match policy.page_nodes:
        case "one node":
            return bound if placement.page_nodes == (home,) else mapping
        case "thread nodes":
            return mapping
        case "any number":
            count = len(placement.page_nodes)
            return bound if count == 1 else mapping.replaced(page_nodes=count)
        case other:
            assert_never(other)


def default_mapping(topology: Topology) -> Mapping:
    """Return a careful programmer's usual mapping: every core, threads bound in order, pages by first touch."""
    nodes = len(topology.cpu_nodes)
    return canonical(Mapping(topology.core_count, nodes, "contiguous", nodes, "first-touch"), topology)


def full_space(topology: Topology, *, smt: bool = True) -> tuple[Mapping, ...]:
    """Return every mapping of the coupled space once, in canonical form and a fixed order.

    Thread counts are the powers of two, what fills the first nodes, and all cores; nodes are the powers of two and
    all. Any number of threads that fits a number of nodes meets every thread and page policy (ICS'19 table 1).
    With ``smt`` follow the mappings with several threads on each core, where the machine has such cores.
    """
    powers = powers_of_two(topology.core_count)
    counts = {1: tuple(sorted({*powers, *full_counts(topology)}))}
    if smt:
        counts |= {each: smt_counts(topology, each) for each in smt_degrees(topology)}
    return _space(topology, counts)


def subset(name: str, topology: Topology, *, smt: bool = True) -> tuple[Mapping, ...]:
    """Return a named part of the full space, in its order; raise UsageError for another name.

    Only "full" has mappings with several threads on a core, and none without ``smt``.

    "thesis" is the space of the thesis (table 1 and sec. 5.1): as many threads as fill 1, 2, 4 ... nodes, pages on
    the thread nodes, and the worst case, one full node with remote pages. The others are what its table 1 grants to
    related work: Dashti (2013), Diener (2015), Wang (2016) and Denoyelle (2019).
    """
    filling = full_counts(topology)
    everything = (topology.core_count,)  # and with it every node: fewer have fewer cores
    match name:
        case "full":
            return full_space(topology, smt=smt)
        case "thesis":
            on_thread_nodes = _on_thread_nodes(topology, filling, THREAD_POLICIES, ("locality", "balance"))
            wanted = {*on_thread_nodes, *_worst_case(topology)}
        case "dashti":
            wanted = _on_thread_nodes(topology, everything, ("scatter",), ("locality", "interleave"))
        case "diener":
            wanted = _on_thread_nodes(topology, everything, ("scatter",), ("locality",))
        case "wang":
            wanted = _on_thread_nodes(topology, filling, THREAD_POLICIES, ("first-touch", "interleave"))
        case "denoyelle":
            wanted = _on_thread_nodes(topology, everything, THREAD_POLICIES, ("first-touch", "balance"))
        case _:
            raise UsageError(f"{name!r} is no subset of the mappings; choose one of {', '.join(SUBSETS)}")
    return tuple(mapping for mapping in full_space(topology, smt=False) if mapping in wanted)


def _space(topology: Topology, thread_counts: dict[int, tuple[int, ...]]) -> tuple[Mapping, ...]:
    """Return the canonical mappings of all combinations that fit, without duplicates, in order.

    ``thread_counts`` are by threads a core.
    """
    page_counts = {1, *powers_of_two(len(topology.memory_nodes)), len(topology.memory_nodes)}
    found: dict[Mapping, None] = {}
    for threads_per_core, threads, thread_nodes, thread_policy in (
        (per_core, *others)
        for per_core, counts in thread_counts.items()
        for others in itertools.product(counts, node_counts(topology), THREAD_POLICIES)
    ):
        team = Mapping(threads, thread_nodes, thread_policy, thread_nodes, "interleave", threads_per_core)
        fitting = placement_if_any(team, topology)
        if fitting is None:
            continue
        form = canonical_form(fitting)
        if (form.thread_policy, form.threads_per_core) != (thread_policy, threads_per_core):
            continue
        numbers = {"one node": [1], "thread nodes": [thread_nodes], "any number": sorted({*page_counts, thread_nodes})}
        for page_policy in PAGE_POLICIES:
            for page_nodes in numbers[FACTS[page_policy].page_nodes]:
                mapping = team.replaced(page_policy=page_policy, page_nodes=page_nodes)
                placement = placement_if_any(mapping, topology)
                if placement is not None:
                    found[canonical_form(placement)] = None
    return tuple(found)


def _on_thread_nodes(
    topology: Topology,
    thread_counts: tuple[int, ...],
    thread_policies: tuple[ThreadPolicy, ...],
    page_policies: tuple[PagePolicy, ...],
) -> set[Mapping]:
    """Return the canonical mappings of all combinations whose pages are on the thread nodes."""
    candidates = (
        Mapping(threads, thread_nodes, thread_policy, thread_nodes, page_policy)
        for threads in thread_counts
        for thread_nodes in node_counts(topology)
        for thread_policy in thread_policies
        for page_policy in page_policies
    )
    placements = (placement_if_any(mapping, topology) for mapping in candidates)
    return {canonical_form(placement) for placement in placements if placement is not None}


def _worst_case(topology: Topology) -> set[Mapping]:
    """Return one full node with all pages on another one (thesis sec. 5.1), where there is another one."""
    mapping = Mapping(len(topology.cpu_nodes[0].cores), 1, "contiguous", 1, "remote")
    placement = placement_if_any(mapping, topology)
    return {canonical_form(placement)} if placement is not None else set()


def placement_if_any(mapping: Mapping, topology: Topology) -> Placement | None:
    """Return a mapping's placement on the topology, or None where it does not fit."""
    try:
        return resolve(mapping, topology)
    except InvalidMappingError:
        return None


def fits(mapping: Mapping, topology: Topology) -> bool:
    """Return whether the mapping can be applied on the topology."""
    return placement_if_any(mapping, topology) is not None


def _fewest_chunk_nodes(placement: Placement, bound: Mapping) -> Mapping:
    """Return the `dataset` mapping with the same chunks: thread nodes first, else the fewest page nodes, else bind."""
    mapping, topology, chunks = placement.mapping, placement.topology, placement.chunks
    if set(chunks) == {topology.home(topology.cpu_nodes[0].index)}:
        return bound
    for page_nodes in (mapping.thread_nodes, *range(1, mapping.page_nodes)):
        candidate = mapping.replaced(page_nodes=page_nodes)
        if resolve(candidate, topology).chunks == chunks:
            return candidate
    return mapping


def node_counts(topology: Topology) -> tuple[int, ...]:
    """Return the numbers of thread nodes to try: the powers of two and all."""
    count = len(topology.cpu_nodes)
    return tuple(sorted({*powers_of_two(count), count}))


def full_counts(topology: Topology) -> tuple[int, ...]:
    """Return the numbers of threads that fill the first nodes, for each number of thread nodes."""
    cores = [len(node.cores) for node in topology.cpu_nodes]
    return tuple(sorted({sum(cores[:count]) for count in node_counts(topology)}))


def smt_degrees(topology: Topology) -> tuple[int, ...]:
    """Return the numbers of threads a core to try besides one: two and all PUs of a core, where it has so many."""
    most = topology.threads_per_core
    return tuple(sorted({2, most})) if most > 1 else ()


def smt_counts(topology: Topology, threads_per_core: int) -> tuple[int, ...]:
    """Return the numbers of threads to try with several on each core: what fills the first nodes' cores or PUs.

    The first compare with one thread a core at equal threads, the second use the whole nodes.
    """
    full = full_counts(topology)
    return tuple(sorted({*full, *(threads_per_core * count for count in full)}))


def powers_of_two(most: int) -> tuple[int, ...]:
    """Return 1, 2, 4 ... up to ``most``."""
    return tuple(1 << exponent for exponent in range(most.bit_length()))
