"""Test a source of counters on loads of known bytes: each node's cores read local memory, and remote memory.

A load runs twice, with few passes over its memory and with many; start-up and first touches cancel in the difference.
"""

import math
from collections.abc import Iterator

import msgspec

from numapredict.collect.host.work_folder import work_folder
from numapredict.collect.measuring.counters.load import Load, Moved, run_stream, stream_command
from numapredict.collect.measuring.counters.source import CounterSource, NodeTraffic, Traffic
from numapredict.collect.measuring.counters.verdict import Trial, Verdict, judge
from numapredict.collect.terminal.progress import Count
from numapredict.collect.topology import Topology
from numapredict.native.errors import CounterError

LEAST_BYTES = 256 << 20
"""Bytes read in a pass, more where caches are large: lines that stay in caches are not moved again."""

CACHES = 8
"""The memory over the size of a node's caches: a cache that keeps lines for the next pass then keeps an eighth."""

LASTS_S = 0.4
"""The least time of the measured passes, so that a counter's resolution does not matter."""

AGAIN = 1
"""How often a source that failed is tested again."""

_FEW = 1


def self_test(source: CounterSource, topology: Topology, count: Count | None = None) -> Verdict:
    """Return the verdict on a source; CounterError where the load could not be run or counted.

    ``count`` counts the ``loads`` of the first attempt.
    """
    found = judge(trials(source, topology, count))
    for _ in range(AGAIN):  # other programs may have disturbed it
        if found.passed:
            break
        found = judge(trials(source, topology))
    return found


def trials(source: CounterSource, topology: Topology, count: Count | None = None) -> list[Trial]:
    """Return a source's counts of each of the ``loads``."""
    found = []
    for load in loads(topology):
        found.append(_trial(source, topology, *load))
        if count is not None:
            count.step()
    return found


def loads(topology: Topology) -> tuple[tuple[int, int, bool], ...]:
    """Return the nodes of threads and memory of each load, and whether it writes: each reads, local ones write too."""
    return tuple(
        (threads, memory, writes)
        for threads, memory in pairs(topology)
        for writes in (False, True)
        if threads == memory or not writes
    )


def pairs(topology: Topology) -> Iterator[tuple[int, int]]:
    """Yield the node of the threads and that of the memory, logical, of each load: local, and the farthest remote."""
    for node in topology.cpu_nodes:
        if node.memory_bytes > 0:
            yield node.index, node.index
        others = [other for other in topology.memory_nodes if other.index != node.index]
        if others:
            row = topology.distances[node.index]
            yield node.index, max(others, key=lambda other: (row[other.index], -other.index)).index


def load_of(topology: Topology, threads: int, memory: int) -> Load:
    """Return the load of a node's cores on a node's memory: far larger than caches, a quarter of the memory at most."""
    cores = topology.nodes[threads].cores
    inside = {core.index for core in cores}
    cached = sum(cache.size_bytes for cache in topology.caches if inside.issuperset(cache.cores))
    wanted = max(LEAST_BYTES, CACHES * cached)
    return Load(
        pus=tuple(core.pus[0] for core in cores),
        memory_node=topology.nodes[memory].os_index,
        size_bytes=min(wanted, topology.nodes[memory].memory_bytes // 4),
    )


def _trial(source: CounterSource, topology: Topology, threads: int, memory: int, writes: bool) -> Trial:
    load = msgspec.structs.replace(load_of(topology, threads, memory), writes=writes)
    short, few = _counted(source, load, _FEW)
    each_s = max(short.time_s / _FEW, 1e-6)
    many_passes = _FEW + min(max(4, math.ceil(LASTS_S / each_s)), 1000)
    long, many = _counted(source, load, many_passes)
    return Trial(
        threads=threads,
        memory=memory,
        moved_bytes=float(long.bytes * (long.passes - short.passes)),
        counted=tuple(_difference(a, b) for a, b in zip(many.nodes, few.nodes, strict=True)),
        writes=writes,
    )


def _counted(source: CounterSource, load: Load, passes: int) -> tuple[Moved, Traffic]:
    with work_folder() as work:
        folder = work / "counting"
        folder.mkdir()
        with source.counting(load.pus, folder) as run:
            moved = run_stream(run.command(stream_command(load, passes), {}))
            traffic = run.traffic()
    if any(not math.isfinite(value) for node in traffic.nodes for value in msgspec.structs.astuple(node) if value):
        raise CounterError("it counted a value that is not a number")
    return moved, traffic


def _difference(many: NodeTraffic, few: NodeTraffic) -> NodeTraffic:
    pairs = zip(msgspec.structs.astuple(many), msgspec.structs.astuple(few), strict=True)
    return NodeTraffic(*(None if a is None or b is None else a - b for a, b in pairs))
