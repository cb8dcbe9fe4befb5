import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.predictor.learning.scores import Score, gain_captured, score_of


def score(speedups: list[float], oracle: list[float], groups: list[str] | None = None) -> Score:
    names = groups or [str(n) for n in range(len(speedups))]
    return score_of(np.log2(speedups), np.log2(oracle), names)


def test_gain_captured_by_hand() -> None:
    assert gain_captured(2.0, 4.0) == pytest.approx(0.5)
    assert gain_captured(4.0, 4.0) == pytest.approx(1.0)
    assert gain_captured(0.5, 4.0) == pytest.approx(-0.5)
    assert gain_captured(1.0, 1.0) is None


def test_a_score_by_hand() -> None:
    found = score([1.0, 4.0, 0.97, 0.99], [2.0, 4.0, 1.0, 1.0])
    assert found.programs == 4
    assert found.speedup.geometric == pytest.approx((4 * 0.97 * 0.99) ** 0.25)
    assert found.speedup.arithmetic == pytest.approx((1 + 4 + 0.97 + 0.99) / 4)
    assert found.oracle_speedup.geometric == pytest.approx(8**0.25)
    assert found.oracle_speedup.arithmetic == pytest.approx(2)
    assert found.gain_captured == pytest.approx(math.log(4 * 0.97 * 0.99) / math.log(8))
    assert found.regret.max == pytest.approx(1.0)
    assert found.regret.median == pytest.approx((1 / 0.97 - 1 + 1 / 0.99 - 1) / 2)
    assert found.slower_than_default == 0.25  # 0.97 is slower by over 2%, 0.99 is not
    assert found.worst_speedup == pytest.approx(0.97)


def test_the_95th_percentile_of_regret() -> None:
    oracle = list(1 + np.arange(101) / 100)
    found = score([1.0] * 101, oracle)
    assert found.regret.p95 == pytest.approx(0.95)
    assert found.regret.median == pytest.approx(0.5)


@given(st.lists(st.tuples(st.floats(0.1, 10), st.floats(1.01, 5)), min_size=1, max_size=20))
def test_choosing_the_best_has_no_regret_and_all_gain(pairs: list[tuple[float, float]]) -> None:
    oracle = [gain for _, gain in pairs]
    best = score(oracle, oracle)
    assert best.regret.max == pytest.approx(0.0)
    assert best.gain_captured == pytest.approx(1.0)
    assert best.slower_than_default == 0


def test_an_interval_holds_the_score_and_narrows_with_more_groups() -> None:
    generator = np.random.default_rng(3)
    oracle = generator.uniform(0.5, 2, 400)
    gains = oracle * generator.uniform(0.2, 1.2, 400)
    widths = []
    for programs in (20, 400):
        found = score_of(gains[:programs], oracle[:programs], [str(n) for n in range(programs)])
        interval, faster = found.gain_captured_interval, found.speedup_interval
        assert interval is not None
        assert faster is not None
        assert found.gain_captured is not None
        assert interval.low < found.gain_captured < interval.high
        assert faster.low < found.speedup.geometric < faster.high
        widths.append(interval.high - interval.low)
    assert widths[1] < widths[0] / 3


def test_variants_of_a_program_are_drawn_together() -> None:
    gains, oracle = np.tile([0.2, 1.0], 8), np.ones(16)
    apart = score_of(gains, oracle, [str(n) for n in range(16)]).gain_captured_interval
    pairs = score_of(gains, oracle, [str(n // 2) for n in range(16)]).gain_captured_interval
    assert apart is not None
    assert pairs is not None
    assert pairs.high - pairs.low < 1e-9 < apart.high - apart.low  # each pair holds the same


def test_nothing_can_be_said_of_one_group_or_where_nothing_is_to_be_gained() -> None:
    alone = score([1.5, 2.0], [2.0, 2.0], ["a", "a"])
    assert (alone.gain_captured_interval, alone.speedup_interval) == (None, None)
    assert score([1.0, 1.0], [1.0, 1.0]).gain_captured is None
    assert score([1.0, 1.0], [1.0, 1.0]).gain_captured_interval is None


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="make no score"):
        score([1.0], [1.0, 2.0], ["a"])
    with pytest.raises(ValueError, match="make no score"):
        score_of(np.empty(0), np.empty(0), [])
