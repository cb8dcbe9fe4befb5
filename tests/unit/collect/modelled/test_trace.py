import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.modelled import trace as t
from numapredict.collect.modelled.trace import ENDS, Trace, parse_trace
from numapredict.native.errors import InvalidInputError
from tests.traces import Segment, trace_bytes

WHOLE = trace_bytes(
    [
        Segment(instructions=10, records=[(5, t.STORE, 1), (6, t.STREAMING, 2)]),
        Segment(7, 0, 1, 2, 1, flags=t.DYNAMIC, instructions=30, chunks=3, locks=4, records=[(1 << 40, 8, 29)]),
    ],
    pages=[(3, 1), (4, 0, 4, 20)],
    shift=2,
    end=2,
)


def refusal(data: bytes) -> str:
    with pytest.raises(InvalidInputError) as error:
        parse_trace(data, "some/file.trace")
    message = str(error.value)
    assert message.startswith("some/file.trace: ")
    assert "\n" not in message
    return message


def test_a_whole_trace_keeps_every_field() -> None:
    trace = parse_trace(WHOLE, "x")
    assert (trace.sample_shift, trace.end, trace.instructions, trace.marks_loaded) == (2, 2, 40, True)
    assert trace.segments["region"].tolist() == [0, 7]
    second = trace.segments[1]
    numbers = [int(second[name]) for name in ("after", "instance", "phase", "contiguous", "flags", "vcpu")]
    assert numbers == [0, 1, 2, 1, t.DYNAMIC, 1]
    assert trace.segments["instructions"].tolist() == [10, 30]
    assert trace.segments["records"].tolist() == [2, 1]
    assert (trace.records["word"] >> 8).tolist() == [5, 6, 1 << 40]
    assert (trace.records["word"] & 255).tolist() == [t.STORE, t.STREAMING, t.DEPENDENT]
    assert trace.records["at"].tolist() == [1, 2, 29]
    assert trace.pages["page"].tolist() == [3, 4]
    assert trace.pages["contiguous"].tolist() == [1, 0]
    assert trace.pages[["first", "pages"]].tolist() == [(0, 0), (4, 20)]
    assert trace.segments[["chunks", "locks"]].tolist() == [(0, 0), (3, 4)]


def test_a_trace_of_nothing_is_a_trace() -> None:
    trace = parse_trace(trace_bytes([]), "x")
    assert (len(trace.segments), len(trace.records), len(trace.pages)) == (0, 0, 0)


@pytest.mark.parametrize("length", [0, 1, 63, 64, 100, len(WHOLE) - 1])
def test_a_file_cut_short_is_refused(length: int) -> None:
    assert "it will be made again" in refusal(WHOLE[:length])


def test_a_file_without_the_mark_at_its_start_is_refused() -> None:
    assert "not a whole trace" in refusal(bytes(8) + WHOLE[8:])


def test_another_version_is_named() -> None:
    message = refusal(trace_bytes([], version=99))
    assert "version 99" in message
    assert f"reads {t.VERSION}" in message


@pytest.mark.parametrize("offset", [24, 32, 40])
@pytest.mark.parametrize("count", [1 << 63, (1 << 64) - 1, 1 << 40])
def test_counts_beyond_the_file_are_refused(offset: int, count: int) -> None:
    assert "cut short" in refusal(WHOLE[:offset] + count.to_bytes(8, "little") + WHOLE[offset + 8 :])


def test_segments_must_own_the_records() -> None:
    first_count = 64 + 48
    assert "do not own its records" in refusal(WHOLE[:first_count] + bytes(8) + WHOLE[first_count + 8 :])


def test_counts_that_only_wrap_around_to_the_right_sum_are_refused() -> None:
    data = bytearray(WHOLE)
    data[112:120] = (4).to_bytes(8, "little")
    data[168:176] = ((1 << 64) - 1).to_bytes(8, "little")
    assert "do not own its records" in refusal(bytes(data))


def test_a_sampling_that_the_tracer_never_makes_is_refused() -> None:
    assert "sampling" in refusal(trace_bytes([], shift=64))


def test_every_end_is_in_words() -> None:
    assert sorted(ENDS) == [1, 2, 3, 4, 5]


def parse_or_refuse(data: bytes) -> Trace | None:
    try:
        return parse_trace(data, "x")
    except InvalidInputError as error:
        assert "\n" not in str(error)  # noqa: PT017 - not to be refused is as good
        return None


@given(st.binary(max_size=400))
def test_random_bytes_are_refused_and_nothing_else(data: bytes) -> None:
    assert parse_or_refuse(data) is None


@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=12), st.booleans())
def test_a_damaged_trace_is_refused_or_read(at: int, damage: bytes, cut: bool) -> None:
    damaged = WHOLE[:at] + damage + (b"" if cut else WHOLE[at + len(damage) :])
    trace = parse_or_refuse(damaged)
    if trace is not None:
        assert int(trace.segments["records"].sum()) == len(trace.records)
        assert trace.sample_shift <= t.MOST_SAMPLE_SHIFT
