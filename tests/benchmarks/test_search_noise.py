"""What the benchmark of noise does with a program: the product's search and confirmation, of times with noise."""

import numpy as np
import pytest

from tests.benchmarks.search_noise import advised, slower_in_words
from tests.searches import PRIOR, TOPOLOGY

TIMES = np.array([8.0, 4.0, 7.0, 9.0, 10.0])


@pytest.mark.parametrize(("times_s", "column"), [(TIMES, 1), (np.full(5, 8.0), 0), (TIMES[::-1], 2)])
def test_without_noise_the_fastest_of_four_runs_is_advised(times_s: np.ndarray, column: int) -> None:
    assert advised(times_s, PRIOR, TOPOLOGY, np.random.default_rng(0), 0.0) == column


def test_noise_may_mislead_a_search_but_hardly_twice() -> None:
    draw = np.random.default_rng(0)
    slow = np.array([8.0, 8.1, 8.1, 8.1, 8.1])
    found = [advised(slow, PRIOR, TOPOLOGY, draw, 0.05) for _ in range(200)]
    assert 0 < sum(column != 0 for column in found) < 20


def test_a_share_has_its_interval() -> None:
    assert slower_in_words(0, 1536).split() == ["0", "of", "1536", "0.00%", "(0.00%", "to", "0.24%)"]
