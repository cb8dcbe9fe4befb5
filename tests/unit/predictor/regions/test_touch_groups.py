"""Which regions can have their arrays in one place by their touches."""

import numpy as np
import pytest

from numapredict.predictor.regions.touch_groups import NodeTouches, TouchGroups, groups_of

PAGES = 256
BY_HALVES = np.arange(PAGES) * 2 // PAGES
ONE_GROUP = TouchGroups()


def touches(nodes: "np.ndarray[tuple[int], np.dtype[np.int64]] | list[int]", weight: float = 1.0) -> NodeTouches:
    """Return one touch of each page of an array, from these nodes."""
    ones = np.ones(len(nodes), dtype=np.int64)
    return NodeTouches(np.arange(len(nodes)), np.asarray(nodes, dtype=np.int64), ones, weight * ones)


HALVES, FIRST, SECOND = touches(BY_HALVES), touches([0] * PAGES), touches([1] * PAGES)
ANY = touches(np.random.default_rng(1).integers(0, 2, PAGES))


def test_regions_whose_touches_come_from_the_same_nodes_are_of_one_group() -> None:
    assert groups_of({0: {1: HALVES}, 1: {1: touches(BY_HALVES, 9.0)}}) == ONE_GROUP
    assert groups_of({}) == ONE_GROUP


@pytest.mark.parametrize(("one", "other"), [(FIRST, SECOND), (HALVES, FIRST), (SECOND, HALVES)])
def test_regions_whose_touches_of_an_array_come_from_other_nodes_are_of_two(
    one: NodeTouches, other: NodeTouches
) -> None:
    found = groups_of({4: {1: one}, 7: {1: other}})
    assert found.owners == {1: {4}, 2: {7}}
    assert found.of == {4: {1}, 7: {2}}


def test_regions_with_other_arrays_do_not_need_other_places() -> None:
    assert groups_of({0: {1: FIRST}, 1: {2: SECOND}}) == ONE_GROUP
    found = groups_of({0: {1: FIRST}, 1: {2: SECOND}, 2: {2: FIRST}})
    assert found.owners == {1: {0, 1}, 2: {2}}  # what is where the first two want it serves both


def test_a_region_whose_touches_come_from_all_nodes_can_have_any_place() -> None:
    assert groups_of({0: {1: ANY}, 1: {1: HALVES}}) == ONE_GROUP
    found = groups_of({0: {1: ANY}, 1: {1: SECOND}, 2: {1: FIRST}})
    assert found.of == {0: {1, 2}, 1: {1}, 2: {2}}
    assert found.owners == {1: {1}, 2: {2}}


def test_an_array_with_few_touches_decides_nothing() -> None:
    few = touches([1] * 8, 0.1)
    assert groups_of({0: {1: HALVES, 2: touches([0] * 8, 0.1)}, 1: {1: HALVES, 2: few}}) == ONE_GROUP
