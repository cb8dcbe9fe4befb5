"""Topologies: a machine's NUMA nodes: cores, memory, caches, distances, bandwidths; and nothing that does I/O."""

import hashlib
import itertools
import math
from collections import Counter
from collections.abc import Collection, Sequence

import msgspec

from numapredict.native.errors import InvalidTopologyError

LOCAL_DISTANCE = 10.0  # ACPI 6.5 sec. 5.2.17 (SLIT): a node's distance to itself is 10 by definition
REMOTE_DISTANCE = 20.0  # what Linux assumes for another node where the firmware gives no table


class Core(msgspec.Struct, frozen=True):
    """One core; ``index`` is logical, ``pus`` are the OS indices of its hardware threads, in the order of their use.

    ``kind`` is 0 for the fastest cores of the machine, 1 for the next slower kind, and so on (hwloc's cpukinds).
    """

    index: int
    pus: tuple[int, ...]
    kind: int = 0


class Cache(msgspec.Struct, frozen=True):
    """One data or unified cache; ``cores`` are the logical indices of the cores that share it."""

    level: int
    size_bytes: int
    line_bytes: int
    cores: tuple[int, ...]


class Node(msgspec.Struct, frozen=True):
    """One NUMA node; ``index`` is logical. Its cores are in the order of their use: faster kinds come first.

    Either ``cores`` or ``memory_bytes`` may be empty, never both.
    """

    index: int
    os_index: int
    cores: tuple[Core, ...]
    memory_bytes: int


class SharedLink(msgspec.Struct, frozen=True):
    """A link that several (cores' node, memory's node) pairs share, and what it carries in GB/s."""

    read_GBps: float
    pairs: tuple[tuple[int, int], ...]


class Bandwidths(msgspec.Struct, frozen=True):
    """What cores read from memory, in GB/s (1e9 bytes a second); row: the cores' node, column: the memory's node.

    ``thread_GBps``: one thread. ``node_GBps``: all cores of the node together; on the diagonal what its memory
    delivers. ``links``: those of which it is known that several pairs share them.
    """

    thread_GBps: tuple[tuple[float, ...], ...]
    node_GBps: tuple[tuple[float, ...], ...]
    links: tuple[SharedLink, ...] = ()

    def of(self, nodes: Sequence[int]) -> "Bandwidths":
        """Return what is known of some nodes, numbered in their order."""
        thread, node = (
            tuple(tuple(rows[i][j] for j in nodes) for i in nodes) for rows in (self.thread_GBps, self.node_GBps)
        )
        new = {index: position for position, index in enumerate(nodes)}
        links = (
            SharedLink(link.read_GBps, tuple((new[i], new[j]) for i, j in link.pairs if i in new and j in new))
            for link in self.links
        )
        return Bandwidths(thread, node, tuple(link for link in links if len(link.pairs) > 1))


class Topology(msgspec.Struct, frozen=True, cache_hash=True, omit_defaults=True):
    """The part of a machine that programs may use.

    ``distances[i][j]`` is the relative cost of an access from node i to node j's memory, 10 for local memory.
    ``bandwidths`` are None, and left out in JSON, where nobody has measured them.
    Raises InvalidTopologyError when made from parts that contradict each other.
    """

    name: str
    nodes: tuple[Node, ...]
    caches: tuple[Cache, ...]
    distances: tuple[tuple[float, ...], ...]
    bandwidths: Bandwidths | None = None

    def __post_init__(self) -> None:
        """Raise InvalidTopologyError for nodes, caches, distances and bandwidths that contradict each other."""
        problem = _problem_of_nodes(self.nodes) or _problem_of_caches(self) or _problem_of_tables(self)
        if problem:
            raise InvalidTopologyError(f"topology {self.name!r}: {problem}")

    @property
    def cpu_nodes(self) -> tuple[Node, ...]:
        """Return the nodes with usable cores, in logical order."""
        return tuple(node for node in self.nodes if node.cores)

    @property
    def memory_nodes(self) -> tuple[Node, ...]:
        """Return the nodes with usable memory, in logical order."""
        return tuple(node for node in self.nodes if node.memory_bytes > 0)

    @property
    def core_count(self) -> int:
        """Return the number of usable cores."""
        return sum(len(node.cores) for node in self.nodes)

    @property
    def pu_count(self) -> int:
        """Return the number of usable PUs."""
        return sum(len(core.pus) for node in self.nodes for core in node.cores)

    @property
    def threads_per_core(self) -> int:
        """Return the most usable PUs that one core has: 1 without simultaneous multithreading."""
        return max(len(core.pus) for node in self.nodes for core in node.cores)

    @property
    def core_kinds(self) -> int:
        """Return the number of kinds of usable cores: 1 but on hybrid processors."""
        return len({core.kind for node in self.nodes for core in node.cores})

    @property
    def as_unmeasured(self) -> bytes:
        """Return the topology as JSON, without bandwidths: what is kept by it is still found after measuring."""
        return msgspec.json.encode(msgspec.structs.replace(self, bandwidths=None))

    @property
    def fingerprint(self) -> str:
        """Return a digest of the shape alone (cores, memory yes or no, caches, distances), the same under any name.

        The PUs of a core do not count: a model serves a machine with SMT switched on or off.
        """
        kinds = [[core.kind for core in node.cores] for node in self.nodes] if self.core_kinds > 1 else []
        shape = (
            [(len(node.cores), node.memory_bytes > 0) for node in self.nodes],
            sorted((cache.level, cache.size_bytes, cache.line_bytes, cache.cores) for cache in self.caches),
            [[round(float(distance), 3) for distance in row] for row in self.distances],
            *([kinds] if kinds else ()),
        )
        return hashlib.sha256(msgspec.json.encode(shape)).hexdigest()[:16]

    def home(self, node_index: int) -> int:
        """Return the node whose memory serves a node: itself, or the nearest with memory (ties: lowest index)."""
        if self.nodes[node_index].memory_bytes > 0:
            return node_index
        row = self.distances[node_index]
        return min((node.index for node in self.memory_nodes), key=lambda index: (row[index], index))


