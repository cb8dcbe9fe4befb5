import numpy as np
import pytest

from numapredict.collect.mapping import parse_label
from numapredict.collect.space import default_mapping, full_space
from numapredict.collect.topology import Topology
from numapredict.predictor.searching.carried_gains import (
    FEW,
    SQUARED_WIDTH,
    carried_gains,
    carried_knowledge,
    mapping_features,
)
from numapredict.predictor.searching.gains_file import MachineGains, numbers_of
from tests.shapes import shape

POLICIES = tuple(f"16x2-contiguous-{policy}" for policy in ("first-touch", "locality", "dataset", "mix"))


def features(topology: Topology, *labels: str) -> np.ndarray:
    return mapping_features([parse_label(label) for label in labels], topology)


def gained(topology: Topology, programs: int) -> MachineGains:
    """Return what programs, one a group, gained by chance on a machine."""
    mappings = full_space(topology)
    return MachineGains(
        machine=topology.name,
        modelled=True,
        topology=topology,
        default=default_mapping(topology).label,
        mappings=tuple(mapping.label for mapping in mappings),
        groups=tuple(map(str, range(programs))),
        numbers=numbers_of(np.random.default_rng(programs).normal(size=(programs, len(mappings)))),
    )


def test_mappings_that_use_like_parts_of_different_machines_have_equal_features() -> None:
    small, large = shape([8, 8]), shape([12, 12])
    assert features(small, "16x2-scatter-locality") == pytest.approx(features(large, "24x2-scatter-locality"))
    assert features(small, "4x1-contiguous-bind") == pytest.approx(features(large, "6x1-contiguous-bind"))


@pytest.mark.parametrize(
    "other",
    [
        "8x2-scatter-locality",
        "16x2-contiguous-locality",
        "16x2-scatter-interleave",
        "8x1-contiguous-bind",
        "16x2-scatter-interleave@1",
        "16x2-scatter-locality-smt2",
    ],
)
def test_mappings_that_differ_in_any_choice_differ_in_features(other: str) -> None:
    topology = shape([8, 8], pus=2)
    assert not np.allclose(features(topology, "16x2-scatter-locality"), features(topology, other))


def test_gains_are_those_of_the_like_mapping() -> None:
    small, large = shape([8, 8]), shape([16, 16])
    labels = ["16x2-contiguous-first-touch", "16x2-contiguous-interleave", "8x1-contiguous-bind"]
    twice = ["32x2-contiguous-first-touch", "32x2-contiguous-interleave", "16x1-contiguous-bind"]
    gains = np.array([[0.0, 1.5, -1.0], [0.0, -0.5, 2.0]])
    found = carried_gains(gains, features(small, *labels), features(large, *twice), 0)
    assert found == pytest.approx(gains, abs=0.05)
    assert found[:, 0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("known", "wanted", "less"), [(True, False, 0.07), (True, True, 0.0), (False, False, 0.0)])
def test_modelled_moves_of_pages_cost_nothing_so_that_on_real_machines_they_gain_less(
    known: bool, wanted: bool, less: float
) -> None:
    topology = shape([8, 8])
    gains = np.array([[0.0, 2.0, 2.0, 1.0]])
    other = MachineGains(
        machine="other",
        modelled=known,
        topology=topology,
        default=POLICIES[0],
        mappings=POLICIES,
        groups=("one",),
        numbers=numbers_of(gains),
    )
    found = carried_knowledge([other], features(topology, *POLICIES), 0, modelled=wanted).gains
    assert found == pytest.approx(gains - [[0.0, less, 0.0, less]])


def test_gains_are_means_weighted_by_how_alike_mappings_are_else_those_of_the_nearest() -> None:
    known, wanted = shape([8] * 2), shape([12] * 4, pus=2)
    columns = mapping_features(full_space(known), known)
    rows = mapping_features(full_space(wanted), wanted)
    default = full_space(wanted).index(default_mapping(wanted))
    gains = np.random.default_rng(3).normal(size=(5, len(columns))).astype(np.float16)
    expected = []
    for row in rows:
        squared = ((row - columns) ** 2).sum(axis=1)
        alike = np.exp(-squared / SQUARED_WIDTH)
        near = gains[:, squared.round(9).argmin()].astype(np.float64)
        expected.append(gains @ alike / alike.sum() if alike.sum() > FEW else near)
    wants = np.array(expected).T
    found = carried_gains(gains, columns, rows, default)
    assert found == pytest.approx(wants - wants[:, [default]], abs=1e-9)
    lonely = np.exp(-((rows[:, None] - columns) ** 2).sum(axis=2) / SQUARED_WIDTH).sum(axis=1) <= FEW
    assert 0 < lonely.sum() < len(rows)


def test_every_machine_weighs_the_same_in_what_is_carried_over() -> None:
    one, two = gained(shape([8, 8], name="one"), 1), gained(shape([16] * 4, name="two"), 3)
    topology = shape([4, 4])
    wanted = mapping_features(full_space(topology), topology)
    found = carried_knowledge([one, two], wanted, 0, modelled=True)
    assert found.weights == pytest.approx([1 / 2, 1 / 6, 1 / 6, 1 / 6])
    for machine, rows in ((one, slice(0, 1)), (two, slice(1, 4))):
        known = mapping_features(machine.parsed, machine.topology)
        assert found.gains[rows] == pytest.approx(carried_gains(machine.gains, known, wanted, 0))


def test_a_thread_count_between_two_known_ones_gets_a_gain_between_theirs() -> None:
    topology = shape([16])
    known = features(topology, "16x1-contiguous-bind", "8x1-contiguous-bind")
    wanted = features(topology, "16x1-contiguous-bind", "12x1-contiguous-bind", "8x1-contiguous-bind")
    found = carried_gains(np.array([[0.0, 2.0]]), known, wanted, 0)[0]
    assert found[0] == 0.0
    assert 0.2 < found[1] < 1.0  # nearer to 16 than to 8
    assert found[2] == pytest.approx(2.0, abs=0.01)


def test_where_nothing_is_alike_the_nearest_counts() -> None:
    topology = shape([8, 8])
    known = features(topology, "16x2-contiguous-first-touch", "1x1-contiguous-bind")
    wanted = features(topology, "16x2-contiguous-first-touch", "2x1-contiguous-remote")
    found = carried_gains(np.array([[0.0, 3.0]]), known, wanted, 0)
    assert found.tolist() == [[0.0, 3.0]]


def test_every_mapping_of_a_space_has_features() -> None:
    topology = shape([12] * 4, pus=2)
    found = mapping_features(full_space(topology), topology)
    assert np.isfinite(found).all()
    assert len({tuple(row) for row in found.round(9).tolist()}) == len(found)
    assert found[full_space(topology).index(default_mapping(topology))][:3].tolist() == [0.0, 0.0, 0.0]


def test_of_equally_near_mappings_the_first_counts_however_sums_are_rounded() -> None:
    drawn = np.random.default_rng(1)
    policy = np.eye(8)[:1] * 2
    for _ in range(50):
        wanted = np.hstack([drawn.normal(size=(1, 7)), policy])
        away = np.hstack([drawn.normal(size=(1, 7)) + 2, policy * 0])
        known = np.vstack([wanted + away, wanted - away])
        found = carried_gains(np.array([[1.0, 2.0]]), known, np.vstack([known[1], wanted]), 0)
        assert found.tolist() == [[0.0, -1.0]]
