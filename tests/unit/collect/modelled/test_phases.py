from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled.phases import MOST_PHASES, PhasedTrace, phase_trace
from numapredict.collect.placing.census import Census
from tests.traces import Segment, census_of, trace_of

# Region keys use all 64 bits; as floats these two would be one.
A, B = 0xFEDCBA9876543211, 0xFEDCBA9876543213


def phased(segments: list[Segment], *regions: tuple[int, int, float], threads: int = 2, shift: int = 0) -> PhasedTrace:
    return phase_trace(trace_of(segments, shift=shift), census_of(*regions), threads)


def main_thread(instances: int, cut: int | None = None, muted: int | None = None) -> list[Segment]:
    """Return a serial start, then instances of region A, each with a serial stretch after it."""
    segments = [Segment(instructions=100)]
    for n in range(instances):
        flags = (t.CUT_OFF if n == cut else 0) | (t.MUTED if muted is not None and n >= muted else 0)
        segments.append(Segment(region=A, instance=n, instructions=50 if n == 0 else 40, flags=flags))
        if n != cut:
            segments.append(Segment(after=A, instance=n, instructions=10, flags=flags & t.MUTED))
    return segments


def test_three_of_ten_instances_stand_for_all() -> None:
    made = phased(main_thread(3), (A, 10, 1.0))
    # the start; the stretches after A; A's first instance; A's later instances
    assert made.serial.tolist() == [True, True, False, False]
    assert made.weight.tolist() == [1, 10 / 3, 1, 9 / 2]
    assert made.instructions[:, 0].tolist() == [100, 30, 50, 80]
    assert made.instructions[:, 1].tolist() == [0, 0, 0, 0]
    assert (made.weight * made.instructions[:, 0])[2:].sum() == 50 + 9 * 40


def test_chunks_and_locks_are_summed_like_instructions() -> None:
    segments = [
        Segment(locks=5),
        Segment(region=A, thread=0, chunks=3, locks=1),
        Segment(region=A, instance=1, thread=0, chunks=10),
        Segment(region=A, instance=2, thread=0, chunks=20),
        Segment(region=A, instance=3, thread=0, chunks=9, locks=9, flags=t.MUTED),
        Segment(region=A, thread=1, chunks=4, locks=2),
        Segment(region=A, instance=1, thread=1, locks=7),
    ]
    made = phased(segments, (A, 10, 1.0))
    assert made.serial.tolist() == [True, False, False]
    assert made.chunks.tolist() == [[0, 0], [3, 4], [30, 0]]
    assert made.locks.tolist() == [[5, 0], [1, 2], [0, 7]]


def test_regions_have_their_own_counts() -> None:
    segments = [Segment(region=key, instance=n, instructions=1) for n in range(2) for key in (A, B)]
    made = phased(segments, (A, 10, 1.0), (B, 100, 1.0))
    assert made.weight.tolist() == [1, 9, 1, 99]


def test_a_region_that_runs_once_counts_once() -> None:
    made = phased(main_thread(1), (A, 1, 1.0))
    assert made.weight.tolist() == [1, 1, 1]


def test_one_instance_of_many_stands_for_all() -> None:
    made = phased(main_thread(1), (A, 10, 1.0))
    assert made.weight.tolist() == [1, 10, 10]


def test_a_region_that_the_census_did_not_meet_counts_as_it_was_seen() -> None:
    made = phased(main_thread(3), (B, 4, 1.0))
    assert made.weight.tolist()[2:] == [1, 1]


def test_muted_instances_are_left_out() -> None:
    assert_same(phased(main_thread(5, muted=3), (A, 10, 1.0)), phased(main_thread(3), (A, 10, 1.0)))


def test_an_instance_that_was_cut_off_is_left_out_where_there_is_a_whole_one() -> None:
    made = phased(main_thread(3, cut=2), (A, 10, 1.0))
    assert made.weight.tolist() == [1, 5, 1, 9]
    assert made.instructions[:, 0].tolist() == [100, 20, 50, 40]


def test_an_instance_that_one_thread_did_not_end_is_left_out_for_all() -> None:
    segments = [*main_thread(3), Segment(region=A, instance=2, thread=1, instructions=7, flags=t.CUT_OFF)]
    made = phased(segments, (A, 10, 1.0))
    assert made.weight.tolist()[2:] == [1, 9]
    assert made.instructions[2:].tolist() == [[50, 0], [40, 0]]


def test_the_only_instance_is_kept_even_cut_off() -> None:
    made = phased(main_thread(1, cut=0), (A, 10, 1.0))
    assert made.weight.tolist() == [1, 10]
    assert made.instructions[:, 0].tolist() == [100, 50]
    assert made.share == 0


