"""How threads share a variable, on touches made up: each page has an owner, or none, and noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.predictor.variables.pattern import Pattern, pattern_of
from numapredict.predictor.variables.touches import Touches

PAGES = 8192


def touches(page: np.ndarray, slot: np.ndarray, pages: int = PAGES, ranges: int = 1) -> Touches:
    """Return touches of pages by slots, of a variable whose ranges have as many pages each."""
    length = pages // ranges
    one = np.ones(len(page), dtype=np.int64)
    return Touches(
        pages,
        page,
        page % length,
        page // length,
        one * length,
        slot.astype(np.int64),
        one,
        one * 0,
        -one,
        one,
        one * 1.0,
    )


def sampled(count: int, seed: int = 1, pages: int = PAGES) -> np.ndarray:
    return np.sort(np.random.default_rng(seed).integers(0, pages, count))


def noisy(slot: np.ndarray, threads: int, share: float, seed: int = 2) -> np.ndarray:
    """Return the slots with a share of them any."""
    random = np.random.default_rng(seed)
    return np.where(random.random(len(slot)) < share, random.integers(0, threads, len(slot)), slot)


@pytest.mark.parametrize("threads", [2, 4, 7, 32])
@pytest.mark.parametrize("noise", [0.0, 0.15])
def test_blocks_of_threads(threads: int, noise: float) -> None:
    page = sampled(120)
    found = pattern_of(touches(page, noisy(page * threads // PAGES, threads, noise), PAGES))
    assert (found.kind, found.threads, found.in_blocks) == ("blocked", threads, True)


def test_blocks_of_unequal_size_and_in_the_other_direction() -> None:
    page = sampled(200)
    triangle = (4 * (page / PAGES) ** 2).astype(int)
    assert pattern_of(touches(page, triangle)).kind == "blocked"
    assert pattern_of(touches(page, 3 - page * 4 // PAGES)).kind == "blocked"


def test_blocks_in_each_of_several_allocations() -> None:
    page = sampled(400)
    found = pattern_of(touches(page, page % 1024 * 4 // 1024, ranges=8))
    assert (found.kind, found.each_allocation) == ("blocked", True)


def test_a_few_arrays_one_after_the_other_are_blocks_too() -> None:
    page = sampled(400, pages=3 * 2048)
    found = pattern_of(touches(page, page % 2048 * 4 // 2048, 3 * 2048))
    assert (found.kind, found.turns, found.in_blocks) == ("strided", 3, True)


@pytest.mark.parametrize("threads", [2, 4, 16])
@pytest.mark.parametrize("period", [16.0, 31.25, 100.0, 2000 / 4096 * 64])
def test_turns_of_threads(threads: int, period: float) -> None:
    page = sampled(400)
    found = pattern_of(touches(page, noisy((page / period * threads).astype(int) % threads, threads, 0.1)))
    assert (found.kind, found.threads, found.in_blocks) == ("strided", threads, False)
    assert found.period_pages == pytest.approx(period, rel=0.01)


def test_one_thread_and_few_samples() -> None:
    page = sampled(100)
    assert pattern_of(touches(page, noisy(np.full(100, 3), 4, 0.05))) == Pattern("one thread", 1, thread=3)
    assert pattern_of(touches(page[:7], page[:7] * 0)).kind == "unknown"


def test_parts_in_no_order() -> None:
    page = sampled(400)
    owners = np.random.default_rng(5).integers(0, 8, PAGES // 256)
    assert pattern_of(touches(page, owners[page // 256])).kind == "irregular"


@given(st.integers(2, 32), st.integers(200, 600), st.integers(0, 1 << 30), st.sampled_from([2, 64, 1000, PAGES]))
def test_what_all_threads_use_is_shared(threads: int, count: int, seed: int, pages: int) -> None:
    page = sampled(count, seed, pages)
    slot = np.random.default_rng(seed + 1).integers(0, threads, count)
    found = pattern_of(touches(page, slot, pages))
    assert found.kind == "shared"
    assert found.threads > threads * 0.8  # by chance, one may hardly take part


def test_a_thread_that_hardly_uses_it_is_not_counted() -> None:
    page = sampled(300)
    slot = page * 4 // PAGES
    slot[::100] = 9
    found = pattern_of(touches(page, slot))
    assert (found.kind, found.threads) == ("blocked", 4)