def restrict(topology: Topology, pus: Collection[int], memory_nodes: Collection[int]) -> Topology:
    """Return the topology without the PUs and the memory that are not in ``pus`` and ``memory_nodes`` (OS indices).

    A node keeps its OS index; one left with neither cores nor memory disappears, and logical indices close the gaps.
    Raises InvalidTopologyError when no core or no memory is left.
    """
    allowed = frozenset(pus)
    core_numbers = itertools.count()
    core_index: dict[int, int] = {}
    nodes: list[Node] = []
    for node in topology.nodes:
        cores = []
        for core in node.cores:
            usable = tuple(pu for pu in core.pus if pu in allowed)
            if usable:
                core_index[core.index] = next(core_numbers)
                cores.append(Core(core_index[core.index], usable, core.kind))
        memory_bytes = node.memory_bytes if node.os_index in memory_nodes else 0
        if cores or memory_bytes:
            nodes.append(Node(len(nodes), node.os_index, tuple(cores), memory_bytes))
    kept = {node.os_index for node in nodes}
    old = [node.index for node in topology.nodes if node.os_index in kept]
    shrunk = (
        msgspec.structs.replace(
            cache, cores=tuple(sorted(core_index[core] for core in cache.cores if core in core_index))
        )
        for cache in topology.caches
    )
    return Topology(
        name=topology.name,
        nodes=tuple(nodes),
        caches=tuple(cache for cache in shrunk if cache.cores),
        distances=tuple(tuple(topology.distances[i][j] for j in old) for i in old),
        bandwidths=topology.bandwidths and topology.bandwidths.of(old),
    )


def _problem_of_nodes(nodes: tuple[Node, ...]) -> str:
    """Return what is wrong with the nodes, or nothing."""
    cores = [core for node in nodes for core in node.cores]
    pus = [pu for core in cores for pu in core.pus]
    if [node.index for node in nodes] != list(range(len(nodes))):
        return "nodes must be numbered from 0 in order"
    if not cores:
        return "no NUMA node has a usable core"
    if not any(node.memory_bytes > 0 for node in nodes):
        return "no NUMA node has usable memory"
    for node in nodes:
        if node.memory_bytes < 0:
            return f"node {node.os_index} has {node.memory_bytes} bytes of memory"
        if not node.cores and not node.memory_bytes:
            return f"node {node.os_index} has neither cores nor memory"
    if any(not core.pus for core in cores):
        return "a core has no PU"
    for what, numbers in (
        ("OS index of a node", [node.os_index for node in nodes]),
        ("index of a core", [core.index for core in cores]),
        ("PU", pus),
    ):
        number, times = Counter(numbers).most_common(1)[0]
        if times > 1:
            return f"{what} appears more than once: {number}"
        if min(numbers) < 0:
            return f"{what} is negative: {min(numbers)}"
    return ""


def _problem_of_caches(topology: Topology) -> str:
    """Return what is wrong with the caches, or nothing."""
    known = {core.index for node in topology.nodes for core in node.cores}
    for cache in topology.caches:
        if cache.level < 1 or cache.size_bytes < 1 or cache.line_bytes < 1:
            return f"a level {cache.level} cache has {cache.size_bytes} bytes in lines of {cache.line_bytes}"
        if not cache.cores or not known.issuperset(cache.cores):
            return f"a level {cache.level} cache belongs to cores that do not exist: {cache.cores}"
    return ""


def _problem_of_tables(topology: Topology) -> str:
    """Return what is wrong with the distances or the bandwidths, or nothing."""
    tables = {"distances": topology.distances}
    if topology.bandwidths is not None:
        tables |= {"bandwidths of a thread": topology.bandwidths.thread_GBps}
        tables |= {"bandwidths of a node": topology.bandwidths.node_GBps}
    count = len(topology.nodes)
    for what, rows in tables.items():
        if len(rows) != count or any(len(row) != count for row in rows):
            return f"{what} must be a square table with one row for each of the {count} nodes"
        if any(not math.isfinite(value) or value <= 0 for row in rows for value in row):
            return f"{what} must be positive numbers"
    for link in topology.bandwidths.links if topology.bandwidths is not None else ():
        if not 0 < link.read_GBps < math.inf or not all(0 <= index < count for pair in link.pairs for index in pair):
            return f"a link of {link.read_GBps} GB/s joins {link.pairs}"
    return ""
