from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.mapping import parse_label
from numapredict.collect.page_placement import PageAccesses, place_pages
from numapredict.collect.placement import resolve
from numapredict.collect.placing import page_plan
from numapredict.collect.placing.page_plan import PagePlan, PlannedRange, joined, moving, of_regions, plan_of
from numapredict.collect.placing.profile_file import FIRST, parse_profile
from tests.profiles import profile_bytes
from tests.shapes import shape

TOPOLOGY = shape([2, 2])  # nodes 10 and 11 to the operating system
LOCALITY = parse_label("4x2-contiguous-locality")  # threads 0, 1 on node 0; 2, 3 on node 1

Samples = list[tuple[int, int, float]]


def plan(ranges: list[tuple[int, Samples]], label: str = LOCALITY.label, slots: int = 4, **changes: int) -> PagePlan:
    return plan_of(parse_profile(profile_bytes(ranges, slots, **changes)), resolve(parse_label(label), TOPOLOGY))


def nodes(found: PagePlan) -> list[list[int]]:
    """Return each range's node page by page, and check that the runs cover it in order."""
    result = []
    for planned in found.ranges:
        row: list[int] = []
        for first, count, node in planned.runs:
            assert first == len(row)
            assert count > 0
            row += [node] * count
        assert len(row) == planned.range.pages
        assert all(a[2] != b[2] for a, b in zip(planned.runs, planned.runs[1:], strict=False))
        result.append(row)
    return result


def test_a_page_goes_to_the_node_whose_threads_use_it_most() -> None:
    found = plan([(3, [(0, 0, 1.0), (1, 0, 2.0), (1, 2, 1.5), (1, 3, 1.0), (2, 3, 1.0)])])
    assert nodes(found) == [[10, 11, 11]]


def test_a_page_without_samples_is_used_as_the_nearest_sampled_one() -> None:
    found = plan([(12, [(2, 0, 1.0), (7, 2, 1.0)])])
    # Pages 3 and 4 are nearer to 2, 5 and 6 to 7.
    assert nodes(found) == [[10] * 5 + [11] * 7]
    assert nodes(plan([(5, [(1, 0, 1.0), (3, 2, 1.0)])])) == [[10, 10, 10, 11, 11]]  # page 2: the one before


HEAP: list[tuple[int, Samples]] = [(8, [(7, 3, 1.0)]), (4, [(0, 0, 1.0), (3, 3, 1.0)]), (2, [(0, 0, 1.0)])]
"""A range of the heap, of whose pages the first group of blocks has 5, 2, 3 and 1, the second 0 and 6."""

OWNERS = [(0, 5, 1, 1, 0), (0, 2, 2, 1, 1), (0, 1, 1, 1, 3), (0, 0, 1, 2, 0), (0, 6, 1, 2, 1)]


def of_heap(only: Sequence[int] | None) -> tuple[PlannedRange, ...]:
    profile = parse_profile(profile_bytes(HEAP, owners=OWNERS, kinds=[5, 7, 7]))
    ranges = None if only is None else [profile.ranges[number] for number in only]
    return plan_of(profile, resolve(LOCALITY, TOPOLOGY), ranges).ranges


def test_blocks_are_placed_where_the_heap_has_them() -> None:
    (one,) = of_heap([1])
    # By its pages the group has 10, 10, 11, 11.
    assert (one.range.kind, one.range.pages) == (5, 8)
    assert one.runs == ((1, 1, 11), (2, 1, 10), (3, 1, 11), (5, 1, 10))
    (other,) = of_heap([2])
    assert other.runs == ((0, 1, 10), (6, 1, 10))


def test_what_blocks_leave_of_the_heap_goes_with_none_of_them() -> None:
    assert [one.runs for one in of_heap([0])] == [((4, 1, 11), (7, 1, 11))]
    assert [one.runs for one in of_heap(None)] == [
        ((0, 1, 10), (1, 1, 11), (2, 1, 10), (3, 2, 11), (5, 2, 10), (7, 1, 11)),
    ]


def test_two_groups_of_one_range_of_the_heap_are_planned_together() -> None:
    there = resolve(LOCALITY, TOPOLOGY)
    profile = parse_profile(profile_bytes(HEAP, owners=OWNERS, kinds=[5, 7, 7]))
    (one,) = joined([plan_of(profile, there, [each]) for each in profile.ranges[1:]]).ranges
    assert one.runs == ((0, 1, 10), (1, 1, 11), (2, 1, 10), (3, 1, 11), (5, 1, 10), (6, 1, 10))


def test_ranges_that_were_never_sampled_are_left_out() -> None:
    found = plan([(3, []), (2, [(0, 3, 1.0)])])
    assert [planned.range.site for planned in found.ranges] == [2]
    assert plan([(3, [])]).ranges == ()
    assert plan([]).ranges == ()


def test_some_ranges_alone_are_placed_and_plans_are_joined() -> None:
    profile = parse_profile(profile_bytes([(2, [(0, 0, 1.0)]), (2, [(0, 3, 1.0)]), (3, [(1, 2, 1.0)])], 4))
    placements = [resolve(parse_label(label), TOPOLOGY) for label in (LOCALITY.label, "4x2-contiguous-interleave")]
    first, third = (
        plan_of(profile, placement, [profile.ranges[n]]) for placement, n in zip(placements, (0, 2), strict=True)
    )
    assert (nodes(first), nodes(third)) == ([[10, 10]], [[10, 11, 10]])
    both = joined([first, third])
    assert [planned.range.site for planned in both.ranges] == [profile.ranges[0].site, profile.ranges[2].site]