def assert_same(one: PhasedTrace, other: PhasedTrace) -> None:
    for name in ("weight", "serial", "dynamic", "imbalance", "barriers", "instructions", "line", "thread", "phase"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_threads_that_take_turns_to_be_late_lose_time_at_every_barrier() -> None:
    segments = [
        Segment(region=A, instance=0, instructions=10),
        Segment(region=A, instance=1, instructions=40),
        Segment(region=A, instance=2, instructions=10),
        Segment(region=A, instance=0, instructions=5, thread=1),
        Segment(region=A, instance=1, instructions=10, thread=1),
        Segment(region=A, instance=2, instructions=40, thread=1),
    ]
    made = phased(segments, (A, 3, 1.0))
    assert made.instructions.tolist() == [[10, 5], [50, 50]]
    assert made.imbalance.tolist() == [1, 80 / 50]


def test_a_thread_that_is_always_late_loses_nothing_more() -> None:
    segments = [
        Segment(region=A, instance=n, instructions=size, thread=thread)
        for thread, size in enumerate((40, 10))
        for n in range(3)
    ]
    assert phased(segments, (A, 3, 1.0)).imbalance.tolist() == [1, 1]


@pytest.mark.parametrize(("chunks", "imbalance"), [(5, 1.1), (50, 1.01), (1, 1.5), (0, 1.6)])
def test_threads_that_take_turns_to_have_more_work_end_within_a_chunk(chunks: int, imbalance: float) -> None:
    segments = [
        Segment(
            region=A,
            instance=n,
            instructions=40 if n % 2 == thread else 10,
            thread=thread,
            flags=t.DYNAMIC,
            chunks=chunks,
        )
        for thread in range(2)
        for n in range(1, 5)
    ]
    assert phased(segments, (A, 5, 1.0)).imbalance.tolist() == [imbalance]


def test_chunks_that_are_even_lose_no_time() -> None:
    segments = [Segment(region=A, instructions=40, thread=n, flags=t.DYNAMIC, chunks=1) for n in range(2)]
    assert phased(segments, (A, 1, 1.0)).imbalance.tolist() == [1]


def test_work_handed_out_in_chunks_is_marked() -> None:
    segments = [*main_thread(1), Segment(region=A, thread=1, instructions=3, flags=t.DYNAMIC)]
    assert phased(segments, (A, 1, 1.0)).dynamic.tolist() == [False, False, True]


def test_parts_between_barriers_are_phases() -> None:
    segments = [Segment(region=A, phase=n, instructions=10 + n) for n in range(3)]
    made = phased(segments, (A, 1, 1.0))
    assert made.instructions[:, 0].tolist() == [10, 11, 12]
    assert made.barriers.tolist() == [1, 1, 1]


def test_very_many_barriers_share_the_last_phase() -> None:
    segments = [Segment(region=A, phase=n, instructions=1) for n in range(100)]
    made = phased(segments, (A, 1, 1.0))
    assert len(made.weight) == MOST_PHASES
    assert made.barriers.tolist() == [1.0] * (MOST_PHASES - 1) + [100 - MOST_PHASES + 1]
    assert made.instructions.sum() == 100


def test_later_instances_bring_a_barrier_each_and_serial_stretches_none() -> None:
    made = phased(main_thread(3), (A, 10, 1.0))
    assert made.barriers.tolist() == [0, 0, 1, 2]


def test_threads_beyond_the_number_asked_for_count_as_the_last() -> None:
    segments = [
        Segment(region=A, instructions=1, records=[(1, 0, 0)]),
        Segment(region=A, thread=1, instructions=2),
        Segment(region=A, thread=5, instructions=4, records=[(2, 0, 0)]),
    ]
    made = phased(segments, (A, 1, 1.0))
    assert made.instructions.tolist() == [[1, 6]]
    assert made.thread.tolist() == [0, 1]


def test_records_keep_their_line_flags_thread_and_phase() -> None:
    segments = [
        Segment(instructions=10, records=[(100, t.STORE, 5)]),
        Segment(region=A, instructions=10, records=[(1 << 45, t.STREAMING, 1)]),
        Segment(region=A, thread=1, instructions=10, records=[(300, t.WRITEBACK, 2)]),
    ]
    made = phased(segments, (A, 1, 1.0), shift=3)
    assert made.line.tolist() == [100, 1 << 45, 300]
    assert made.flags.tolist() == [t.STORE, t.STREAMING, t.WRITEBACK]
    assert made.thread.tolist() == [0, 0, 1]
    assert made.phase.tolist() == [0, 1, 1]
    assert made.lines_per_record == 8


def test_threads_advance_at_their_own_even_rate_within_a_part() -> None:
    segments = [
        Segment(region=A, instructions=100, records=[(1, 0, 10), (2, 0, 90)]),
        Segment(region=A, instance=1, instructions=100, records=[(3, 0, 0)]),
        Segment(region=A, thread=1, instructions=1000, records=[(4, 0, 0), (5, 0, 500), (6, 0, 950)]),
        Segment(region=A, instance=1, thread=1, instructions=10, records=[(7, 0, 5)]),
    ]
    assert phased(segments, (A, 2, 1.0)).line.tolist() == [4, 1, 5, 2, 6, 3, 7]


def test_records_of_what_is_left_out_are_left_out() -> None:
    segments = [
        Segment(region=A, instructions=10, records=[(1, 0, 0)]),
        Segment(region=A, instance=1, instructions=10, records=[(2, 0, 0)], flags=t.MUTED),
        Segment(region=A, instance=2, instructions=10, records=[(3, 0, 0)], flags=t.CUT_OFF),
        Segment(region=A, instance=0, thread=1, instructions=10, records=[(4, 0, 0)]),
    ]
    assert phased(segments, (A, 3, 1.0)).line.tolist() == [1, 4]


@pytest.mark.parametrize(
    ("regions", "share"),
    [(((A, 3, 2.0),), 1.0), (((A, 3, 3.0), (B, 1, 1.0)), 0.75), (((B, 1, 1.0),), 0.0), (((A, 1, 0.0),), 0.0)],
)
def test_the_share_is_of_native_time_in_regions_seen_whole(
    regions: tuple[tuple[int, int, float], ...], share: float
) -> None:
    assert phased(main_thread(2), *regions).share == share


@given(
    st.lists(
        st.builds(
            Segment,
            region=st.sampled_from([0, A, B]),
            after=st.sampled_from([0, A]),
            instance=st.integers(0, 3),
            phase=st.integers(0, 30),
            thread=st.integers(0, 4),
            flags=st.sampled_from([0, t.MUTED, t.DYNAMIC]),
            instructions=st.integers(0, 1000),
            records=st.lists(st.tuples(st.integers(1, 99), st.integers(0, 31), st.integers(0, 2000)), max_size=3),
        ),
        min_size=1,
        max_size=12,
    ),
    st.integers(1, 4),
)
def test_whatever_was_recorded_is_accounted_for(segments: list[Segment], threads: int) -> None:
    # The tracer always has the main thread's start.
    segments = [Segment(instructions=1), *segments]
    made = phased(segments, (A, 10, 1.0), threads=threads)
    kept = [segment for segment in segments if not segment.flags & t.MUTED]
    assert made.instructions.sum() == sum(segment.instructions for segment in kept)
    assert made.instructions.shape == (len(made.weight), threads)
    assert sorted(made.line.tolist()) == sorted(record[0] for segment in kept for record in segment.records)
    assert (made.weight >= 0).all()
    assert (made.imbalance >= 1).all()
    assert np.isfinite(made.weight).all()
    if len(made.phase):
        assert 0 <= made.phase.min() <= made.phase.max() < len(made.weight)
        assert 0 <= made.thread.min() <= made.thread.max() < threads


def test_what_came_after_the_room_for_records_ran_out_is_taken_to_miss_as_often() -> None:
    segments = [
        Segment(instructions=10),
        Segment(region=A, instructions=100, records=((64, 0, 5),)),
        Segment(region=A, instructions=300, flags=t.UNRECORDED),
    ]
    made = phased(segments, (A, 1, 1.0))
    assert made.instructions[:, 0].tolist() == [10, 400]
    assert made.stands_for.tolist() == [1, 4]
    assert made.share == 1.0


LEVELS = (64, 8, 1, 8)  # the work of an instance, one after the other


def levels(count: int) -> Census:
    """Return the census of a program that runs A so often, an instance a level, of which the first 80 are listed."""
    made = census_of((A, count, 1.0))
    region = msgspec.structs.replace(made.regions[0], work_s=tuple(work * 1e-3 for work in [*LEVELS] * 20))
    return replace(made, regions=(region,))


def of_levels(instances: range) -> list[Segment]:
    """Return the start of a program, and instances of A that do so much work, each with as much after it."""
    segments = [Segment(instructions=100)]
    for n in instances:
        segments.append(Segment(region=A, instance=n, instructions=LEVELS[n % 4]))
        segments.append(Segment(after=A, instance=n, instructions=LEVELS[n % 4]))
    return segments


def test_instances_that_differ_represent_those_of_their_size() -> None:
    whole = sum(LEVELS) * 100
    made = phase_trace(trace_of(of_levels(range(13))), levels(400), 2)
    work = made.weight * made.instructions[:, 0]
    assert work[~made.serial].sum() == pytest.approx(whole, rel=0.03)
    assert work[made.serial].sum() == pytest.approx(100 + whole, rel=0.03)
    assert (made.weight * made.barriers).sum() == pytest.approx(400)
    assert made.share == 1


def test_a_size_that_the_trace_did_not_see_is_filled_in_by_native_work() -> None:
    made = phase_trace(trace_of([Segment(instructions=100), *of_levels(range(1, 4))[1:]]), levels(400), 2)
    work = made.weight * made.instructions[:, 0]
    assert work[~made.serial].sum() == pytest.approx(sum(LEVELS) * 100, rel=0.03)
    assert made.seen[A] == made.share == pytest.approx(17 / 81, rel=0.1)


def test_a_trace_that_has_more_instances_than_are_listed_represents_them_as_before() -> None:
    made = phase_trace(trace_of(of_levels(range(100))), levels(100), 2)
    assert made.weight.tolist() == [1, 1, 1, 1]
