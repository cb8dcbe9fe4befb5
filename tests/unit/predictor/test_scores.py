import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.predictor.scores import gain_captured, summarise_speedups


def test_gain_captured_by_hand() -> None:
    assert gain_captured(2.0, 4.0) == pytest.approx(0.5)
    assert gain_captured(4.0, 4.0) == pytest.approx(1.0)
    assert gain_captured(0.5, 4.0) == pytest.approx(-0.5)
    assert gain_captured(1.0, 1.0) is None


def test_a_summary_by_hand() -> None:
    summary = summarise_speedups([1.0, 4.0], [2.0, 4.0])
    assert summary.speedup_geometric_mean == pytest.approx(2.0)
    assert summary.speedup_arithmetic_mean == pytest.approx(2.5)
    assert summary.speedup_min == 1.0
    assert summary.regret_median == pytest.approx(0.5)
    assert summary.regret_max == pytest.approx(1.0)
    assert summary.gain_captured == pytest.approx(math.log(2) / math.log(math.sqrt(8)))


@given(st.lists(st.tuples(st.floats(0.1, 10), st.floats(1.01, 5)), min_size=1))
def test_choosing_the_best_has_no_regret_and_all_gain(pairs: list[tuple[float, float]]) -> None:
    oracle = [gain for _, gain in pairs]
    best = summarise_speedups(oracle, oracle)
    assert best.regret_max == pytest.approx(0.0)
    assert best.gain_captured == pytest.approx(1.0)


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="longer"):
        summarise_speedups([1.0], [1.0, 2.0])
