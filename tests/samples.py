"""Small topologies, programs and datasets to test with."""

import math
from collections.abc import Sequence

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import Mapping
from numapredict.collect.measurement import Counters, Measurement, NodeCounters, Repetition
from numapredict.collect.program import Program
from numapredict.collect.space import full_space
from numapredict.collect.topology import Cache, Core, Node, Topology


def topology_of(cores: Sequence[int] = (4, 4), name: str = "sample-2x4", os_indices: Sequence[int] = ()) -> Topology:
    """Return a topology with so many cores on each node; PU numbers alternate between nodes, as firmware likes to."""
    count = len(cores)
    index = 0
    nodes = []
    for number, size in enumerate(cores):
        of_node = tuple(Core(index + i, (number + count * i,)) for i in range(size))
        nodes.append(Node(number, os_indices[number] if os_indices else number, of_node, 1 << 30))
        index += size
    caches = tuple(Cache(3, 1 << 20, 64, tuple(core.index for core in node.cores)) for node in nodes if node.cores)
    distances = tuple(tuple(10.0 if i == j else 20.0 for j in range(count)) for i in range(count))
    return Topology(name, tuple(nodes), caches, distances)


def measurement_of(
    program: str,
    mapping: Mapping,
    topology: Topology,
    *,
    repetitions: int = 2,
    counted: bool = True,
    modelled: bool = True,
) -> Measurement:
    """Return a measurement whose figures follow from the names alone."""
    seed = sum(map(ord, program + mapping.label))
    nodes = tuple(NodeCounters(seed + i, seed / (i + 1), 1.5 + i, 0.1 * seed) for i in range(len(topology.nodes)))
    return Measurement(
        program=program,
        mapping=mapping,
        machine=topology.name,
        modelled=modelled,
        repetitions=tuple(
            Repetition(
                math.sqrt(seed + i), math.sqrt(seed + i) / 2 if counted else None, Counters(nodes) if counted else None
            )
            for i in range(repetitions)
        ),
        provenance=(("source", "sample"), ("share", "0.5")),
    )


def failed_of(program: str, mapping: Mapping, topology: Topology, *, modelled: bool = True) -> Measurement:
    """Return a measurement of a program that crashed."""
    return Measurement(
        program=program,
        mapping=mapping,
        machine=topology.name,
        modelled=modelled,
        status="crashed",
        message='exit code 3: "it" broke',
    )


def programs_of(*names: str) -> tuple[Program, ...]:
    """Return programs of these names, each a command of its own."""
    return tuple(Program(name=name, command=(f"/bin/{name}", "--size", "1"), group=name[:1]) for name in names)


def dataset_of(*, programs: int = 3, mappings: int = 6, modelled: bool = True) -> Dataset:
    """Return a dataset of programs p0, p1, ... under the first mappings of the sample topology; the last run failed."""
    topology = topology_of()
    space = full_space(topology)[:mappings]
    names = [f"p{number}" for number in range(programs)]
    runs = [measurement_of(name, mapping, topology, modelled=modelled) for name in names for mapping in space]
    runs[-1] = failed_of(names[-1], space[-1], topology, modelled=modelled)
    return Dataset(
        machine=topology.name,
        modelled=modelled,
        topology=topology,
        made_by="numapredict collect run --machine sample",
        created="2024-05-06T07:08:09+00:00",
        environment=(("kernel", "Linux 6.1"),),
        programs=programs_of(*names),
        measurements=tuple(runs),
    )
