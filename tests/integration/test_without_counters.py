"""Machines without counters: times and the sampled share of local accesses, or times alone."""

import msgspec
import numpy as np
import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.measurement import Measurement
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.advising.predict import ProbeReading, predict
from numapredict.predictor.evaluation.evaluate import evaluate_held_out
from numapredict.predictor.evaluation.folds import WITHOUT_COUNTERS, predict_row
from numapredict.predictor.learning.features import observe
from numapredict.predictor.learning.learning import options_of
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.train import train
from tests.planted import planted_dataset

OPTIONS = options_of(None, None)


def sampled(dataset: Dataset) -> Dataset:
    """Return what a computer without counters would have measured: the same times, and what sampling shows."""

    def of(measurement: Measurement) -> Measurement:
        return msgspec.structs.replace(
            measurement,
            repetitions=tuple(
                msgspec.structs.replace(r, counters=None, sampled_share=r.local_share) for r in measurement.repetitions
            ),
        )

    return msgspec.structs.replace(dataset, measurements=tuple(map(of, dataset.measurements)))


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return planted_dataset(15)


@pytest.fixture(scope="module")
def counted(dataset: Dataset) -> Model:
    return train(dataset, OPTIONS)


@pytest.fixture(scope="module")
def uncounted(dataset: Dataset) -> Model:
    return train(sampled(dataset), OPTIONS)


def readings(dataset: Dataset, model: Model, row: int) -> list[ProbeReading]:
    observations = observe(dataset)
    bandwidth, share = observations.local_bandwidth_GBps, observations.local_share
    assert bandwidth is not None
    assert share is not None
    columns = [(probe.mapping, observations.column(probe.mapping)) for probe in model.probes]
    return [
        ProbeReading(label, float(observations.time_s[row, c]), float(bandwidth[row, c]), float(share[row, c]))
        for label, c in columns
    ]


def test_a_model_of_a_machine_without_counters_reads_the_share(uncounted: Model) -> None:
    assert uncounted.gain_model is not None
    assert uncounted.gain_model.extra_reading == "share"
    assert [probe.features for probe in uncounted.probes] == [("time_s", "local_share")] * 2
    assert [fallback.extra_reading for fallback in uncounted.fallbacks] == ["times"]


def test_a_model_with_counters_has_learned_what_to_do_without(counted: Model, uncounted: Model) -> None:
    assert counted.gain_model is not None
    assert counted.gain_model.extra_reading == "bandwidth"
    assert counted.fallbacks == (uncounted.gain_model, *uncounted.fallbacks)


def test_the_answer_says_what_it_was_judged_by(dataset: Dataset, counted: Model) -> None:
    row = 1  # a stream
    whole = readings(dataset, counted, row)
    share = [msgspec.structs.replace(reading, local_bandwidth_GBps=None) for reading in whole]
    times = [msgspec.structs.replace(reading, local_share=None) for reading in share]
    assert [predict(counted, each).reads for each in (whole, share, times)] == ["bandwidth", "share", "times"]
    assert predict(counted, [whole[0], share[1]]).reads == "share", "both probes have to tell"
    assert predict(counted, [share[0], times[1]]).reads == "times"
    observations = observe(dataset)
    assert predict_row(counted, observations, row, "share") == predict(counted, share)
    assert predict_row(counted, observations, row, "times") == predict(counted, times)


def test_the_share_is_read(dataset: Dataset, uncounted: Model) -> None:
    reported = readings(dataset, uncounted, 1)
    other = [msgspec.structs.replace(reading, local_share=0.05) for reading in reported]
    gains = [
        {ranked.mapping: ranked.expected_speedup.median for ranked in predict(uncounted, each).ranked}
        for each in (reported, other)
    ]
    assert gains[0] != gains[1]


def test_a_share_that_is_none_is_refused(dataset: Dataset, uncounted: Model) -> None:
    reported = readings(dataset, uncounted, 1)
    with pytest.raises(InsufficientDataError, match="local_share"):
        predict(uncounted, [msgspec.structs.replace(reported[0], local_share=float("nan")), reported[1]])


def test_few_missing_shares_are_taken_as_the_mappings_median_and_many_as_none(dataset: Dataset) -> None:
    whole = observe(sampled(dataset)).local_share
    assert whole is not None
    at = {(m.program, m.mapping): n for n, m in enumerate(dataset.measurements)}

    def without(count: int) -> Dataset:
        program = dataset.programs[0].name
        gone = [n for (name, _), n in at.items() if name == program][:count] if count < 5 else list(at.values())[::3]
        measurements = list(sampled(dataset).measurements)
        for n in gone:
            r = tuple(msgspec.structs.replace(r, sampled_share=None) for r in measurements[n].repetitions)
            measurements[n] = msgspec.structs.replace(measurements[n], repetitions=r)
        return msgspec.structs.replace(dataset, measurements=tuple(measurements))

    few = observe(without(2)).local_share
    assert few is not None
    filled = np.argwhere(few != whole)
    assert 1 <= len(filled) <= 2
    for row, column in filled:
        others = np.delete(whole[:, column], row)
        assert few[row, column] == pytest.approx(np.median(others))
    assert observe(without(1000)).reads == ("times",)


def test_the_evaluation_gives_what_the_counters_are_worth(dataset: Dataset) -> None:
    evaluation = evaluate_held_out(dataset, OPTIONS)
    share, times = WITHOUT_COUNTERS["share"], WITHOUT_COUNTERS["times"]
    assert {share, times} <= set(evaluation.baselines)
    blind = evaluate_held_out(sampled(dataset), OPTIONS)
    assert share not in blind.baselines
    assert blind.baselines[times] == evaluation.baselines[times]
    assert evaluation.baselines[share].gain_captured == pytest.approx(blind.gain_captured)
