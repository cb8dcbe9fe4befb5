import msgspec
import pytest

from numapredict.collect.describing.matrices import matrix, rounded
from numapredict.collect.describing.pairs import MeasuredPair, measured_pairs
from numapredict.collect.describing.sample import Sample
from numapredict.collect.topology import Topology
from tests.unit.collect.describing.made_up import NAMES, captured
from tests.unit.collect.describing.test_pairs import ring


def latencies(topology: Topology, memory_only: float = 10) -> tuple[tuple[float, ...], ...]:
    """Return 10 times each distance, ``memory_only`` times where the memory's node has no cores."""
    pairs = []
    for cores, memory in measured_pairs(topology):
        factor = 10 if topology.nodes[memory].cores else memory_only
        sample = Sample((factor * topology.distances[cores][memory],))
        pairs.append(MeasuredPair(cores, memory, sample, sample, sample, sample, sample, 1.0))
    return matrix(topology, pairs, lambda pair: pair.latency_ns.middle)


@pytest.mark.parametrize("name", NAMES)
def test_measured_pairs_keep_their_place(name: str) -> None:
    topology, _ = captured(name)
    found = latencies(topology)
    for i, j in measured_pairs(topology):
        assert found[i][j] == pytest.approx(10 * topology.distances[i][j], rel=1e-3)
    assert all(value > 0 for row in found for value in row)


def test_a_pair_that_was_not_measured_has_the_figure_of_its_distance() -> None:
    topology = ring(12)
    assert latencies(topology) == tuple(tuple(10 * value for value in row) for row in topology.distances)


def test_memory_without_cores_gives_no_figure_to_other_pairs_of_its_distance() -> None:
    around = ring(12)
    nodes = (*around.nodes[:11], msgspec.structs.replace(around.nodes[11], cores=()))
    topology = msgspec.structs.replace(around, nodes=nodes)
    found = latencies(topology, memory_only=30)
    for row in range(11):
        for column in range(12):
            assert found[row][column] == (30 if column == 11 else 10) * topology.distances[row][column]


def test_figures_have_four_digits() -> None:
    assert [rounded(value) for value in (94.12345, 0.00123456, 123456.7)] == [94.12, 0.001235, 123500.0]
