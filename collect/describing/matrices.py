"""Matrices over all pairs of nodes: measured pairs, and what stands for those that cannot be or were not measured."""

from collections.abc import Callable, Sequence

from numapredict.collect.describing.pairs import MeasuredPair
from numapredict.collect.modelled.description_file import Matrix
from numapredict.collect.topology import Topology

DIGITS = 4


def rounded(value: float) -> float:
    """Return a figure with four significant digits."""
    return float(f"{value:.{DIGITS}g}")


def matrix(topology: Topology, pairs: Sequence[MeasuredPair], figure: Callable[[MeasuredPair], float]) -> Matrix:
    """Return a figure for every pair, row: the cores' node, column: the memory's node.

    A pair that was not measured has the figure of one with the same distance; both memories' nodes have cores. A node
    without cores counts as its nearest node with cores, one without memory as the node whose memory serves it: no
    thread uses these entries.
    """
    known = {(pair.cores, pair.memory): figure(pair) for pair in pairs}
    by_distance = {
        topology.distances[i][j]: value for (i, j), value in known.items() if i != j and topology.nodes[j].cores
    }

    def entry(row: int, column: int) -> float:
        cores, memory = with_cores(topology, row), topology.home(column)
        if (cores, memory) in known:
            return rounded(known[cores, memory])
        return rounded(by_distance[topology.distances[cores][memory]])

    indices = range(len(topology.nodes))
    return tuple(tuple(entry(row, column) for column in indices) for row in indices)


def with_cores(topology: Topology, index: int) -> int:
    """Return the node, or where it has no cores the nearest one with cores (ties: lowest index)."""
    if topology.nodes[index].cores:
        return index
    return min((node.index for node in topology.cpu_nodes), key=lambda other: (topology.distances[other][index], other))
