import pytest

from numapredict.collect.describing.matrices import matrix, rounded
from numapredict.collect.describing.pairs import MeasuredPair, measured_pairs
from numapredict.collect.describing.sample import Sample
from numapredict.collect.topology import Topology
from tests.unit.collect.describing.made_up import NAMES, captured
from tests.unit.collect.describing.test_pairs import ring


def latencies(topology: Topology) -> tuple[tuple[float, ...], ...]:
    pairs = []
    for cores, memory in measured_pairs(topology):
        sample = Sample((10 * topology.distances[cores][memory],))
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


def test_figures_have_four_digits() -> None:
    assert [rounded(value) for value in (94.12345, 0.00123456, 123456.7)] == [94.12, 0.001235, 123500.0]
