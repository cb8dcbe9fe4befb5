import numpy as np
import pytest

from numapredict.predictor.regions.page_moves import MOVE_S, move_seconds


def test_each_array_costs_its_pages_as_often_as_regions_that_use_it_take_turns() -> None:
    one, other = np.array([[0.0, 3.0], [2.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 0.0]])
    cost_s = move_seconds([100, 10], [one, other])
    assert cost_s == pytest.approx(np.array([[0.0, 300.0], [210.0, 0.0]]) * MOVE_S)
