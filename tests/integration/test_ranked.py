"""Nothing is announced as better than the advice: not in the ranking, not as another tool's command, not beside it."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.recorded_machine import RecordedMachine
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.program import Program
from numapredict.native.errors import InvalidInputError
from numapredict.predictor.advising.advice import Advice, advise, expected_in_words
from numapredict.predictor.advising.advice_text import advice_in_words
from numapredict.predictor.advising.predict import ranked_by
from numapredict.predictor.learning.gain_model import PredictedGains, discounted, risk_adjusted_gain
from numapredict.predictor.learning.model_choice import ChosenModel
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import train
from numapredict.reports.parts.consistency import check_consistency
from tests.planted import planted_dataset

GAIN = st.floats(-6, 6)
DEVIATION = st.floats(0.05, 3)


@given(st.lists(st.tuples(GAIN, DEVIATION), min_size=1, max_size=12), st.floats(0, 2))
@settings(max_examples=200)
def test_what_ranks_higher_is_said_to_give_as_much_or_more(
    known: list[tuple[float, float]], risk_weight: float
) -> None:
    gain, deviation = (np.array([0.0, *column]) for column in zip(*known, strict=True))
    found = PredictedGains(gain, deviation)
    mappings = [AnyMapping(f"m{n}") for n in range(len(gain))]
    ranked = ranked_by(mappings, found, risk_weight, 0)
    said = [each.expected_speedup.median for each in ranked]
    assert said == sorted(said, reverse=True)
    assert [mappings.index(each.mapping) for each in ranked] == list(
        np.argsort(-risk_adjusted_gain(gain, deviation, risk_weight, 0), kind="stable")
    )
    for each in ranked:
        speed = each.expected_speedup
        assert speed.low <= speed.median <= speed.high * (1 + 1e-9)


@given(st.lists(st.tuples(GAIN, DEVIATION), min_size=1, max_size=12), st.floats(0, 2))
def test_the_best_known_gain_has_no_discount_and_none_is_raised(
    known: list[tuple[float, float]], risk_weight: float
) -> None:
    gain, deviation = (np.array([0.0, *column]) for column in zip(*known, strict=True))
    said = discounted(gain, deviation, risk_weight, 0)
    best = 1 + int(deviation[1:].argmin())
    assert said[best] == gain[best]
    assert (said <= gain + 1e-12).all()
    compared = risk_adjusted_gain(gain, deviation, risk_weight, 0)[1:]
    assert np.diff(said[1:]) == pytest.approx(np.diff(compared)), "mappings are said to differ as they were compared"


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return planted_dataset(15, jitter=0.4)


@pytest.fixture(scope="module", params=["expectation", "cluster"])
def chosen(request: pytest.FixtureRequest, dataset: Dataset) -> ChosenModel:
    options = TrainingOptions(method=request.param, feature_kinds=("ratio",))
    model = train(dataset, options)
    if model.gain_model is not None:  # as if much were risked, so that discounts are large
        model = msgspec.structs.replace(
            model, gain_model=msgspec.structs.replace(model.gain_model, risk_weight=1.5), fallbacks=()
        )
    return ChosenModel(model, "a test's model")


class Distorted(RecordedMachine):
    """The probes of a program take other times than were recorded, by factors."""

    def __init__(self, dataset: Dataset, factors: tuple[float, float], probes: tuple[AnyMapping, ...]) -> None:
        super().__init__(dataset)
        self.factors = dict(zip(probes, factors, strict=True))

    def run(self, program: Program, mapping: Mapping) -> Measurement:
        found = super().run(program, mapping)
        (one,) = found.repetitions
        time_s = one.time_s * self.factors.get(mapping, 1.0)
        return msgspec.structs.replace(found, repetitions=(msgspec.structs.replace(one, time_s=time_s),))


def answer(dataset: Dataset, chosen: ChosenModel, program: int, factors: tuple[float, float]) -> Advice:
    probes = tuple(probe.mapping for probe in chosen.model.probes)
    return advise(dataset.programs[program], Distorted(dataset, factors, probes), chosen)


@given(st.integers(0, 14), st.tuples(st.floats(0.2, 5), st.floats(0.2, 5)))
@settings(max_examples=40)
def test_no_other_command_is_expected_to_give_more_than_the_advice(
    dataset: Dataset, chosen: ChosenModel, program: int, factors: tuple[float, float]
) -> None:
    advice = answer(dataset, chosen, program, factors)
    most = advice.expected_speedup.median
    for other in (advice.alternative, *advice.alternatives):
        if other.expected_speedup is not None:
            assert other.expected_speedup.median <= most, other.tool
            assert other.expected_speedup.low <= other.expected_speedup.median <= other.expected_speedup.high
    assert all(close.expected_speedup.median <= most for close in advice.explanation.close)
    for finding in advice.explanation.findings:
        if finding.topic == "choice":
            assert max(finding.evidence.values()) <= most
    check_consistency(advice, dataset.topology)


def test_the_fallbacks_interval_is_shown_with_it(dataset: Dataset) -> None:
    chosen = ChosenModel(train(dataset, TrainingOptions(method="expectation", feature_kinds=("ratio",))), "a test's")
    shown = 0
    for program in range(15):
        advice = answer(dataset, chosen, program, (3.0, 0.5))
        other = advice.alternative
        if other.exact or other.mapping == advice.default or other.expected_speedup is None:
            continue
        shown += 1
        speed = other.expected_speedup
        assert expected_in_words(speed) == f"{speed.median:.2f}x expected, {speed.low:.2f}x to {speed.high:.2f}x"
        assert f"{other.mapping} ({expected_in_words(speed)})" in " ".join(advice_in_words(advice).split())
    assert shown


def test_a_file_that_announces_a_better_fallback_is_refused(dataset: Dataset, chosen: ChosenModel) -> None:
    advice = answer(dataset, chosen, 1, (1.0, 1.0))
    speed = msgspec.structs.replace(advice.expected_speedup, median=advice.expected_speedup.median * 1.1, high=1e3)
    better = msgspec.structs.replace(advice.alternative, expected_speedup=speed)
    check_consistency(advice, dataset.topology)
    with pytest.raises(InvalidInputError, match="more than the answer's"):
        check_consistency(msgspec.structs.replace(advice, alternative=better), dataset.topology)
