"""A machine's nodes, and a mapping drawn on them: which thread on which core, and which pages on which node."""

from itertools import pairwise

import msgspec

from numapredict.collect.mapping import InvalidMappingError, Mapping
from numapredict.collect.placement import dataset_chunk_nodes, page_node_set, thread_slots
from numapredict.collect.topology import Cache, Topology
from numapredict.reports.parts.quantity import count, size

BY_USE = {
    "first-touch": "pages that its threads write to first",
    "locality": "pages that its threads use most",
    "mix": "pages that its threads use most, and a part of the shared ones",
    "balance": "pages with {share} of the accesses",
    "interleave": "{share} of the pages, by address",
    "dataset": "{share} of each allocation",
    "bind": "all pages",
    "remote": "all pages",
}


class CoreData(msgspec.Struct, frozen=True):
    """One core: its first PU, by which threads are bound (None where no topology is known), and the thread on it."""

    pu: int | None
    thread: int | None


class NodeData(msgspec.Struct, frozen=True, kw_only=True):
    """One node; ``pages`` says in words what of the program's memory is there, nothing where none is."""

    name: str
    memory: str
    caches: str
    cores: tuple[CoreData, ...]
    pages: str

    @property
    def threads(self) -> str:
        """Return the numbers of the threads there, in ranges: `0 to 7`, `0, 4, 8`."""
        numbers = [core.thread for core in self.cores if core.thread is not None]
        if not numbers:
            return ""
        step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
        even = all(b - a == step for a, b in pairwise(numbers))
        if len(numbers) < 3 or not even:
            return ", ".join(map(str, numbers))
        return f"{numbers[0]} to {numbers[-1]}" if step == 1 else f"{numbers[0]}, {numbers[1]} ... {numbers[-1]}"


class TopologyData(msgspec.Struct, frozen=True, kw_only=True):
    """What is drawn of a machine; ``distances`` are relative, 10 for local memory, and empty where unknown."""

    name: str
    nodes: tuple[NodeData, ...]
    distances: tuple[tuple[float, ...], ...]
    mapping: str
    whole: bool


def topology_data(topology: Topology, mapping: Mapping | None = None) -> TopologyData:
    """Return the nodes with their cores; with a mapping, what it puts where. InvalidMappingError if it does not fit."""
    thread_of: dict[int, int] = {}
    pages: dict[int, str] = {}
    if mapping is not None:
        thread_of = {slot.pu: number for number, slot in enumerate(thread_slots(mapping, topology))}
        pages = _pages(mapping, topology)
    nodes = tuple(
        NodeData(
            name=f"Node {node.os_index}",
            memory=size(node.memory_bytes) if node.memory_bytes else "no memory",
            caches=_caches(topology.caches, {core.index for core in node.cores}),
            cores=tuple(CoreData(core.pus[0], thread_of.get(core.pus[0])) for core in node.cores),
            pages=pages.get(node.index, ""),
        )
        for node in topology.nodes
    )
    return TopologyData(
        name=topology.name,
        nodes=nodes,
        distances=topology.distances,
        mapping=mapping.label if mapping else "",
        whole=True,
    )


def nodes_of_mapping(mapping: Mapping, machine: str) -> TopologyData:
    """Return what a label alone tells, for a machine whose topology is not known: the thread nodes and their threads.

    As many threads on each node as the policies say when all nodes are alike.
    """
    nodes = mapping.thread_nodes
    owners = [number % nodes for number in range(mapping.threads)]
    if mapping.thread_policy == "contiguous":
        owners.sort()
    everywhere = mapping.page_nodes == nodes and mapping.page_policy not in ("bind", "remote")
    drawn = []
    for node in range(nodes):
        cores = tuple(CoreData(None, thread) for thread, owner in enumerate(owners) if owner == node)
        pages = ""
        if everywhere or (mapping.page_policy == "bind" and node == 0):
            pages = _words(mapping, f"1/{nodes}" if nodes > 1 else "all")
        drawn.append(NodeData(name=f"Thread node {node}", memory="", caches="", cores=cores, pages=pages))
    return TopologyData(name=machine, nodes=tuple(drawn), distances=(), mapping=mapping.label, whole=False)


def draw_mapping(mapping: Mapping, machine: str, topology: Topology | None) -> TopologyData:
    """Return the mapping on the topology, where one is known and the mapping fits it, else from the label alone."""
    if topology is not None:
        try:
            return topology_data(topology, mapping)
        except InvalidMappingError:
            pass  # another machine of that name
    return nodes_of_mapping(mapping, machine)


def _pages(mapping: Mapping, topology: Topology) -> dict[int, str]:
    """Return in words what each node's memory gets."""
    nodes = page_node_set(mapping, topology)
    if mapping.page_policy == "dataset":
        chunks = dataset_chunk_nodes(mapping, topology)
        return {node: _words(mapping, f"{chunks.count(node)}/{len(chunks)}") for node in set(chunks)}
    return {node: _words(mapping, f"1/{len(nodes)}" if len(nodes) > 1 else "all") for node in nodes}


def _words(mapping: Mapping, share: str) -> str:
    return BY_USE[mapping.page_policy].format(share=share)


def _caches(caches: tuple[Cache, ...], cores: set[int]) -> str:
    """Return the shared caches of a node in words."""
    found: dict[tuple[int, int], int] = {}
    for cache in caches:
        if cores & set(cache.cores) and len(cache.cores) > 1:
            found[cache.level, cache.size_bytes] = found.get((cache.level, cache.size_bytes), 0) + 1
    return ", ".join(f"{count(number, f'L{level}')} of {size(each)}" for (level, each), number in sorted(found.items()))
