from dataclasses import replace

import msgspec
import numpy as np
import pytest

from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled.cut_region import CutRegion, cut_regions
from numapredict.collect.modelled.phases import MOST_PHASES, PhasedTrace, phase_trace
from numapredict.collect.placing.census import Census
from tests.traces import Segment, census_of, trace_of

A, B = 0xFEDCBA9876543211, 0xFEDCBA9876543213


def census(barriers: int, count: int = 1, *, warm: int = 0, warm_s: float = 0.0) -> Census:
    """Return a census with 30 s in region A, whose instances passed so many barriers, and 10 s in region B.

    The first ``warm`` of them took ``warm_s``, the others the rest of the time, each as long as the next.
    """
    made = census_of((A, count, 30.0), (B, 1, 10.0))
    long, short = made.regions
    each = barriers / count
    points = [2**n for n in range(32) if 2**n <= each]
    passed_s = np.interp(points, [0, warm, each + 1], [0, warm_s, 30 / count]) if warm < each else []
    curve = tuple(float(at_s) for at_s in passed_s)
    return replace(made, regions=(msgspec.structs.replace(long, barriers=barriers, passed_s=curve), short))


def cut(work: list[int], last: int = 1) -> list[Segment]:
    """Return two threads that passed a barrier after each part, and then were cut off in the next one."""
    ends = [Segment(region=B, instructions=1)]
    for thread in range(2):
        ends += [Segment(region=A, phase=n, thread=thread, instructions=w) for n, w in enumerate(work)]
        ends.append(Segment(region=A, phase=len(work), thread=thread, instructions=last * thread, flags=t.CUT_OFF))
    return ends


def phased(segments: list[Segment], seen: Census) -> PhasedTrace:
    return phase_trace(trace_of(segments), seen, 2)


def work_of(made: PhasedTrace) -> float:
    return float((made.weight[:, None] * made.instructions)[~made.serial].sum())


def test_what_lies_behind_the_latest_barrier_is_left_out() -> None:
    made = phased(cut([10, 20, 40], last=1000), census(3))
    assert made.instructions.sum(axis=1).tolist() == [20, 40, 80, 1]


def test_where_no_barrier_was_passed_all_is_kept_and_nothing_was_seen_whole() -> None:
    made = phased(cut([], last=7), census(3))
    assert made.instructions.sum() == 1 + 7
    assert made.share == 10 / 40


def test_parts_that_were_not_seen_lower_the_share() -> None:
    made = phased(cut([10, 200, 40, 3000]), census(16))
    assert made.share == pytest.approx((30 * 4 / 17 + 10) / 40)
    assert made.weight.tolist() == [1, 1, 1, 1, 1]
    assert phased(cut([10, 200, 40, 3000]), census(32, count=2)).share == made.share
    assert phased(cut([10, 200, 40, 3000]), census(2)).share == 1


@pytest.mark.parametrize("steps", [10, 60])
def test_steps_that_repeat_stand_for_those_that_follow(steps: int) -> None:
    step = [100, 30, 2]
    made = phased(cut([500, 7] + step * steps), census(2 + 3 * 1000))
    assert made.share == 1
    assert len(made.weight) == min(2 + 3 * steps, MOST_PHASES) + 1
    assert work_of(made) == pytest.approx(2 * (507 + 132 * 1000) + 1, rel=0.02)
    assert (made.barriers * made.weight)[~made.serial].sum() == pytest.approx(2 + 3 * 1000 + 1)


def test_a_step_has_to_be_seen_three_times() -> None:
    step = list(range(100, 2000, 100))
    assert phased(cut(step * 5), census(10**4)).share < 0.3
    assert phased(cut(step * 6), census(10**4)).share == 1


def test_work_that_grows_is_no_repetition() -> None:
    made = phased(cut([2**n for n in range(20)]), census(40))
    assert made.share == pytest.approx((30 * 20 / 41 + 10) / 40)


def test_a_trace_that_saw_more_than_the_native_run_is_left_as_it_is() -> None:
    made = phased(cut([100] * 20), census(5))
    assert (made.share, set(made.weight.tolist())) == (1, {1.0})


@pytest.mark.parametrize("passed", [60, 400, 512, 999])
def test_a_warm_up_does_not_stand_for_what_follows_at_another_rate(passed: int) -> None:
    """Natively 1000 steps take 0.7 s, and what follows 29.3 s."""
    for barriers in (1040, 1500, 4000):
        made = phased(cut([100] * passed), census(barriers, warm=1000, warm_s=0.7))
        assert made.share == pytest.approx((0.7 * passed / 1000 + 10) / 40, rel=0.01)
        assert set(made.weight.tolist()) == {1.0}


def test_what_follows_a_short_warm_up_stands_for_itself() -> None:
    made = phased(cut([100] * 600), census(4000, warm=100, warm_s=0.05))
    assert made.share == 1
    assert work_of(made) == pytest.approx(2 * 100 * 4000 + 1, rel=0.01)


def test_a_long_end_without_barriers_is_not_seen() -> None:
    """As where time steps are followed by one long loop, in which the trace was cut off."""
    made = phased(cut([100] * 100), census(100, warm=99, warm_s=0.99))
    assert made.share == pytest.approx((1 + 10) / 40, rel=0.01)


def test_without_a_count_of_barriers_a_cut_region_was_not_seen() -> None:
    made = phased(cut([100] * 60), census(0))
    assert (made.share, set(made.weight.tolist())) == (10 / 40, {1.0})


def ended(work: list[int]) -> list[Segment]:
    """Return two threads that came to the region's end, after a barrier between every two parts."""
    parts = [Segment(region=A, phase=n, thread=m, instructions=w) for m in range(2) for n, w in enumerate(work)]
    return [Segment(region=B, instructions=1), *parts]


def test_a_loop_that_ends_by_the_clock_stands_for_the_steps_of_the_native_run() -> None:
    """In the emulator it makes few steps, and fewer with more threads: times of thread counts would not compare."""
    few, many = (phased(ended([100, 30] * steps), census(2 * 1000 - 1)) for steps in (10, 200))
    assert few.share == many.share == 1
    for made in (few, many):
        assert work_of(made) == pytest.approx(2 * 130 * 1000 + 1, rel=0.01)


def test_a_loop_that_ends_by_the_clock_does_not_stand_for_another_rate() -> None:
    made = phased(ended([100, 30] * 100), census(2000 - 1, warm=1000, warm_s=0.7))
    assert made.share == pytest.approx((0.7 * 200 / 1000 + 10) / 40, rel=0.01)
    assert set(made.weight.tolist()) == {1.0}


def test_barriers_that_depend_on_the_threads_and_parts_that_do_not_repeat_are_left_as_they_are() -> None:
    for work, barriers in (([100] * 60, 99), ([2**n for n in range(12)], 1000), ([100] * 60, 0)):
        made = phased(ended(work), census(barriers))
        assert (made.share, set(made.weight.tolist())) == (1, {1.0})


def test_regions_with_a_whole_instance_are_not_cut() -> None:
    segments = trace_of([Segment(region=A), Segment(region=A, instance=1, flags=t.CUT_OFF)]).segments
    assert cut_regions(segments, np.ones(len(segments), dtype=bool), census(1)) == {}


def test_the_weights_of_all_parts_add_up_to_what_was_expected() -> None:
    for passed, first in ((10, 0), (10, 9), (50, 25), (50, 40)):
        region = CutRegion(passed, 300.0, first)
        most = MOST_PHASES - 1
        assert sum(region.weight(part, most) for part in range(passed)) == pytest.approx(300)
