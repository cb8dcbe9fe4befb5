from collections.abc import Sequence

import numpy as np
import pytest
from scipy.cluster.hierarchy import leaves_list

from numapredict.collect.mapping import mapping_named, parse_label
from numapredict.predictor.learning.clustering import centroid_members, cut, ward_linkage
from numapredict.predictor.learning.features import Observations, observe
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import train
from numapredict.reports.parts.heatmap import MOST_CUTS, HeatmapData, heatmap_data
from numapredict.reports.program_order import Order, order_programs
from tests.planted import planted_dataset

DEFAULT = mapping_named("32x4-contiguous-first-touch")


@pytest.fixture(scope="module")
def observations() -> Observations:
    return observe(planted_dataset(15), DEFAULT)


@pytest.fixture(scope="module")
def order(observations: Observations) -> Order:
    return order_programs(observations, observations.column(DEFAULT))


@pytest.fixture(scope="module")
def data(observations: Observations, order: Order) -> HeatmapData:
    return heatmap_data(observations, observations.column(DEFAULT), order, 5)


def test_rows_and_columns_are_the_measurements(data: HeatmapData) -> None:
    times = {(m.program, m.mapping.label): m.time_s for m in planted_dataset(15).measurements}
    assert sorted(data.programs) == sorted(p.name for p in planted_dataset(15).programs)
    assert data.labels[data.default] == DEFAULT.label
    for program, row in zip(data.programs, data.times_s, strict=True):
        assert row == pytest.approx([times[program, label] for label in data.labels], rel=1e-3)
    mappings = map(parse_label, data.labels)
    assert data.choices == tuple(each.choices for each in mappings)


def test_programs_of_a_kind_stand_together(data: HeatmapData) -> None:
    kinds = [name.rsplit("-", 1)[0] for name in data.programs]
    assert sum(a != b for a, b in zip(kinds, ["", *kinds], strict=False)) == 5
    five = data.cuts[4]
    assert [kinds[start] for start in five.starts] == list(dict.fromkeys(kinds))


def test_every_cut_is_that_of_the_tree(data: HeatmapData, observations: Observations, order: Order) -> None:
    assert [len(each.starts) for each in data.cuts] == list(range(1, 16))
    for each in data.cuts:
        labels = cut(order.tree, len(each.starts))
        stops = (*each.starts[1:], len(data.programs))
        members = {frozenset(data.programs[a:b]) for a, b in zip(each.starts, stops, strict=True)}
        assert members == {
            frozenset(np.array(observations.names)[labels == cluster].tolist()) for cluster in set(labels.tolist())
        }


def test_every_cut_gives_each_program_its_centroids_mapping(
    data: HeatmapData, observations: Observations, order: Order
) -> None:
    times = observations.time_s
    for each in data.cuts:
        labels = cut(order.tree, len(each.starts))
        centroids = centroid_members(order.rows, labels)
        gains = []
        for row, cluster in enumerate(labels):
            column = times[centroids[cluster]].argmin()
            place = data.programs.index(observations.names[row])
            number = max(n for n, start in enumerate(each.starts) if start <= place)
            assert each.mappings[number] == column
            gains.append(times[row, data.default] / times[row, column])
        assert each.arithmetic == pytest.approx(sum(gains) / len(gains), rel=1e-3)
        assert each.geometric == pytest.approx(np.prod(gains) ** (1 / len(gains)), rel=1e-3)
    assert data.cuts[-1].geometric == pytest.approx(data.oracle, rel=1e-3), "each program for itself"
    assert data.cuts[-1].arithmetic == pytest.approx(data.oracle_arithmetic, rel=1e-3)
    assert data.oracle_arithmetic > max(cut.arithmetic for cut in data.cuts) * 0.999


def test_the_tree_falls_apart_at_each_cuts_height(data: HeatmapData) -> None:
    """What the page's script draws: a merge is kept where it is not left of the cut."""
    for each in data.cuts:
        assert 0 < each.at < 1
        kept = sum(merge.at >= each.at for merge in data.merges)
        assert len(data.programs) - kept == len(each.starts)
    assert [each.at for each in data.cuts] == sorted(each.at for each in data.cuts)


def test_neighbours_are_as_alike_as_the_tree_allows(observations: Observations, order: Order) -> None:
    def between_neighbours(leaves: Sequence[int]) -> float:
        return float(np.linalg.norm(np.diff(order.rows[list(leaves)], axis=0), axis=1).sum())

    as_merged = leaves_list(ward_linkage(order.rows)).tolist()
    assert between_neighbours(order.leaves) < 0.95 * between_neighbours(as_merged)


def test_twins_cannot_be_parted() -> None:
    observations = observe(planted_dataset(4), DEFAULT).rows([0, 0, 0, 1])
    order = order_programs(observations, observations.column(DEFAULT))
    data = heatmap_data(observations, observations.column(DEFAULT), order, 6)
    assert [len(each.starts) for each in data.cuts] == [1, 2]
    assert data.start_clusters == 2


def test_one_program_has_no_tree() -> None:
    observations = observe(planted_dataset(1), DEFAULT)
    order = order_programs(observations, observations.column(DEFAULT))
    data = heatmap_data(observations, observations.column(DEFAULT), order, 6)
    assert (data.merges, len(data.cuts), data.cuts[0].starts) == ((), 1, (0,))


def test_cuts_are_bounded() -> None:
    observations = observe(planted_dataset(MOST_CUTS + 6), DEFAULT)
    order = order_programs(observations, observations.column(DEFAULT))
    assert len(heatmap_data(observations, observations.column(DEFAULT), order, 6).cuts) == MOST_CUTS


def test_a_models_clusters_have_its_numbers(observations: Observations, order: Order) -> None:
    model = train(planted_dataset(15), TrainingOptions(n_clusters=4))
    data = heatmap_data(observations, observations.column(DEFAULT), order, 4, model)
    assert [len(each.starts) for each in data.cuts if each.numbers] == [4]
    found = data.cuts[3]
    member_of = {member.name: cluster.id for cluster in model.clusters for member in cluster.members}
    for number, start, stop in zip(found.numbers, found.starts, (*found.starts[1:], 15), strict=True):
        assert {member_of[name] for name in data.programs[start:stop]} == {number}
    assert found.numbers != tuple(range(4)), "else the test could not fail"
