"""Machines without counters: the same advice from the times, explained by the sampled share of local accesses."""

import msgspec
import numpy as np
import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.measurement import Measurement
from numapredict.predictor.advising.predict import ProbeReading, predict
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


def test_the_same_model_is_learned_without_counters(counted: Model, uncounted: Model) -> None:
    assert uncounted.gain_model == counted.gain_model
    assert uncounted.probes == counted.probes
    assert [probe.features for probe in uncounted.probes] == [("time_s",)] * 2


def test_the_answer_says_what_its_probes_read_and_does_not_depend_on_it(dataset: Dataset, counted: Model) -> None:
    whole = readings(dataset, counted, 1)  # a stream
    share = [msgspec.structs.replace(reading, local_bandwidth_GBps=None) for reading in whole]
    times = [msgspec.structs.replace(reading, local_share=None) for reading in share]
    found = [predict(counted, each) for each in (whole, share, times)]
    assert [each.reads for each in found] == ["bandwidth", "share", "times"]
    assert found[0].ranked == found[1].ranked == found[2].ranked
    assert predict(counted, [whole[0], share[1]]).reads == "share", "both probes have to tell"
    assert predict(counted, [share[0], times[1]]).reads == "times"


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
    assert observe(without(1000)).local_share is None
