"""Topologies of any shape to test with, made from a few numbers."""

from collections.abc import Sequence

from numapredict.collect.topology import Cache, Core, Node, Topology


def shape(
    cores: Sequence[int],
    memory: Sequence[int] | None = None,
    distances: Sequence[Sequence[float]] | None = None,
    name: str = "shape",
    pus: int = 1,
    l3_cores: int = 0,
) -> Topology:
    """Return a topology with so many cores and so much memory (1 GiB each unless given) on each node.

    Core i has the PUs i, i + all cores, ...; OS indices of nodes are 10 apart from logical ones, so that a test
    that confuses them fails. Other nodes are at distance 20 unless given. An L3 cache has ``l3_cores`` cores, or all
    of its node.
    """
    total = sum(cores)
    nodes = []
    first = 0
    for index, count in enumerate(cores):
        of_node = tuple(
            Core(core, tuple(core + total * sibling for sibling in range(pus))) for core in range(first, first + count)
        )
        nodes.append(Node(index, index + 10, of_node, (1 << 30) if memory is None else memory[index]))
        first += count
    table = distances or [[10.0 if i == j else 20.0 for j in range(len(cores))] for i in range(len(cores))]
    caches = tuple(
        Cache(3, 1 << 20, 64, tuple(core.index for core in node.cores[at : at + (l3_cores or total)]))
        for node in nodes
        for at in range(0, len(node.cores), l3_cores or total)
    )
    return Topology(name, tuple(nodes), caches, tuple(tuple(float(value) for value in row) for row in table))
