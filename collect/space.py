"""Spaces: which mappings fit a topology, which of them mean the same, and the named subsets of the literature."""

from typing import assert_never

from numapredict.collect.mapping import THREAD_POLICIES, Mapping, ThreadPolicy, problem_of
from numapredict.collect.page_policy import FACTS, PAGE_POLICIES, PagePolicy
from numapredict.collect.placement import dataset_chunk_nodes, page_node_set, thread_slots
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidMappingError, UsageError

__all__ = [
    "SUBSETS",
    "canonical",
    "check",
    "default_mapping",
    "fits",
    "full_counts",
    "full_space",
    "node_counts",
    "powers_of_two",
    "subset",
]

SUBSETS = ("full", "thesis", "dashti", "diener", "wang", "denoyelle")


def check(mapping: Mapping, topology: Topology) -> None:
    """Raise InvalidMappingError, saying why, unless the mapping can be applied on the topology."""
    problem = problem_of(mapping)
    if problem:
        raise InvalidMappingError(f"mapping {mapping.label}: {problem}")
    thread_slots(mapping, topology)
    page_node_set(mapping, topology)


def canonical(mapping: Mapping, topology: Topology) -> Mapping:
    """Return the one mapping that stands for all that place threads and pages alike on this topology.

    Contiguous stands for scatter, bind for everything that uses one node, the fewest page nodes for a choice that
    reaches no further. Raises InvalidMappingError for a mapping that does not fit.
    """
    check(mapping, topology)
    slots = thread_slots(mapping, topology)
    in_order = _with(mapping, thread_policy="contiguous")
    if thread_slots(in_order, topology) == slots:
        mapping = in_order
    home = topology.home(slots[0].node)
    bound = _with(mapping, page_policy="bind", page_nodes=1)
    page_nodes = page_node_set(mapping, topology)
    one_home = all(topology.home(slot.node) == home for slot in slots)
    policy = FACTS[mapping.page_policy]
    if policy.with_threads and one_home:
        return bound
    if policy.decided_by == "chunk":
        return _fewest_chunk_nodes(mapping, topology, bound)
    match policy.page_nodes:
        case "one node":
            return bound if page_nodes == (home,) else mapping
        case "thread nodes":
            return mapping
        case "any number":
            return bound if len(page_nodes) == 1 else _with(mapping, page_nodes=len(page_nodes))
        case other:
            assert_never(other)


def default_mapping(topology: Topology) -> Mapping:
    """Return what a careful programmer has today: every core, threads bound in order, pages by first touch."""
    nodes = len(topology.cpu_nodes)
    return canonical(Mapping(topology.core_count, nodes, "contiguous", nodes, "first-touch"), topology)


def full_space(topology: Topology) -> tuple[Mapping, ...]:
    """Return every mapping of the coupled space once, in canonical form and a fixed order.

    Thread counts are the powers of two, what fills the first nodes, and all cores; nodes are the powers of two and
    all. Any number of threads that fits a number of nodes meets every thread and page policy (ICS'19 table 1).
    """
    powers = powers_of_two(topology.core_count)
    return _space(topology, tuple(sorted({*powers, *full_counts(topology)})), THREAD_POLICIES, PAGE_POLICIES)


def subset(name: str, topology: Topology) -> tuple[Mapping, ...]:
    """Return a named part of the full space, in its order; raise UsageError for another name.

    "thesis" is the space of the thesis (table 1 and sec. 5.1): as many threads as fill 1, 2, 4 ... nodes, pages on
    the thread nodes, and the worst case, one full node with remote pages. The others are what its table 1 grants to
    related work: Dashti (2013), Diener (2015), Wang (2016) and Denoyelle (2019).
    """
    filling = full_counts(topology)
    everything = (topology.core_count,)  # and with it every node: fewer have fewer cores
    match name:
        case "full":
            return full_space(topology)
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
    return tuple(mapping for mapping in full_space(topology) if mapping in wanted)


def _space(
    topology: Topology,
    thread_counts: tuple[int, ...],
    thread_policies: tuple[ThreadPolicy, ...],
    page_policies: tuple[PagePolicy, ...],
) -> tuple[Mapping, ...]:
    """Return the canonical mappings of all combinations that fit, without duplicates, in order."""
    page_counts = {1, *powers_of_two(len(topology.memory_nodes)), len(topology.memory_nodes)}
    found: dict[Mapping, None] = {}
    for threads in thread_counts:
        for thread_nodes in node_counts(topology):
            for thread_policy in thread_policies:
                for page_policy in page_policies:
                    for page_nodes in sorted(page_counts | {thread_nodes}):
                        mapping = Mapping(threads, thread_nodes, thread_policy, page_nodes, page_policy)
                        if fits(mapping, topology):
                            found[canonical(mapping, topology)] = None
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
    return {canonical(mapping, topology) for mapping in candidates if fits(mapping, topology)}


def _worst_case(topology: Topology) -> set[Mapping]:
    """Return one full node with all pages on another one (thesis sec. 5.1), where there is another one."""
    mapping = Mapping(len(topology.cpu_nodes[0].cores), 1, "contiguous", 1, "remote")
    return {canonical(mapping, topology)} if fits(mapping, topology) else set()


def fits(mapping: Mapping, topology: Topology) -> bool:
    """Return whether the mapping can be applied on the topology."""
    try:
        check(mapping, topology)
    except InvalidMappingError:
        return False
    return True


def _fewest_chunk_nodes(mapping: Mapping, topology: Topology, bound: Mapping) -> Mapping:
    """Return the `dataset` mapping with the same chunks: thread nodes first, else the fewest page nodes, else bind."""
    chunks = dataset_chunk_nodes(mapping, topology)
    if set(chunks) == {topology.home(topology.cpu_nodes[0].index)}:
        return bound
    for page_nodes in (mapping.thread_nodes, *range(1, mapping.page_nodes)):
        candidate = _with(mapping, page_nodes=page_nodes)
        if dataset_chunk_nodes(candidate, topology) == chunks:
            return candidate
    return mapping


def _with(
    mapping: Mapping,
    thread_policy: ThreadPolicy | None = None,
    page_policy: PagePolicy | None = None,
    page_nodes: int | None = None,
) -> Mapping:
    """Return the mapping with some choices replaced."""
    return Mapping(
        threads=mapping.threads,
        thread_nodes=mapping.thread_nodes,
        thread_policy=thread_policy or mapping.thread_policy,
        page_nodes=page_nodes or mapping.page_nodes,
        page_policy=page_policy or mapping.page_policy,
    )


def node_counts(topology: Topology) -> tuple[int, ...]:
    """Return the numbers of thread nodes to try: the powers of two and all."""
    count = len(topology.cpu_nodes)
    return tuple(sorted({*powers_of_two(count), count}))


def full_counts(topology: Topology) -> tuple[int, ...]:
    """Return the numbers of threads that fill the first nodes, for each number of thread nodes."""
    cores = [len(node.cores) for node in topology.cpu_nodes]
    return tuple(sorted({sum(cores[:count]) for count in node_counts(topology)}))


def powers_of_two(most: int) -> tuple[int, ...]:
    """Return 1, 2, 4 ... up to ``most``."""
    return tuple(1 << exponent for exponent in range(most.bit_length()))
