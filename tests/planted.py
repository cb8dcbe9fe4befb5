"""Made-up programs of known kinds on a made-up machine with 4 nodes of 8 cores: fast data whose answer is known.

The formula is a caricature (compute, bandwidth of the busiest controller, latency, synchronisation); what the tests
need is that each kind reacts to mappings in its own way, and that programs of a kind differ only a little.
"""

import math
from dataclasses import dataclass

import numpy as np

from numapredict.collect import space
from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import Mapping
from numapredict.collect.measurement import Counters, Measurement, NodeCounters, Repetition
from numapredict.collect.program import Program
from numapredict.collect.topology import Cache, Core, Node, Topology

NODE_GBPS, REMOTE_COST = 25.0, 2.4


@dataclass(frozen=True)
class Kind:
    """One kind of program: seconds of compute and of single-threaded memory waiting, GB moved, and how it shares."""

    compute_s: float
    waiting_s: float
    moved_GB: float
    shared: float
    neighbour: float
    serial_init: bool
    sync_s: float


KINDS = {
    "line-solve": Kind(6.0, 30.0, 40.0, 0.05, 0.30, False, 0.001),
    "stream": Kind(1.0, 8.0, 120.0, 0.0, 0.0, True, 0.0005),
    "shared-table": Kind(4.0, 60.0, 50.0, 0.9, 0.0, True, 0.002),
    "fine-grain": Kind(8.0, 6.0, 6.0, 0.6, 0.2, True, 0.12),
    "compute": Kind(60.0, 1.0, 1.0, 0.1, 0.0, False, 0.001),
}


def four_by_eight() -> Topology:
    """Return 4 nodes with 8 cores and one L3 cache each."""
    nodes = tuple(Node(n, n, tuple(Core(c, (c,)) for c in range(8 * n, 8 * n + 8)), 32 * 2**30) for n in range(4))
    caches = tuple(Cache(3, 20 * 2**20, 64, tuple(range(8 * n, 8 * n + 8))) for n in range(4))
    distances = tuple(tuple(10.0 if a == b else 21.0 for b in range(4)) for a in range(4))
    return Topology("planted-4x8", nodes, caches, distances)


def planted_dataset(
    programs: int = 15,
    seed: int = 1,
    subset: str = "thesis",
    jitter: float = 0.08,
    counters: bool = True,
    topology: Topology | None = None,
) -> Dataset:
    """Return programs of every kind in turn under the default and every mapping of a subset; a kind is no group.

    Another machine's topology has no counters: theirs are of four nodes.
    """
    counters = counters and topology is None
    topology = topology or four_by_eight()
    mappings = dict.fromkeys((space.default_mapping(topology), *space.subset(subset, topology)))
    generator = np.random.default_rng(seed)
    names = list(KINDS)
    listed, measurements = [], []
    for index in range(programs):
        kind = names[index % len(names)]
        name = f"{kind}-{index // len(names)}"
        values = KINDS[kind]
        factors = [float(factor) for factor in np.exp(generator.normal(0, jitter, 4))]
        length = float(np.exp(generator.normal(0, 0.5)))
        jittered = Kind(
            values.compute_s * factors[0] * length,
            values.waiting_s * factors[1] * length,
            values.moved_GB * factors[2] * length,
            values.shared,
            values.neighbour,
            values.serial_init,
            values.sync_s * factors[3] * length,
        )
        listed.append(Program(name=name, command=("./app", name), group=name, summary=f"made up, {kind}"))
        measurements += [measure(name, jittered, mapping, counters, topology.name) for mapping in mappings]
    return Dataset(
        machine=topology.name,
        modelled=True,
        topology=topology,
        made_by="tests/planted.py",
        created="2025-01-01T00:00:00Z",
        programs=tuple(listed),
        measurements=tuple(measurements),
    )


def measure(
    name: str, kind: Kind, mapping: Mapping, counters: bool = True, machine: str = "planted-4x8"
) -> Measurement:
    """Return what the formula says about one program under one mapping."""
    local, busiest = _placement(kind, mapping)
    threads, nodes = mapping.threads, mapping.thread_nodes
    scaling = threads**0.97
    bandwidth_s = kind.moved_GB * busiest / NODE_GBPS
    link_s = kind.moved_GB * (1 - local) / (NODE_GBPS * 0.35 * max(nodes, mapping.page_nodes, 2))
    waiting_s = kind.waiting_s / scaling * (local + REMOTE_COST * (1 - local))
    sync_s = kind.sync_s * (math.log2(threads) + 3 * (nodes - 1))
    time_s = kind.compute_s / scaling + max(waiting_s, bandwidth_s, link_s) + 0.3 * (waiting_s + bandwidth_s) + sync_s
    rate = kind.moved_GB / time_s / nodes
    node = NodeCounters(1e7 * local, 1e7 * (1 - local), rate * local, rate * (1 - local))
    every = (node,) * nodes + (NodeCounters(0.0, 0.0, 0.0, 0.0),) * (4 - nodes)
    return Measurement(
        program=name,
        mapping=mapping,
        machine=machine,
        modelled=True,
        repetitions=(Repetition(time_s, counters=Counters(every) if counters else None),),
    )


def _placement(kind: Kind, mapping: Mapping) -> tuple[float, float]:
    """Return the share of local accesses and the share of all accesses that the busiest controller serves."""
    nodes, pages = mapping.thread_nodes, mapping.page_nodes
    split = kind.neighbour if mapping.thread_policy == "scatter" and nodes > 1 else 0.0
    private = (1 - kind.shared) * (1 - split)
    kept = private + (1 - private) / nodes
    match mapping.page_policy:
        case "remote":
            return 0.0, 1.0
        case "bind":
            return 1 / nodes, 1.0
        case "first-touch":
            return (1 / nodes, 1.0) if kind.serial_init else (kept, 1 / nodes)
        case "locality":
            return kept, (1 - kind.shared) / nodes + kind.shared
        case "mix":
            return kept * 0.95, 1 / pages + 0.1 * kind.shared
        case "dataset":
            return (kept * 0.9 if pages == nodes else 1 / pages), 1.1 / pages
        case _:
            return 1 / max(nodes, pages), 1 / pages
