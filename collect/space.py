"""Spaces: which mappings fit a topology, which of them mean the same, and the named subsets of the literature."""

import itertools

from numapredict.collect.domain import count_domains, domains_of, domains_used
from numapredict.collect.mapping import THREAD_POLICIES, Mapping, ThreadPolicy
from numapredict.collect.page_policy import FACTS, PAGE_POLICIES, USUAL, PagePolicy
from numapredict.collect.placement import Placement, page_node_set, pus_of, resolve
from numapredict.collect.topology import Core, Topology
from numapredict.native.errors import InvalidMappingError, UsageError

SUBSETS = ("full", "thesis", "dashti", "diener", "wang", "denoyelle")
SPACES = (*SUBSETS, "weighted")
"""What spaces can be asked for: "weighted" has the page policy of that name in addition to the full space."""


def canonical(mapping: Mapping, topology: Topology) -> Mapping:
    """Return the representative of all mappings that place threads and pages alike on this topology.

    Contiguous represents scatter where they are equal, bind everything on one node, and the fewest page nodes and
    threads a core any choice with the same effect; L3 caches are counted only where cores in their order would use
    fewer. Raises InvalidMappingError for a mapping that does not fit.
    """
    return canonical_form(resolve(mapping, topology))


def canonical_form(placement: Placement) -> Mapping:
    """Return the canonical mapping of this placement: see ``canonical``."""
    mapping, topology = placement.mapping, placement.topology

    def simpler(other: Mapping) -> Mapping:
        alike = placement_if_any(other, topology)
        return other if alike is not None and alike.slots == placement.slots else mapping

    if mapping.thread_l3s:
        mapping = simpler(mapping.replaced(thread_l3s=domains_used(topology, placement.pus)))
        mapping = simpler(mapping.replaced(thread_l3s=0))
    for each in range(mapping.threads_per_core - 1, 0, -1):
        mapping = simpler(mapping.replaced(threads_per_core=each))
    if mapping.thread_policy != "contiguous":
        mapping = simpler(mapping.replaced(thread_policy="contiguous"))
    pages = _canonical_pages(placement, mapping.page_policy, mapping.page_nodes)
    return mapping if pages is None else mapping.replaced(page_policy=pages[0], page_nodes=pages[1])


def _canonical_pages(team: Placement, policy: PagePolicy, page_nodes: int) -> tuple[PagePolicy, int] | None:
    """Return the page policy and number of page nodes that represent these, with the threads of a placement.

    None if that many nodes do not fit. The placement's own pages do not count.
    """
    topology, thread_nodes, facts = team.topology, team.mapping.thread_nodes, FACTS[policy]
    nodes = page_node_set(topology, thread_nodes, page_nodes, facts.away)
    if not nodes:
        return None
    if nodes == (topology.home(team.slots[0].node),) or (facts.with_threads and len(set(team.homes)) == 1):
        return "bind", 1
    if facts.decided_by == "chunk":
        return _fewest_chunk_nodes(team, policy, page_nodes)
    if facts.decided_by == "weights":
        return _fewest_weighted(team, policy, nodes)
    return policy, thread_nodes if facts.page_nodes == "thread nodes" else len(nodes)


def default_mapping(topology: Topology) -> Mapping:
    """Return a careful programmer's usual mapping: every core, threads bound in order, pages by first touch."""
    nodes = len(topology.cpu_nodes)
    return canonical(Mapping(topology.core_count, nodes, "contiguous", nodes, "first-touch"), topology)


def full_space(
    topology: Topology, *, smt: bool = True, l3s: bool = True, page_policies: tuple[PagePolicy, ...] = USUAL
) -> tuple[Mapping, ...]:
    """Return every mapping of the coupled space once, in canonical form and a fixed order.

    Thread counts are the powers of two, what fills the first nodes, or the first L3 caches or fastest cores of one, and
    all cores; nodes are the powers of two and all. Any number of threads that fits a number of nodes meets every thread
    and page policy (ICS'19 table 1), on cores in their order and on as many L3 caches as it can use.
    Without ``l3s`` there are none over more. With ``smt`` follow the mappings with several threads on each core, where
    the machine has such cores.
    """
    powers = powers_of_two(topology.core_count)
    counts = {1: tuple(sorted({*powers, *full_counts(topology), *domain_counts(topology)}))}
    if smt:
        counts |= {each: smt_counts(topology, each) for each in smt_degrees(topology)}
    return _space(topology, counts, (False, True) if l3s else (False,), page_policies)


