"""The drawing of a merge tree: each merge joins its neighbours where they are drawn."""

import re

import numpy as np
import pytest

from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import train
from numapredict.reports.parts.merge_tree import ROOM, merges_of, place_of, row_height, tree_data
from tests.planted import planted_dataset

ENDS = re.compile(r"M([\d.]+) ([\d.]+)H([\d.]+)V([\d.]+)H([\d.]+)")


def corners(path: str) -> list[tuple[float, ...]]:
    return [tuple(map(float, found.groups())) for found in ENDS.finditer(path)]


def test_merges_begin_at_leaves_or_in_the_middle_of_earlier_merges() -> None:
    tree = np.array([[0, 2, 1.0, 2], [1, 3, 4.0, 2], [4, 5, 9.0, 4]])
    drawn = merges_of(tree, (2, 0, 1, 3))
    places = [1 - (distance / (9 * ROOM)) ** 0.5 for distance in (1.0, 4.0, 9.0)]
    assert [merge.at for merge in drawn] == pytest.approx(places)
    first, second, last = (corners(merge.path)[0] for merge in drawn)
    assert first == pytest.approx((1, 1.5, places[0], 0.5, 1), abs=1e-4)
    assert second == pytest.approx((1, 2.5, places[1], 3.5, 1), abs=1e-4)
    assert last == pytest.approx((places[0], 1.0, places[2], 3.0, places[1]), abs=1e-4)
    assert place_of(0.0, tree) == 1


def test_the_tree_of_a_model_is_cut_into_its_clusters() -> None:
    model = train(planted_dataset(12), TrainingOptions(n_clusters=5))
    data = tree_data(model)
    assert sorted(data.programs) == sorted(model.programs)
    assert sorted(bar.number for bar in data.clusters) == sorted(cluster.id for cluster in model.clusters)
    assert sum(bar.height for bar in data.clusters) == 12 * data.row_height
    apart, within = corners(data.apart), corners(data.within)
    assert (len(apart), len(within)) == (4, 7)
    assert max(corner[2] for corner in apart) < data.cut < min(corner[2] for corner in within)
    of = {member.name: cluster.id for cluster in model.clusters for member in cluster.members}
    for bar in data.clusters:
        first, rows = int(bar.y / data.row_height), int(bar.height / data.row_height)
        assert {of[name] for name in data.programs[first : first + rows]} == {bar.number}
        assert bar.labelled


def test_rows_are_narrower_the_more_there_are() -> None:
    assert [row_height(rows) for rows in (1, 40, 41, 200, 201)] == [18, 18, 12, 12, 10]
