"""A machine's nodes, and a mapping drawn on them: which thread on which core, and which pages on which node."""

from itertools import accumulate, pairwise
from typing import assert_never

import msgspec

from numapredict.collect.domain import cores_by_l3, l3_sizes
from numapredict.collect.index_list import index_list
from numapredict.collect.mapping import Mapping
from numapredict.collect.modelled.description import MachineDescription, load_description, machine_names
from numapredict.collect.page_policy import FACTS
from numapredict.collect.placement import Placement, resolve
from numapredict.collect.placing.profile_file import Profile
from numapredict.collect.terminal.printable import counted
from numapredict.collect.topology import Cache, Topology
from numapredict.native.errors import InvalidMappingError, UsageError
from numapredict.reports.parts.quantity import size
from numapredict.reports.placed_mapping import placed_mapping_data, threads_by_core
from numapredict.reports.topology_map import PairTable, described_map_data

HOW_TO_SEE_SHARES = (
    "How many pages that is depends on the program: profile it (numapredict run --profile FILE) and make this page "
    "with --profile FILE, which shows each node's share."
)
FIRST_TOUCH = "How many pages that is depends on which thread of the program writes to them first; run it to see."


class CoreData(msgspec.Struct, frozen=True):
    """One core: its first PU (None without a topology), the thread on it, and further threads on its other PUs."""

    pu: int | None
    thread: int | None
    more: tuple[int, ...] = ()


class NodeData(msgspec.Struct, frozen=True, kw_only=True):
    """One node; ``pages`` says in words which of the program's memory is there, empty for none.

    ``share`` is its part of all pages by a profile; ``pus`` are those of its cores, such as `0-15, 128-143`; ``l3s``
    the numbers of cores of its L3 caches, empty for one.
    """

    name: str
    memory: str
    caches: str
    cores: tuple[CoreData, ...]
    pages: str
    pus: str = ""
    share: float | None = None
    l3s: tuple[int, ...] = ()

    @property
    def groups(self) -> tuple[tuple[CoreData, ...], ...]:
        """Return the cores of each L3 cache."""
        return tuple(self.cores[at:end] for at, end in pairwise(accumulate(self.l3s, initial=0)))

    @property
    def others(self) -> tuple[CoreData, ...]:
        """Return the cores without an L3 cache, or all where one has all."""
        return self.cores[sum(self.l3s) :]

    @property
    def threads(self) -> str:
        """Return the numbers of the threads there, in ranges: `0 to 7`, `0, 4, 8`."""
        numbers = sorted(n for core in self.cores if core.thread is not None for n in (core.thread, *core.more))
        if not numbers:
            return ""
        step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
        even = all(b - a == step for a, b in pairwise(numbers))
        if len(numbers) < 3 or not even:
            return ", ".join(map(str, numbers))
        return f"{numbers[0]} to {numbers[-1]}" if step == 1 else f"{numbers[0]}, {numbers[1]} ... {numbers[-1]}"


class TopologyData(msgspec.Struct, frozen=True, kw_only=True):
    """The drawing of a machine; ``distances`` are relative, 10 for local memory, and empty if unknown.

    ``tables`` are a described machine's latencies and bandwidths between nodes, ``sources`` their origins: published or
    assumed. ``note`` says where the shares of pages come from, or how to measure them.
    """

    name: str
    nodes: tuple[NodeData, ...]
    distances: tuple[tuple[float, ...], ...]
    mapping: str
    whole: bool
    tables: tuple[PairTable, ...] = ()
    sources: tuple[str, ...] = ()
    note: str = ""

    @property
    def frames(self) -> str:
        """Return what frames around cores mean, with a semicolon before it; empty where there are none."""
        return "; each frame is an L3 cache" if any(node.l3s for node in self.nodes) else ""


def machine_data(topology: Topology, description: MachineDescription | None) -> TopologyData:
    """Return the nodes with their cores, and the tables of a described machine."""
    data = topology_data(topology)
    fits = description is not None and description.topology.fingerprint == topology.fingerprint
    return with_tables(data, description) if fits else data


def with_tables(data: TopologyData, description: MachineDescription | None) -> TopologyData:
    """Return a machine with the tables of its description, unchanged without one."""
    if description is None or not data.whole:
        return data
    known = described_map_data(description)
    return msgspec.structs.replace(data, tables=known.tables, sources=known.sources)


