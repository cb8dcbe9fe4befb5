import struct
from dataclasses import replace

import numpy as np
import pytest

from numapredict.collect.placing.profile_file import FIRST, WAIT_BINS, Profile, parse_profile
from numapredict.predictor.variables.touches import part_of, touches_of, wait_s
from tests.profiles import HEADER_BYTES, RANGE_BYTES, SAMPLE, profile_bytes


def profile(ranges: list[tuple[int, list[tuple[int, int, float]]]], counts: list[tuple[int, int]]) -> Profile:
    """Return a profile whose samples have these numbers of watches and touches."""
    data = bytearray(profile_bytes(ranges))
    first = HEADER_BYTES + RANGE_BYTES * len(ranges)
    for number, (armed, touches) in enumerate(counts):
        struct.pack_into("<II", data, first + struct.calcsize(SAMPLE) * number + 12, armed, touches)
    return parse_profile(bytes(data))


def test_a_samples_weight_is_the_rate_of_its_neighbourhood() -> None:
    """Ten pages, each watched once: touched after 1 s by thread 0, or after 3 s by thread 1: half a touch a second."""
    samples = [(page, page % 2, 1.0 if page % 2 == 0 else 1 / 3) for page in range(10)]
    found = profile([(10, samples)], [(1, 1)] * 10)
    touches = touches_of(found, found.ranges, wait_s(found))
    assert touches.weight.tolist() == pytest.approx([0.5] * 10)  # 10 watched pages in 20 s, by touch
    assert touches.total == pytest.approx(5.0)
    assert (touches.pages, touches.count.tolist(), touches.slot.tolist()) == (10, [1] * 10, [0, 1] * 5)


def test_one_touch_after_no_time_does_not_outweigh_all_others() -> None:
    slow = [(page, 0, 10.0) for page in range(15)]
    found = profile([(16, [*slow, (15, 1, 1e9)])], [(1, 1)] * 16)
    touches = touches_of(found, found.ranges, wait_s(found))
    assert touches.weight.max() < 12


def test_pages_that_nobody_touched_count_as_watched_for_long() -> None:
    found = profile([(2, [(0, 0, 1.0), (1, 0, 0.0)])], [(1, 1), (3, 0)])
    touches = touches_of(found, found.ranges, 1.0)
    assert touches.total == pytest.approx(4 * 1 / 4)  # 4 watches in 1 + 3 s, and one touch
    assert len(touches.page) == 1


def test_two_threads_of_a_page_share_its_time() -> None:
    found = profile([(1, [(0, 0, 2.0), (0, 3, 1.0)])], [(3, 2), (3, 1)])
    touches = touches_of(found, found.ranges, wait_s(found))
    assert touches.weight.tolist() == pytest.approx([6.0, 3.0])  # 3 watches, 1 s in all


def test_ranges_follow_each_other_and_parts_are_cut_out() -> None:
    ranges = [(4, [(0, 0, 1.0), (3, 1, 1.0)]), (4, [(2, 2, 1.0)])]
    found = profile(ranges, [(1, 1)] * 3)
    touches = touches_of(found, found.ranges, wait_s(found))
    assert touches.page.tolist() == [0, 3, 6]
    assert touches.within.tolist() == [0, 3, 2]
    assert touches.range.tolist() == [0, 0, 1]
    part = part_of(touches_of(found, found.ranges[:1], 1.0), 2, 2)
    assert (part.pages, part.page.tolist(), part.slot.tolist()) == (2, [1], [1])


def test_waits_tell_how_many_touches_there_are_and_samples_whose() -> None:
    """Two pages, one touched twice as often, and 8 touches in all within 4 us: half of them in 2 us."""
    found = profile([(2, [(0, 0, 2.0), (1, 1, 1.0)])], [(2, 2), (2, 1)])
    waits = np.zeros(WAIT_BINS, np.int64)
    waits[[1, 2, 3, 4, 5, 6, 7, 8]] = 1  # 1, 1.25 ... 3.5 us
    known = replace(found.ranges[0], waits=waits)
    touches = touches_of(found, [known], 1.0)
    assert touches.weight[0] / touches.weight[1] == pytest.approx(2.0)
    assert touches.total == pytest.approx(0.5 * 8 / 2e-6)
    assert touches_of(found, [known], 1.0, 0.5e-6).total == pytest.approx(0.5 * 8 / 1.5e-6)
    assert touches_of(found, [replace(known, stands_for=16)], 1.0).total == pytest.approx(16 * touches.total)


def test_a_range_that_stands_for_others_counts_as_often() -> None:
    found = profile([(16, [(page, 0, 1.0) for page in range(16)])] * 2, [(1, 1)] * 32)
    both = [replace(found.ranges[0], stands_for=4), found.ranges[1]]
    weight = touches_of(found, both, 1.0).weight
    assert weight[:16].sum() / weight[16:].sum() == pytest.approx(4.0)


def test_without_touches_there_is_no_weight() -> None:
    found = profile([(4, [(1, 0, 0.0)])], [(5, 0)])
    assert touches_of(found, found.ranges, wait_s(found)).total == 0.0


def test_an_untouched_page_waits_for_two_periods_or_as_long_as_any_did() -> None:
    quick, slow = (profile([(4, [(1, 0, rate)])], [(1, 1)]) for rate in (1000.0, 2.0))
    assert (quick.time_s, wait_s(quick), wait_s(slow)) == (1.0, pytest.approx(0.05), pytest.approx(0.5))
    assert [wait_s(replace(quick, time_s=time_s)) for time_s in (0.01, 0.4, 60.0)] == pytest.approx([0.004, 0.02, 0.1])


def test_an_allocation_without_first_touches_is_taken_to_be_touched_as_another() -> None:
    found = profile([(4, [(0, 0, 1.0)]), (8, [(7, 1, 1.0)])], [(1, 1)] * 2)
    firsts = np.array([(0, 2, 0, 2, 0, 0, 2), (2, 2, 2, 3, 0, 0, 2)], FIRST)
    seen, unseen = replace(found.ranges[0], firsts=firsts), replace(found.ranges[1], firsts=firsts[:0])
    assert touches_of(found, [seen, unseen], 1.0).first.tolist() == [2, 3]
    assert touches_of(found, [unseen], 1.0).first.tolist() == [-1]
    lost = replace(seen, firsts=firsts[1:])
    assert touches_of(found, [lost, unseen], 1.0).first.tolist() == [-1, 3]