def subset(name: str, topology: Topology, *, smt: bool = True) -> tuple[Mapping, ...]:
    """Return a named part of the full space, in its order; raise UsageError for another name.

    Only "full" and "weighted" have mappings with several threads on a core, and none without ``smt``.

    "thesis" is the space of the thesis (table 1 and sec. 5.1): as many threads as fill 1, 2, 4 ... nodes, pages on
    the thread nodes, and the worst case, one full node with remote pages. The others are what its table 1 grants to
    related work: Dashti (2013), Diener (2015), Wang (2016) and Denoyelle (2019).
    """
    filling = full_counts(topology)
    everything = (topology.core_count,)  # and with it every node: fewer have fewer cores
    match name:
        case "full":
            return full_space(topology, smt=smt)
        case "weighted":
            return full_space(topology, smt=smt, page_policies=PAGE_POLICIES)
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
            raise UsageError(f"{name!r} is no subset of the mappings; choose one of {', '.join(SPACES)}")
    return tuple(mapping for mapping in full_space(topology, smt=False) if mapping in wanted)


def _space(
    topology: Topology,
    thread_counts: dict[int, tuple[int, ...]],
    spreads: tuple[bool, ...],
    page_policies: tuple[PagePolicy, ...],
) -> tuple[Mapping, ...]:
    """Return the canonical mappings of all combinations that fit, without duplicates, in order.

    ``thread_counts`` are by threads a core; ``spreads`` says whether threads are spread over L3 caches.
    """
    page_counts = {1, *powers_of_two(len(topology.memory_nodes)), len(topology.memory_nodes)}
    found: list[Mapping] = []
    l3s = {nodes: count_domains(topology, nodes) for nodes in node_counts(topology)}
    for threads_per_core, threads, thread_nodes, spread, thread_policy in (
        (per_core, *others)
        for per_core, counts in thread_counts.items()
        for others in itertools.product(counts, node_counts(topology), spreads, THREAD_POLICIES)
    ):
        thread_l3s = min(l3s[thread_nodes], threads // threads_per_core) if spread else 0
        if spread and thread_l3s <= thread_nodes:
            continue
        team = Mapping(threads, thread_nodes, thread_policy, thread_nodes, "interleave", threads_per_core, thread_l3s)
        fitting = placement_if_any(team, topology)
        if fitting is None:
            continue
        form = canonical_form(fitting)
        if (form.thread_policy, form.threads_per_core, bool(form.thread_l3s)) != (
            thread_policy,
            threads_per_core,
            spread,
        ):
            continue
        team = team.replaced(thread_l3s=form.thread_l3s)  # fewer where a node has fewer threads than caches
        numbers = {"one node": [1], "thread nodes": [thread_nodes], "any number": sorted({*page_counts, thread_nodes})}
        pages = dict.fromkeys(
            _canonical_pages(fitting, page_policy, page_nodes)
            for page_policy in page_policies
            for page_nodes in numbers[FACTS[page_policy].page_nodes]
        )
        found += [team.replaced(page_nodes=each[1], page_policy=each[0]) for each in pages if each]
    return tuple(dict.fromkeys(found))


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


def _fewest_chunk_nodes(team: Placement, policy: PagePolicy, page_nodes: int) -> tuple[PagePolicy, int]:
    """Return what has the same chunks: as many page nodes as thread nodes first, else the fewest, or bind."""
    chunks, thread_nodes = team.chunks_on(page_nodes), team.mapping.thread_nodes
    if set(chunks) == {team.topology.home(team.slots[0].node)}:
        return "bind", 1
    fewer = (thread_nodes, *range(1, page_nodes))
    return policy, next((count for count in fewer if team.chunks_on(count) == chunks), page_nodes)


def _fewest_weighted(team: Placement, policy: PagePolicy, nodes: tuple[int, ...]) -> tuple[PagePolicy, int]:
    """Return what has the same weights: bind or interleave on the nodes that have any, else the fewest page nodes."""
    topology, thread_nodes = team.topology, team.mapping.thread_nodes

    def weights(among: tuple[int, ...]) -> dict[int, int]:
        from numapredict.collect.page_weights import page_weights  # loads numpy

        found = page_weights(topology, tuple(slot.node for slot in team.slots), among)
        return {node: weight for node, weight in zip(among, found, strict=True) if weight}

    wanted = weights(nodes)
    if set(wanted) == {topology.home(team.slots[0].node)}:
        return "bind", 1
    fewer = [page_node_set(topology, thread_nodes, count, away=False) for count in range(len(wanted), len(nodes) + 1)]
    if len(set(wanted.values())) == 1 and set(fewer[0]) == set(wanted):
        return "interleave", len(wanted)
    return policy, next(len(each) for each in (*fewer, nodes) if each and weights(each) == wanted)


def node_counts(topology: Topology) -> tuple[int, ...]:
    """Return the numbers of thread nodes to try: the powers of two and all."""
    count = len(topology.cpu_nodes)
    return tuple(sorted({*powers_of_two(count), count}))


def full_counts(topology: Topology) -> tuple[int, ...]:
    """Return the numbers of threads that fill the first nodes, for each number of thread nodes."""
    cores = [len(node.cores) for node in topology.cpu_nodes]
    return tuple(sorted({sum(cores[:count]) for count in node_counts(topology)}))


def domain_counts(topology: Topology) -> tuple[int, ...]:
    """Return the numbers of threads that fill the first 1, 2, 4 ... L3 caches of a node, or its fastest cores."""
    first = topology.cpu_nodes[0]
    sizes = list(map(len, domains_of(topology, first.index)))
    filled = [sum(sizes[:count]) for count in powers_of_two(len(sizes))] if len(sizes) > 1 else []
    if topology.core_kinds > 1:
        filled.append(len(_fastest(topology)))
    return tuple(sorted({*filled}))


def _fastest(topology: Topology) -> tuple[Core, ...]:
    """Return the cores of the first node that are of its fastest kind."""
    cores = topology.cpu_nodes[0].cores
    return tuple(core for core in cores if core.kind == cores[0].kind)


def spread_of(mapping: Mapping, topology: Topology) -> float:
    """Return how many times as many L3 caches a mapping uses as its threads need, 1 where it is not spread."""
    if not mapping.thread_l3s:
        return 1.0
    return mapping.thread_l3s / domains_used(topology, resolve(mapping.replaced(thread_l3s=0), topology).pus)


def smt_degrees(topology: Topology) -> tuple[int, ...]:
    """Return the numbers of threads a core to try besides one: two and all PUs of a core, where it has so many."""
    most = topology.threads_per_core
    return tuple(sorted({2, most})) if most > 1 else ()


def smt_counts(topology: Topology, threads_per_core: int) -> tuple[int, ...]:
    """Return the numbers of threads to try with several on each core: what fills the first nodes' cores or PUs.

    The first compare with one thread a core at equal threads, the second use the whole nodes, or the fastest cores.
    """
    full = full_counts(topology)
    pus = [len(pus_of(node.cores, threads_per_core)) for node in topology.cpu_nodes]
    filled = [sum(pus[:count]) for count in node_counts(topology)]
    if topology.core_kinds > 1:
        filled.append(len(pus_of(_fastest(topology), threads_per_core)))
    return tuple(sorted({*full, *filled}))


def powers_of_two(most: int) -> tuple[int, ...]:
    """Return 1, 2, 4 ... up to ``most``."""
    return tuple(1 << exponent for exponent in range(most.bit_length()))
