import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import quantile_test

from numapredict.collect.measuring.precision import median_interval, outliers, relative_width

TIMES = st.lists(st.floats(0.01, 100), min_size=1, max_size=40)


@pytest.mark.parametrize(("count", "at"), [(1, 0), (3, 0), (5, 0), (7, 0), (8, 1), (10, 1), (11, 2), (20, 5), (30, 10)])
def test_the_interval_ends_at_order_statistics(count: int, at: int) -> None:
    values = [float(n) for n in range(count)]
    assert median_interval(values[::-1]) == (values[at], values[-1 - at])


@pytest.mark.parametrize("count", [6, 7, 8, 20, 59])
def test_the_interval_is_no_wider_than_a_textbooks_and_holds_what_it_says(count: int) -> None:
    values = np.arange(count, dtype=float)
    low, high = median_interval(values.tolist())
    theirs = quantile_test(values, p=0.5).confidence_interval(0.9)
    assert theirs.low <= low <= high <= theirs.high
    heads = np.random.default_rng(count).binomial(count, 0.5, 20000)  # values below the true median
    held = np.mean((heads > low) & (heads <= high))
    assert held >= 0.895 or (low, high) == (0, count - 1)


@given(TIMES)
def test_the_interval_holds_the_median(values: list[float]) -> None:
    low, high = median_interval(values)
    assert low <= statistics.median(values) <= high
    assert relative_width(values) == (high - low) / statistics.median(values)


def test_no_values_have_no_interval() -> None:
    with pytest.raises(ValueError, match="no values"):
        median_interval([])


def test_what_stands_far_out_is_an_outlier_and_nothing_else() -> None:
    assert outliers([1.0, 1.01, 0.99, 1.02, 1.5]) == (4,)
    assert outliers([0.4, 1.0, 1.01, 0.99, 1.02]) == (0,)
    assert outliers([1.0, 1.1, 0.9, 1.05, 0.95]) == ()
    assert outliers([1.0, 1.0, 1.0, 1.002]) == ()  # a clock's grain
    assert outliers([1.0, 1.0, 9.0]) == ()
