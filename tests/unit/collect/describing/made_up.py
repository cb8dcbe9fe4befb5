"""Computers that are not here: captured topologies, and a probe that answers for them by a rule."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from numapredict.collect.describing.caches import FoundCaches, found_caches
from numapredict.collect.describing.computer import MeasuredComputer, Shape, measure_computer
from numapredict.collect.describing.probe import Answer, RunProbe
from numapredict.collect.describing.sample import Pace
from numapredict.collect.host.hwloc import cache_details_from_xml, topology_from_xml
from numapredict.collect.host.packages import Package
from numapredict.collect.index_list import parse_index_list
from numapredict.collect.measuring.disturbance import Snapshot
from numapredict.collect.topology import Topology

MACHINES = Path(__file__).parents[3] / "machines"
NAMES = sorted(path.stem for path in MACHINES.glob("*.xml"))
FIGURES = {
    "latency": ("latency_ns",),
    "cache": ("latency_ns",),
    "bandwidth": ("node_write_GBps", "node_read_GBps", "thread_read_GBps", "thread_write_GBps"),
    "frequency": ("frequency_GHz",),
    "work": ("instructions_per_ns",),
    "team": ("fork_join_us", "barrier_us", "atomic_ns", "lock_ns"),
}


def captured(name: str) -> tuple[Topology, FoundCaches]:
    data = (MACHINES / f"{name}.xml").read_bytes()
    topology = topology_from_xml(data, name)
    return topology, found_caches(topology, cache_details_from_xml(data))


def answering(topology: Topology, asked: list[tuple[str, ...]] | None = None) -> RunProbe:
    """Return a probe: latencies 10 times the distance, 12 ns in the cache; with n PUs 4 - n/20 GHz, and so on."""
    home = {pu: node.index for node in topology.nodes for core in node.cores for pu in core.pus}
    logical = {node.os_index: node.index for node in topology.nodes}

    def run(words: Sequence[str]) -> Answer:
        if asked is not None:
            asked.append(tuple(words))
        pus = sorted(parse_index_list(words[1]))
        node = logical.get(int(words[4]), topology.memory_nodes[0].index) if len(words) > 4 else 0
        distance = topology.distances[home[pus[0]]][node]
        values = {
            "latency": (10 * distance,),
            "cache": (12.0,),
            "bandwidth": tuple(value / distance for value in (200.0, 400.0, 100.0, 50.0)),
            "frequency": (4 - len(pus) / 20,),
            "work": (8.0 if len(pus) == 1 else 10.0,),
            "team": (len(pus) * 0.5, len(pus) * 0.25, 20.0, 40.0),
        }[words[0]]
        figures = {name: (value,) * int(words[2]) for name, value in zip(FIGURES[words[0]], values, strict=True)}
        return Answer(figures, 1.0, 1.0)

    return run


def idle(_: Iterable[int]) -> Snapshot:
    return Snapshot(at_s=0, busy_s=0, stolen_s=0, own_s=0, pages_moved=0, throttled=0, frequency_MHz=0)


def measured(topology: Topology, caches: FoundCaches, packages: tuple[Package, ...] = ()) -> MeasuredComputer:
    return measure_computer(Shape(topology, caches, packages), Pace(), answering(topology), idle)
