import numpy as np
import pytest

from numapredict.predictor.regions.page_moves import MOVE_S, move_seconds


def test_each_array_that_two_regions_use_costs_its_pages_as_often_as_they_take_turns() -> None:
    rest, own, shared = np.full((2, 2), 7.0), np.zeros((2, 2)), np.array([[0.0, 3.0], [2.0, 0.0]])
    cost_s = move_seconds([frozenset({0, 1, 2}), frozenset({0, 2})], [0, 50, 100], [rest, own, shared])
    assert cost_s == pytest.approx(np.array([[0.0, 300.0], [200.0, 0.0]]) * MOVE_S)
