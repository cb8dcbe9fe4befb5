"""What was not seen of a program widens what is said of it, and too little makes the answer unknown."""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import Mapping, applicable, to_label
from numapredict.collect.measurement import Measurement
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.advising.advice import Advice, advise
from numapredict.predictor.advising.advice_text import advice_in_words
from numapredict.predictor.advising.predict import NINE_IN_TEN, predict, reading_of
from numapredict.predictor.advising.unknown import Unknown, refuse_command, unknown_in_words
from numapredict.predictor.advising.unseen import DEVIATION, LEAST_SEEN, speedup_of_whole, with_unseen
from numapredict.predictor.learning.model import ExpectedSpeedup
from numapredict.predictor.learning.model_choice import ChosenModel
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import train
from tests.planted import planted_dataset

PART = ExpectedSpeedup(4.0, 2.0, 8.0)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return planted_dataset(15)


@pytest.fixture(scope="module")
def chosen(dataset: Dataset) -> ChosenModel:
    return ChosenModel(
        train(dataset, TrainingOptions(method="expectation", feature_kinds=("ratio",))), "a test's model"
    )


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


def test_what_was_not_seen_leaves_the_default_as_it_is(dataset: Dataset, chosen: ChosenModel) -> None:
    cached = applicable(chosen.model.default)
    runs = [m for m in dataset.measurements if m.program == "stream-0"]
    readings = [reading_of(m, "process") for m in runs if m.mapping in {p.mapping for p in chosen.model.probes}]
    part = predict(chosen.model, readings, lambda mapping: mapping == cached)
    default = Mapping(*cached.choices)  # an equal one, built anew
    assert default is not cached
    whole = with_unseen(part, default, 0.5)
    assert (whole.mapping, whole.expected_speedup) == (cached, part.expected_speedup)
    assert [each.mapping for each in set(whole.ranked) & set(part.ranked)] == [cached]


def test_an_answer_from_a_part_is_less_sure(dataset: Dataset, chosen: ChosenModel) -> None:
    widths = []
    for program in dataset.programs:
        answers = [advise(program, seen(dataset, share), chosen) for share in (1.0, 0.8, 0.5)]
        advised = [answer for answer in answers if isinstance(answer, Advice)]
        assert len(advised) == 3
        assert {answer.answer for answer in advised} == {"advised"}
        if advised[0].mapping == advised[0].default:
            continue
        speeds = [answer.expected_speedup for answer in advised]
        widths.append([math.log2(speed.high / speed.low) for speed in speeds])
        confidences = [answer.confidence or 0.0 for answer in advised]
        assert confidences == sorted(confidences, reverse=True)
        assert "both mappings were probes" not in advice_in_words(advised[1])
    assert widths
    assert all(full < most < half for full, most, half in widths)


@pytest.mark.parametrize("share", [0.0, 0.05, LEAST_SEEN - 0.001])
def test_too_little_seen_is_unknown(dataset: Dataset, chosen: ChosenModel, share: float) -> None:
    answer = advise(dataset.programs[0], seen(dataset, share, exit_code="26"), chosen)
    assert isinstance(answer, Unknown)
    assert answer.answer == "unknown"
    assert answer.trace_share == pytest.approx(share)
    assert len(answer.probes) == 2
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


def test_enough_seen_is_advised(dataset: Dataset, chosen: ChosenModel) -> None:
    assert isinstance(advise(dataset.programs[0], seen(dataset, LEAST_SEEN), chosen), Advice)


def test_own_threads_of_which_nothing_is_known_are_unknown(dataset: Dataset, chosen: ChosenModel) -> None:
    answer = advise(dataset.programs[0], seen(dataset, 1.0, teams="3:1.000"), chosen)
    assert isinstance(answer, Unknown)
    assert "not here" in answer.reason
    assert any("numapredict train" in text for text in answer.to_try)


def test_probes_that_saw_different_regions_are_compared_by_what_both_saw(
    dataset: Dataset, chosen: ChosenModel, said: list[str]
) -> None:
    """One probe saw a second region; its time is taken off, and the answer and its progress both say so."""
    first, second = (probe.mapping for probe in chosen.model.probes)
    time_s = {}

    def noted(m: Measurement) -> Measurement:
        if m.program != dataset.programs[0].name or not isinstance(m.mapping, Mapping):
            return m
        time_s[m.mapping] = m.time_s
        regions = f"1={0.6 * m.time_s:.9g}/0.5 2={0.4 * m.time_s:.9g}/0.4"
        share = 0.9
        if m.mapping == second:
            regions, share = f"1={m.time_s:.9g}/0.5", 0.5
        notes = (("region_time_seen", f"{share:.3f}"), ("regions_seen", regions))
        return msgspec.structs.replace(m, provenance=notes)

    machine = RecordedMachine(msgspec.structs.replace(dataset, measurements=tuple(map(noted, dataset.measurements))))
    answer = advise(dataset.programs[0], machine, chosen)
    assert isinstance(answer, Advice)
    line = "saw different regions: compared are those that all saw, with 50% of its native region time"
    assert [text for text in answer.warnings if line in text]
    assert [text for text in said if line in text]
    times = {probe.mapping: probe.time_s for probe in answer.probes}
    assert times == pytest.approx({first: 0.6 * time_s[first], second: time_s[second]})
