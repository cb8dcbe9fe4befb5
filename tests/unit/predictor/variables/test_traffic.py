import numpy as np
import pytest

from numapredict.predictor.variables.page_nodes import PageNodes
from numapredict.predictor.variables.pattern import Pattern, pattern_of
from numapredict.predictor.variables.remedy import Action
from numapredict.predictor.variables.touches import Touches
from numapredict.predictor.variables.traffic import Traffic, all_traffic, as_it_is, traffic_of
from tests.unit.predictor.variables.test_pattern import noisy, sampled, touches

NODES = PageNodes((0, 0, 3, 3))
PAGES = 8192
BLOCKS = sampled(2000) * 4 // PAGES


def fixed(found: Touches, action: Action, pattern: Pattern | None = None) -> Traffic:
    """Return the traffic of pages that are all on node 0."""
    homes = np.zeros(len(found.page), dtype=np.int64)
    return traffic_of(found, homes, NODES, 1.0, (action, pattern or pattern_of(found)))


def fixed_on(found: Touches, of_thread: tuple[int, ...], homes: np.ndarray | None = None) -> Traffic:
    """Return the traffic of pages that are on these nodes, or all on node 0, as that of their blocks."""
    homes = np.zeros(len(found.page), dtype=np.int64) if homes is None else homes
    return traffic_of(found, homes, PageNodes(of_thread), 1.0, ("initialise in parallel", pattern_of(found)))


def test_blocks_would_be_with_their_threads() -> None:
    traffic = fixed(touches(sampled(2000), BLOCKS), "initialise in parallel")
    assert traffic.nodes == (0, 3)
    assert traffic.as_it_is[0][1] == traffic.as_it_is[1][1] == 0
    assert traffic.local_now == pytest.approx(0.5, abs=0.05)
    assert traffic.local_then > 0.99
    assert sum(map(sum, traffic.with_remedy)) == pytest.approx(sum(map(sum, traffic.as_it_is))) == 2000


def test_what_others_touch_of_a_block_stays_remote() -> None:
    slot = noisy(BLOCKS, 4, 0.4)  # half of these are of the other node
    traffic = fixed(touches(sampled(2000), slot), "initialise in parallel", Pattern("blocked", 4))
    assert traffic.local_then == pytest.approx(0.8, abs=0.03)


def test_chance_alone_makes_no_touch_local() -> None:
    slot = np.random.default_rng(3).integers(0, 4, 2000)
    traffic = fixed(touches(sampled(2000), slot), "initialise in parallel", Pattern("blocked", 4))
    assert traffic.local_then == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize("turns", [16, 37.4, 101])
def test_pages_dealt_in_turn_would_be_with_their_threads(turns: float) -> None:
    page = sampled(2000)
    slot = (page * turns * 4 / PAGES).astype(np.int64) % 4
    found = touches(page, slot)
    assert pattern_of(found).kind == "strided"
    assert fixed(found, "initialise alike").local_then > 0.9


def test_each_of_several_allocations_may_be_in_blocks() -> None:
    page = sampled(2000)
    found = touches(page, page % 512 * 4 // 512, ranges=16)
    assert fixed(found, "initialise in parallel", Pattern("blocked", 4, each_allocation=True)).local_then > 0.95


def test_interleaved_pages_serve_all_evenly() -> None:
    slot = np.repeat([0, 1, 2, 3], [700, 100, 100, 100])
    traffic = fixed(touches(np.arange(1000), slot, 1000), "interleave")
    assert traffic.with_remedy == ((400, 400), (100, 100))
    assert traffic.local_then == 0.5


def test_what_stays_has_the_same_before_and_after() -> None:
    found = touches(sampled(2000), BLOCKS)
    stays, moved = fixed(found, "nothing"), fixed(found, "initialise in parallel")
    assert stays.with_remedy == stays.as_it_is == moved.as_it_is
    assert as_it_is(moved) == stays
    both = all_traffic([stays, moved])
    assert both is not None
    assert both.local_then == pytest.approx((stays.local_then + moved.local_then) / 2, abs=1e-3)
    assert all_traffic([]) is None


@pytest.mark.parametrize("nodes", [4, 8])
@pytest.mark.parametrize("count", [30, 60, 120, 300])
@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("scattered", [False, True])
def test_few_touches_of_blocks_are_never_less_local_than_before(
    nodes: int, count: int, noise: float, scattered: bool
) -> None:
    threads = 2 * nodes
    of_thread = tuple(thread % nodes if scattered else thread // 2 for thread in range(threads))
    for seed in range(20):
        page = sampled(count, seed)
        found = touches(page, noisy(page * threads // PAGES, threads, noise, seed))
        for placed in (0, 0.6, 1):  # on their threads' nodes already, of all pages
            mine = np.random.default_rng(seed).random(count) < placed
            homes = np.where(mine, np.array(of_thread)[page * threads // PAGES], 0)
            traffic = fixed_on(found, of_thread, homes)
            assert traffic.local_then >= traffic.local_now


def test_more_samples_of_the_same_blocks_say_the_same() -> None:
    for count in (60, 300, 3000):
        page = sampled(count)
        said = fixed_on(touches(page, page * 8 // PAGES), (0, 0, 1, 1, 2, 2, 3, 3))
        assert said.local_then > 0.85


def test_too_few_touches_promise_nothing() -> None:
    page = sampled(29)
    traffic = fixed_on(touches(page, page * 16 // PAGES), tuple(range(8)) * 2)
    assert traffic.with_remedy == traffic.as_it_is


def test_random_touches_of_several_nodes_promise_nothing() -> None:
    gains = []
    for seed in range(40):
        found = touches(sampled(120, seed), np.random.default_rng(seed).integers(0, 4, 120))
        wanted: tuple[Action, Pattern] = ("initialise in parallel", Pattern("blocked", 4))
        traffic = traffic_of(found, np.zeros(120, dtype=np.int64), PageNodes((0, 1, 2, 3)), 1.0, wanted)
        gains.append(traffic.local_then - traffic.local_now)
    assert np.mean(gains) < 0.02


def test_interleaving_that_is_less_local_and_hardly_more_even_is_not_shown() -> None:
    slot = np.arange(1000) % 4
    own = np.array(NODES.of_thread)[slot]
    homes = np.where(np.arange(1000) % 10 < 8, own, 3 - own)
    traffic = traffic_of(touches(np.arange(1000), slot, 1000), homes, NODES, 1.0, ("interleave", Pattern("shared", 4)))
    assert traffic.local_now > 0.75
    assert traffic.with_remedy == traffic.as_it_is
