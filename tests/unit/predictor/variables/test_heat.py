from dataclasses import replace

import numpy as np

from numapredict.predictor.variables.heat import MOST_PARTS, heat_of
from tests.unit.predictor.variables.test_pattern import touches


def test_a_small_variable_has_a_column_a_page_and_a_row_a_thread() -> None:
    heat = heat_of(touches(np.array([0, 1, 1, 3]), np.array([0, 1, 1, 0]), 4), np.array([2, 2, 2, -1]), 3)
    assert heat.touches == ((1, 0, 0, 1), (0, 2, 0, 0), (0, 0, 0, 0))
    assert (heat.threads_each, heat.pages_each) == (1, 1)
    assert heat.first_threads == (2, 2, None, None)


def test_a_large_one_is_folded_and_loses_no_touch() -> None:
    page, slots = np.arange(1000), 300
    heat = heat_of(touches(page, page % slots, 1000), None, slots)
    assert (heat.threads_each, heat.pages_each) == (5, 16)
    assert len(heat.touches) <= MOST_PARTS
    assert len(heat.touches[0]) == len(heat.first_threads) == 63
    assert sum(map(sum, heat.touches)) == 1000
    assert sum(heat.touches[0]) == sum(page % slots < 5)
    assert set(heat.first_threads) == {None}


def test_the_first_thread_of_a_column_is_that_of_most_of_its_pages() -> None:
    first = np.where(np.arange(256) % 4 < 3, 1, 0)
    heat = heat_of(touches(np.arange(256), np.zeros(256, dtype=np.int64), 256), first, 2)
    assert set(heat.first_threads) == {1}


def test_a_sample_of_several_touches_counts_as_these() -> None:
    one = touches(np.array([0]), np.array([0]), 1)
    assert heat_of(replace(one, count=np.array([7])), None, 1).touches == ((7,),)
