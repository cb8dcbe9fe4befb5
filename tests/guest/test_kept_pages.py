"""Which pages count as standing where the library decided, also where two ranges share a huge page."""

import pytest

from tests.guest.placements import HUGE_PAGES, NOWHERE, Range, kept_pages

PART = 482  # of the huge page that both ranges have pages in
LOWER = Range(2, 2 * HUGE_PAGES, [1] * (HUGE_PAGES - PART), [1] * (HUGE_PAGES - PART))


def upper(nodes: list[int]) -> Range:
    return Range(2, 3 * HUGE_PAGES - PART, nodes, [0] * len(nodes))


@pytest.mark.parametrize(("huge", "kept"), [(True, HUGE_PAGES), (False, HUGE_PAGES - PART)])
def test_a_huge_page_of_two_ranges_stands_where_either_was_to_go(huge: bool, kept: int) -> None:
    assert kept_pages([LOWER, upper([1] * PART)], huge=huge) == kept


def test_a_huge_page_that_nobody_sent_there_is_not_kept() -> None:
    assert kept_pages([Range(2, LOWER.start, [3] * 30, [1] * 30), upper([3] * PART)], huge=True) == 0


def test_pages_of_two_ranges_that_are_apart_are_judged_one_by_one() -> None:
    nodes = [1] * (PART - 1) + [0]
    assert kept_pages([LOWER, upper(nodes)], huge=True) == len(LOWER.nodes) + 1


def test_a_huge_page_of_one_range_has_one_decision() -> None:
    mixed = Range(2, 0, [1] * HUGE_PAGES, [1, 0] * (HUGE_PAGES // 2))
    assert kept_pages([mixed], huge=True) == HUGE_PAGES // 2


def test_pages_that_are_nowhere_are_not_counted() -> None:
    assert kept_pages([Range(2, 0, [NOWHERE, 0, 1], [NOWHERE, NOWHERE, 1])], huge=False) == 1
