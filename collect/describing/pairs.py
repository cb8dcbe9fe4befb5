"""What each node's cores get from each node's memory: latency, and the bandwidth of one thread and of all."""

from collections.abc import Iterable, Iterator

import msgspec

from numapredict.collect.describing.caches import FoundCaches
from numapredict.collect.describing.probe import Question
from numapredict.collect.describing.sample import Prober, Sample
from numapredict.collect.host.facts.memory import NodeMemory
from numapredict.collect.topology import Topology
from numapredict.native.errors import UnrunnableProgramError

CACHES = 4
"""The memory that is measured over the caches in front of it."""

ALL_PAIRS = 8
"""Up to so many nodes every pair is measured; beyond, one of those remote pairs that have the same distance."""


class MeasuredPair(msgspec.Struct, frozen=True):
    """The figures of one node's cores on one node's memory (logical indices); ``huge``: share in huge pages."""

    cores: int
    memory: int
    latency_ns: Sample
    thread_read_GBps: Sample
    thread_write_GBps: Sample
    node_read_GBps: Sample
    node_write_GBps: Sample
    huge: float


def measure_pairs(topology: Topology, caches: FoundCaches, prober: Prober) -> tuple[MeasuredPair, ...]:
    """Measure the pairs of nodes, in the order of ``measured_pairs``."""
    alone = len(topology.memory_nodes) == 1  # nothing to bind: some containers forbid it
    found = []
    for cores, memory in measured_pairs(topology):
        pus = tuple(core.pus[0] for core in topology.nodes[cores].cores)
        where = -1 if alone else topology.nodes[memory].os_index
        chase = prober.ask(Question("latency", pus[:1], where, latency_bytes(caches)))
        streams = prober.ask(Question("bandwidth", pus, where, bandwidth_bytes(caches, len(pus))))
        found.append(MeasuredPair(cores=cores, memory=memory, huge=chase.huge, **chase.figures, **streams.figures))
    return tuple(found)


def measured_pairs(topology: Topology) -> Iterator[tuple[int, int]]:
    """Yield the pairs (node of the cores, node of the memory) to measure, as logical indices."""
    known: set[float] = set()
    for cores in topology.cpu_nodes:
        for memory in topology.memory_nodes:
            distance = topology.distances[cores.index][memory.index]
            if len(topology.nodes) > ALL_PAIRS and cores.index != memory.index and memory.cores:
                if distance in known:
                    continue
                known.add(distance)
            yield cores.index, memory.index


def latency_bytes(caches: FoundCaches) -> int:
    """Return the memory of a chase: the least power of two that is ``CACHES`` times the shared cache."""
    return 1 << (CACHES * caches.shared.size_bytes - 1).bit_length()


def bandwidth_bytes(caches: FoundCaches, cores: int) -> int:
    """Return the memory of the streams of a node's cores: ``CACHES`` times all of its caches."""
    shared = -(-cores // caches.sharing) * caches.shared.size_bytes
    return CACHES * (shared + cores * caches.private.size_bytes)


def check_memory(topology: Topology, caches: FoundCaches, memories: Iterable[NodeMemory]) -> None:
    """Raise UnrunnableProgramError where a node has less free memory than its measurement needs."""
    most = max(len(node.cores) for node in topology.nodes)
    needed = max(latency_bytes(caches) * 3 // 2, bandwidth_bytes(caches, most))
    wanted = {node.os_index for node in topology.memory_nodes}
    for memory in memories:
        free = memory.free_bytes + memory.files_bytes // 2
        if memory.node in wanted and free < needed:
            raise UnrunnableProgramError(
                f"node {memory.node} has {free >> 20} MiB of free memory, and measuring it beyond the caches needs"
                f" {needed >> 20}: free some of it"
            )
