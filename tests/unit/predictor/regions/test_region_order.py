import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.capturing.order import Succession
from numapredict.predictor.regions.region_order import OTHER, follow_counts, follows, renumbered


def counted(sequence: str) -> tuple[Succession, ...]:
    """Return what the capture library counts of a sequence of regions, by letter from a on."""
    recent: list[int] = []
    found: dict[tuple[int, tuple[int, ...]], int] = {}
    for region in (ord(letter) - ord("a") for letter in sequence):
        others = recent[: recent.index(region)] if region in recent else recent
        found[region, tuple(others)] = found.get((region, tuple(others)), 0) + 1
        recent = [region, *(other for other in recent if other != region)]
    return tuple(Succession(region, others, count) for (region, others), count in found.items())


def test_phases_follow_each_other_once_and_turns_each_time() -> None:
    assert follows(counted("a" * 1000 + "b" * 1000), [1000, 1000], {0, 1}).tolist() == [[0, 1], [0, 0]]
    assert follows(counted("ab" * 1000), [1000, 1000], {0, 1}).tolist() == [[0, 1000], [999, 0]]


def test_a_neutral_region_between_is_passed_over() -> None:
    order = counted("ac" * 1000 + "bc" * 1000)
    assert follows(order, [1000, 1000, 2000], {0, 1}).tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert follows(order, [1000, 1000, 2000], {0, 1, 2}).tolist() == [[0, 0, 1000], [0, 0, 1000], [999, 1000, 0]]


@given(st.text("abcd", max_size=60), st.sets(st.integers(0, 3)))
def test_of_any_regions_the_order_is_that_of_the_sequence_without_the_others(sequence: str, among: set[int]) -> None:
    wanted = np.zeros((4, 4))
    rest = [number for letter in sequence if (number := ord(letter) - ord("a")) in among]
    for before, after in itertools.pairwise(rest):
        wanted[before, after] += before != after
    assert follows(counted(sequence), [1] * 4, among).tolist() == wanted.tolist()


def test_an_order_that_is_not_known_is_the_most_that_counts_allow_among_the_same_regions() -> None:
    found = follows(None, [100, 70, 100], {0, 2})
    assert found.tolist() == [[0, 0, 100], [0, 0, 0], [100, 0, 0]]
    assert renumbered(None, {}, OTHER) is None


def test_regions_get_other_numbers_and_those_without_one_number() -> None:
    order = (Succession(70, (80, 90), 2), Succession(90, (), 1))
    assert renumbered(order, {70: 0, 80: 1}, OTHER) == (Succession(0, (1, OTHER), 2), Succession(OTHER, (), 1))


def test_each_instance_follows_another_region_unless_there_are_too_few() -> None:
    follows = follow_counts([100, 100, 50])
    assert follows.diagonal().tolist() == [0, 0, 0]
    assert follows.sum(axis=0).tolist() == pytest.approx([100, 100, 50])
    assert follow_counts([1000, 10]).tolist() == pytest.approx(np.array([[0, 10], [10, 0]]))
    assert follow_counts([1000]).tolist() == [[0]]
    assert follow_counts([]).shape == (0, 0)
