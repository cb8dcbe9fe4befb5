import numpy as np
import pytest

from numapredict.predictor.variables.page_nodes import PageNodes
from numapredict.predictor.variables.pattern import Pattern
from numapredict.predictor.variables.requests import Requests, all_requests, requests_of
from numapredict.predictor.variables.touches import Touches
from numapredict.predictor.variables.traffic import traffic_of
from tests.unit.predictor.variables.test_pattern import touches

PAGES = np.arange(8)
SLOTS = PAGES // 2  # four threads, two pages each
NODES = PageNodes((0, 0, 3, 3))


def served(found: Touches, homes: np.ndarray, nodes: PageNodes, each: float) -> Requests:
    traffic = traffic_of(found, homes, nodes, each, ("nothing", Pattern("blocked", 4)))
    return requests_of(traffic.nodes, traffic.as_it_is)


def test_what_one_thread_touched_first_is_served_by_its_node() -> None:
    found = served(touches(PAGES, SLOTS, 8), np.zeros(8, dtype=np.int64), NODES, 0.5)
    assert (found.local, found.remote) == (2, 2)
    assert (found.nodes, found.by_node, found.imbalance) == ((0, 3), (4, 0), 2)


def test_what_each_thread_touched_first_is_local_and_even() -> None:
    found = served(touches(PAGES, SLOTS, 8), SLOTS // 2 * 3, NODES, 1.0)
    assert (found.local, found.remote, found.by_node, found.imbalance) == (8, 0, (4, 4), 1)


def test_where_all_are_as_likely_requests_are_as_the_threads() -> None:
    found = served(touches(PAGES, SLOTS, 8), np.full(8, -1), PageNodes((0, 3, 3, 3)), 1.0)
    assert found.by_node == (2, 6)
    assert found.local == pytest.approx(2 * 0.25 + 6 * 0.75)
    assert found.imbalance == 1.5


def test_the_programs_are_the_sum_of_its_variables() -> None:
    one = served(touches(PAGES, SLOTS, 8), np.zeros(8, dtype=np.int64), NODES, 1.0)
    other = served(touches(PAGES, SLOTS, 8), np.full(8, 3), NODES, 1.0)
    both = all_requests([one, other])
    assert both is not None
    assert (both.local, both.remote, both.by_node, both.imbalance) == (8, 8, (8, 8), 1)
    assert all_requests([]) is None


def test_no_touch_of_any_weight_is_no_imbalance() -> None:
    assert served(touches(PAGES, SLOTS, 8), np.zeros(8, dtype=np.int64), NODES, 0.0).imbalance == 1


def test_a_node_without_threads_serves_what_is_there() -> None:
    nodes = PageNodes((0, 0, 3, 3), {0: 0, 1: 1, 4: 3})
    found = served(touches(PAGES, SLOTS, 8), np.array([1, 1, 1, 1, 1, 1, 3, 3]), nodes, 1.0)
    assert (found.nodes, found.by_node, found.local, found.remote) == ((0, 1, 3), (0, 6, 2), 2, 6)
    assert found.imbalance == 6 * 3 / 8
