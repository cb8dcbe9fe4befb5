"""What was not seen of a program widens what is said of it, and too little makes the answer unknown."""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import Mapping, parse_label, to_label
from numapredict.collect.measurement import Measurement
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.unknown import Unknown, refuse_command, unknown_in_words
from numapredict.predictor.advising.unseen import DEVIATION, LEAST_SEEN, NINE_IN_TEN, speedup_of_whole
from numapredict.predictor.learning.model import ExpectedSpeedup
from tests.advised import answer_on
from tests.planted import planted_dataset

PART = ExpectedSpeedup(4.0, 2.0, 8.0)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return planted_dataset(15)


def seen(dataset: Dataset, share: float, **notes: str) -> RecordedMachine:
    """Return a machine whose traces saw a share of every program's region time."""
    provenance = (("region_time_seen", f"{share:.3f}"), *notes.items())
    measurements = tuple(msgspec.structs.replace(m, provenance=provenance) for m in dataset.measurements)
    return RecordedMachine(msgspec.structs.replace(dataset, measurements=measurements))


def test_what_was_not_seen_gains_half_as_much() -> None:
    whole = speedup_of_whole(PART, 0.5)
    assert whole.median == pytest.approx(1 / (0.5 / 4 + 0.5 / 2))
    off = 2 ** (NINE_IN_TEN * DEVIATION)
    assert whole.low == pytest.approx(1 / (0.5 / 2 + 0.5 * off / math.sqrt(2)))
    assert whole.high == pytest.approx(1 / (0.5 / 8 + 0.5 / off / math.sqrt(8)))


@given(st.floats(0.2, 5), st.floats(0.1, 1), st.floats(1, 10), st.floats(0, 1), st.floats(0, 1))
def test_the_less_was_seen_the_wider(median: float, low: float, high: float, one: float, other: float) -> None:
    part = ExpectedSpeedup(median, median * low, median * high)
    less, more = (speedup_of_whole(part, share) for share in sorted((one, other)))
    for whole in (less, more):
        assert 0 < whole.low <= whole.median * 1.0000001 <= whole.high * 1.0000002
    assert less.low <= more.low * 1.0000001 or less.low < 1  # never surer of a gain by seeing less
    assert speedup_of_whole(part, 1.0).low == pytest.approx(part.low)


def test_an_answer_from_a_part_is_less_sure(dataset: Dataset) -> None:
    widths = []
    for program in dataset.programs:
        answers = [answer_on(dataset, program, machine=seen(dataset, share)) for share in (1.0, 0.8, 0.5)]
        advised = [answer for answer in answers if isinstance(answer, Advice)]
        assert len(advised) == 3
        if advised[0].keep:
            continue
        assert advised[0].speedup == advised[0].low == advised[0].high
        assert [answer.speedup for answer in advised] == sorted((each.speedup for each in advised), reverse=True)
        widths.append([math.log2(answer.high / answer.low) for answer in advised])
    assert widths
    assert all(full < most < half for full, most, half in widths)


@pytest.mark.parametrize("share", [0.0, 0.05, LEAST_SEEN - 0.001])
def test_too_little_seen_is_unknown(dataset: Dataset, share: float) -> None:
    answer = answer_on(dataset, dataset.programs[0], machine=seen(dataset, share, exit_code="26"))
    assert isinstance(answer, Unknown)
    assert answer.answer == "unknown"
    assert answer.trace_share == pytest.approx(share)
    names = msgspec.json.decode(msgspec.json.encode(answer, enc_hook=to_label))
    assert names["answer"] == "unknown"
    assert not {"command", "mapping", "expected_speedup", "alternative"} & set(names)
    text = unknown_in_words(answer)
    assert f"unknown: the traces saw {share:.0%} of its region time" in text
    assert "a smaller input" in text
    assert "--cpu-seconds" in text
    assert "exit code 26" in text
    assert "numapredict run" not in text
    refused = refuse_command(answer)
    assert isinstance(refused, InsufficientDataError)
    assert "\n" not in str(refused)
    assert "a smaller input" in str(refused)


def test_enough_seen_is_advised(dataset: Dataset) -> None:
    assert isinstance(answer_on(dataset, dataset.programs[0], machine=seen(dataset, LEAST_SEEN)), Advice)


def test_runs_that_saw_different_regions_are_compared_by_what_all_saw(dataset: Dataset) -> None:
    """The default's trace saw a second region; its time is taken off, and the answer says so."""
    default, time_s = parse_label("32x4-contiguous-first-touch"), {}

    def noted(m: Measurement) -> Measurement:
        if m.program != dataset.programs[0].name or not isinstance(m.mapping, Mapping):
            return m
        time_s[m.mapping] = m.time_s
        regions, share = f"1={m.time_s:.9g}/0.5", 0.5
        if m.mapping == default:
            regions, share = f"1={0.6 * m.time_s:.9g}/0.5 2={0.4 * m.time_s:.9g}/0.4", 0.9
        notes = (("region_time_seen", f"{share:.3f}"), ("regions_seen", regions))
        return msgspec.structs.replace(m, provenance=notes)

    machine = RecordedMachine(msgspec.structs.replace(dataset, measurements=tuple(map(noted, dataset.measurements))))
    answer = answer_on(dataset, dataset.programs[0], machine=machine)
    assert isinstance(answer, Advice)
    line = "saw different regions: compared are those that all saw, with 50% of its native region time"
    assert [text for text in answer.warnings if line in text]
    times = {run.mapping: run.time_s for run in answer.runs}
    assert times[default] == pytest.approx(0.6 * time_s[default])
    others = {mapping: time_s[mapping] for mapping in times if isinstance(mapping, Mapping) and mapping != default}
    assert {mapping: times[mapping] for mapping in others} == pytest.approx(others)