def test_balance_goes_over_all_ranges() -> None:
    found = plan([(2, [(0, 0, 1.0), (1, 0, 1.0)]), (2, [(0, 0, 2.0), (1, 0, 1.0)])], "4x2-contiguous-balance")
    assert nodes(found) == [[10, 11], [10, 11]]


def test_another_number_of_threads_is_rescaled() -> None:
    found = plan([(2, [(0, 0, 1.0), (1, 7, 1.0)])], slots=8, range_slot=6, first_slot=7)
    assert found.rescaled_from == 8
    assert nodes(found) == [[10, 11]]
    assert found.ranges[0].range.slot == 3
    assert plan([(2, [(0, 0, 1.0)])]).rescaled_from is None


def test_ranges_that_rescaling_makes_one_are_planned_once() -> None:
    data = profile_bytes([(1, [(0, 0, 1.0)]), (1, [(0, 0, 1.0)])], range_site=5)
    assert len(plan_of(parse_profile(data), resolve(LOCALITY, TOPOLOGY)).ranges) == 1


@given(
    st.lists(st.tuples(st.integers(0, 39), st.integers(0, 3), st.integers(1, 9)), min_size=1, max_size=30),
    st.sampled_from(["locality", "balance", "mix"]),
)
def test_page_by_page_it_is_what_place_pages_says(found: list[tuple[int, int, int]], policy: str) -> None:
    samples = sorted((page, slot, float(rate)) for page, slot, rate in found)
    mapping = parse_label(f"4x2-contiguous-{policy}")
    sampled = sorted({page for page, _, _ in samples})
    accesses = np.zeros((40, 4))
    for page in range(40):
        nearest = min(sampled, key=lambda candidate: (abs(candidate - page), candidate))
        for at, slot, rate in samples:
            if at == nearest:
                accesses[page, slot] += rate
    zeros = np.zeros(40, np.int32)
    expected = place_pages(
        resolve(mapping, TOPOLOGY), PageAccesses(np.arange(40), accesses, zeros, *np.zeros((2, 40), np.int64))
    )
    assert nodes(plan([(40, samples)], mapping.label)) == [(expected + 10).tolist()]


def test_too_many_runs_are_placed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    samples: Samples = [(page, page % 2 * 2, 1.0) for page in range(64)]
    assert plan([(64, samples)]).block_pages == 1
    monkeypatch.setattr(page_plan, "MOST_RUNS", 10)
    coarse = plan([(63, [(page, page // 4 % 2 * 2, 1.0) for page in range(63)])])
    assert coarse.block_pages == 8
    assert len(nodes(coarse)[0]) == 63
    even = plan([(64, samples)], "4x2-contiguous-balance")
    assert (even.block_pages, len(even.ranges[0].runs)) == (8, 8)


def test_an_absurd_profile_costs_little() -> None:
    found = plan([(1 << 32, [(0, 0, 1.0), (1 << 31, 3, 1.0)])])
    first, second = found.ranges[0].runs
    assert (first[2], second[2]) == (10, 11)
    assert second[0] + second[1] == 1 << 32


def test_plans_of_the_same_ranges_are_places_between_which_they_move() -> None:
    ranges: list[tuple[int, Samples]] = [(2, [(0, 0, 1.0)]), (3, []), (2, [(0, 3, 1.0)])]
    home, spread = plan(ranges), plan(ranges, "4x2-contiguous-interleave")
    found = moving([(4, home), (7, spread)])
    assert [each.range for each in found.ranges] == [each.range for each in home.ranges]
    for each, first, second in zip(found.ranges, home.ranges, spread.ranges, strict=True):
        assert each.runs == first.runs
        assert each.places == ((4, first.runs), (7, second.runs))


def test_under_first_touch_each_part_is_where_it_was_touched_first() -> None:
    profile = parse_profile(profile_bytes([(8, [(0, 0, 1.0)]), (4, [(0, 0, 1.0)])], 4))
    parts = [(0, 2, 0), (2, 2, -1), (4, 3, 3)]  # of pages 2 and 3 nobody knows, of page 7 neither
    firsts = np.array([(page, pages, page, slot, 0, 0, 0) for page, pages, slot in parts], dtype=FIRST)
    ranges = (replace(profile.ranges[0], firsts=firsts), replace(profile.ranges[1], firsts=firsts[1:2]))
    found = plan_of(replace(profile, ranges=ranges), resolve(parse_label("4x2-contiguous-first-touch"), TOPOLOGY))
    assert nodes(found) == [[10] * 4 + [11] * 4, [10] * 4]


def test_pages_go_where_some_regions_alone_touch_them() -> None:
    profile = parse_profile(profile_bytes([(2, [(0, 0, 1.0), (0, 3, 2.0), (1, 0, 1.0)]), (1, [(0, 3, 1.0)])], 4))
    samples = profile.samples.copy()
    samples["region"] = [1, 2, 1, 2]
    profile = replace(profile, samples=samples)
    placement = resolve(LOCALITY, TOPOLOGY)
    assert nodes(plan_of(profile, placement)) == [[11, 10], [11]]
    for region, expected in ((1, [[10, 10], [11]]), (2, [[11, 11], [11]])):  # a range that has no touch keeps its own
        own, ranges = of_regions(profile, profile.ranges, {region})
        assert nodes(plan_of(own, placement, ranges)) == expected
    own, ranges = of_regions(profile, profile.ranges[1:], {2})
    assert nodes(plan_of(own, placement, ranges)) == [[11]]