def topology_data(
    topology: Topology, placement: Placement | None = None, profile: Profile | None = None
) -> TopologyData:
    """Return the nodes with their cores and, if given, the threads and pages of a placement.

    A ``profile`` gives the shares of the pages.
    """
    threads: dict[int, tuple[int, ...]] = {}
    pages: dict[int, str] = {}
    note = ""
    if placement is not None:
        threads = threads_by_core(placement)
        pages = _pages(placement)
        note = _how_to_see_shares(placement.mapping)
    shares: dict[int, float | None] = {}
    if placement is not None and profile is not None:
        placed = placed_mapping_data(placement, profile)
        pages = {at: box.words.replace("\n", " ") for at, box in enumerate(placed.boxes) if box.share}
        shares = {at: box.share for at, box in enumerate(placed.boxes)}
        note = placed.note
    nodes = tuple(
        NodeData(
            name=f"Node {node.os_index}",
            memory=size(node.memory_bytes) if node.memory_bytes else "no memory",
            caches=_caches(topology.caches, {core.index for core in node.cores}),
            cores=tuple(
                CoreData(core.pus[0], next(iter(on), None), on[1:])
                for core in cores_by_l3(topology, node.index)
                for on in [threads.get(core.pus[0], ())]
            ),
            pages=pages.get(node.index, ""),
            pus=index_list(pu for core in node.cores for pu in core.pus).replace(",", ", "),
            share=shares.get(node.index),
            l3s=l3_sizes(topology, node.index),
        )
        for node in topology.nodes
    )
    return TopologyData(
        name=topology.name,
        nodes=nodes,
        distances=topology.distances,
        mapping=placement.mapping.label if placement else "",
        whole=True,
        note=note,
    )


def nodes_of_mapping(mapping: Mapping, machine: str) -> TopologyData:
    """Return the thread nodes and their threads by a label alone, for a machine of unknown topology.

    The number of threads per node is that of the policies if all nodes are alike.
    """
    nodes = mapping.thread_nodes
    owners = [number % nodes for number in range(mapping.threads)]
    if mapping.thread_policy == "contiguous":
        owners.sort()
    policy = FACTS[mapping.page_policy]
    one_node = policy.page_nodes == "one node"
    everywhere = mapping.page_nodes == nodes and not one_node
    drawn = []
    for node in range(nodes):
        cores = tuple(CoreData(None, thread) for thread, owner in enumerate(owners) if owner == node)
        pages = ""
        if everywhere or (one_node and not policy.away and node == 0):
            pages = _words(mapping, f"1/{nodes}" if nodes > 1 else "all")
        drawn.append(NodeData(name=f"Thread node {node}", memory="", caches="", cores=cores, pages=pages))
    note = ""
    if _how_to_see_shares(mapping):
        note = (
            "How many pages that is depends on the program: on the machine, numapredict report mapping "
            f"{mapping.label} draws it, with --profile FILE (numapredict run --profile) the shares too."
        )
    return TopologyData(name=machine, nodes=tuple(drawn), distances=(), mapping=mapping.label, whole=False, note=note)


def draw_mapping(
    mapping: Mapping, machine: str, topology: Topology | None, profile: Profile | None = None
) -> TopologyData:
    """Return the mapping on the topology if that is known and fits, else by the label alone.

    With a ``profile``, UsageError if no topology is known or if the policy needs no profile.
    """
    if topology is not None:
        try:
            return topology_data(topology, resolve(mapping, topology), profile)
        except InvalidMappingError:
            pass  # another machine of this name
    if profile is not None:
        raise UsageError(
            f"--profile: the answer does not hold the nodes of {machine}, on which the profile's pages would go; "
            f"on that machine, numapredict report mapping {mapping.label} --profile FILE draws them"
        )
    return nodes_of_mapping(mapping, machine)


def _pages(placement: Placement) -> dict[int, str]:
    mapping, nodes = placement.mapping, placement.page_nodes
    if FACTS[mapping.page_policy].decided_by in {"chunk", "weights"}:
        chunks = placement.chunks
        return {node: _words(mapping, f"{chunks.count(node)}/{len(chunks)}") for node in set(chunks)}
    return {node: _words(mapping, f"1/{len(nodes)}" if len(nodes) > 1 else "all") for node in nodes}


def _how_to_see_shares(mapping: Mapping) -> str:
    """Return how to measure shares of pages that the policy does not determine, else an empty text."""
    match FACTS[mapping.page_policy].decided_by:
        case "accesses":
            return HOW_TO_SEE_SHARES
        case "first writer":
            return FIRST_TOUCH
        case "address" | "weights" | "chunk" | "nothing":
            return ""
        case other:
            assert_never(other)


def _words(mapping: Mapping, share: str) -> str:
    return FACTS[mapping.page_policy].on_node.format(share=share)


def _caches(caches: tuple[Cache, ...], cores: set[int]) -> str:
    found: dict[tuple[int, int], int] = {}
    for cache in caches:
        if cores & set(cache.cores) and len(cache.cores) > 1:
            found[cache.level, cache.size_bytes] = found.get((cache.level, cache.size_bytes), 0) + 1
    return ", ".join(
        f"{counted(number, f'L{level}')} of {size(each)}" for (level, each), number in sorted(found.items())
    )


def description_of(machine: str, modelled: bool) -> MachineDescription | None:
    """Return the description that a machine's modelled figures were computed with, None if it is not known."""
    return load_description(machine) if modelled and machine in machine_names() else None


def topology_of(machine: str, modelled: bool) -> Topology | None:
    """Return the topology of the machine that figures were modelled on, None if it is not known."""
    description = description_of(machine, modelled)
    return None if description is None else description.topology
