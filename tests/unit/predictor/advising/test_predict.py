import math

import msgspec
import numpy as np
import pytest
from scipy.stats import norm

from numapredict.collect.mapping import applicable, mapping_named
from numapredict.collect.measurement import Measurement
from numapredict.native.errors import InsufficientDataError, NoModelError, UnrunnableProgramError
from numapredict.predictor.advising.predict import ProbeReading, predict, ranked_by, reading_of
from numapredict.predictor.learning.features import observe
from numapredict.predictor.learning.gain_model import PredictedGains, predict_gains
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.train import train
from tests.planted import KINDS, measure, planted_dataset


@pytest.fixture(scope="module")
def model() -> Model:
    return train(planted_dataset(15), TrainingOptions(n_clusters=5, feature_kinds=("ratio",)))


def probe_runs(model: Model, kind: str) -> list[Measurement]:
    """Run an unseen program of a kind under the model's probes."""
    return [measure("unseen", KINDS[kind], applicable(probe.mapping)) for probe in model.probes]


@pytest.mark.parametrize("kind", list(KINDS))
def test_an_unseen_program_joins_its_kind(model: Model, kind: str) -> None:
    prediction = predict(model, [reading_of(run, "process") for run in probe_runs(model, kind)])
    assert {member.name.rsplit("-", 1)[0] for member in prediction.cluster.members} == {kind}
    assert prediction.mapping == prediction.cluster.ranked[0].mapping
    assert prediction.expected_speedup == prediction.cluster.ranked[0].expected_speedup
    assert 0 <= prediction.ambiguity < 1


def test_the_order_of_readings_does_not_matter(model: Model) -> None:
    readings = [reading_of(run, "process") for run in probe_runs(model, "stream")]
    assert predict(model, readings) == predict(model, readings[::-1])


def test_a_longer_run_of_the_same_program_gets_the_same_mapping(model: Model) -> None:
    readings = [reading_of(run, "process") for run in probe_runs(model, "line-solve")]
    longer = [msgspec.structs.replace(reading, time_s=reading.time_s * 100) for reading in readings]
    assert predict(model, longer).mapping == predict(model, readings).mapping


def test_a_mapping_that_cannot_be_applied_is_passed_over(model: Model) -> None:
    readings = [reading_of(run, "process") for run in probe_runs(model, "stream")]
    free = predict(model, readings)
    bound = predict(model, readings, lambda mapping: "locality" not in mapping.label)
    assert "locality" in free.mapping.label
    assert bound.mapping == next(r.mapping for r in free.cluster.ranked if "locality" not in r.mapping.label)
    with pytest.raises(NoModelError, match="none of the model's mappings"):
        predict(model, readings, lambda _mapping: False)


def test_a_stranger_is_not_familiar(model: Model) -> None:
    readings = [reading_of(run, "process") for run in probe_runs(model, "stream")]
    strange = [msgspec.structs.replace(readings[0], time_s=readings[0].time_s * 1000), readings[1]]
    assert not predict(model, strange).familiar


def test_training_programs_are_familiar(model: Model) -> None:
    dataset = planted_dataset(15)
    mappings = {probe.mapping for probe in model.probes}
    for name in observe(dataset).names:
        runs = [m for m in dataset.measurements if m.program == name and m.mapping in mappings]
        prediction = predict(model, [reading_of(run, "process") for run in runs])
        assert prediction.familiar
        assert name in {member.name for member in prediction.cluster.members}


def test_one_cluster_is_never_ambiguous() -> None:
    alone = train(planted_dataset(4), TrainingOptions(n_clusters=1))
    assert predict(alone, [reading_of(run, "process") for run in probe_runs(alone, "stream")]).ambiguity == 0.0


def test_a_missing_reading_is_named(model: Model) -> None:
    with pytest.raises(InsufficientDataError, match=model.probes[1].mapping.label):
        predict(model, [reading_of(probe_runs(model, "stream")[0], "process")])


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_a_time_that_cannot_be_is_refused(model: Model, value: float) -> None:
    readings = [reading_of(run, "process") for run in probe_runs(model, "stream")]
    with pytest.raises(InsufficientDataError, match="time_s"):
        predict(model, [msgspec.structs.replace(readings[0], time_s=value), readings[1]])


def test_missing_counters_are_said(model: Model) -> None:
    readings = [
        msgspec.structs.replace(reading_of(r, "process"), local_bandwidth_GBps=None)
        for r in probe_runs(model, "stream")
    ]
    with pytest.raises(InsufficientDataError, match="read no local_bandwidth_GBps"):
        predict(model, readings)


def test_a_failed_probe_run_is_said(model: Model) -> None:
    run = probe_runs(model, "stream")[0]
    failed = msgspec.structs.replace(run, repetitions=(), status="crashed", message="killed by signal 11")
    with pytest.raises(UnrunnableProgramError, match="killed by signal 11"):
        reading_of(failed, "process")


def test_no_bandwidth_is_a_reading_too(model: Model) -> None:
    first, second = (reading_of(run, "process") for run in probe_runs(model, "compute"))
    prediction = predict(model, [first, ProbeReading(second.mapping, second.time_s, 0.0)])
    assert math.isfinite(prediction.distance)


def test_confidence_and_interval_are_those_of_the_normal_distribution() -> None:
    model = train(planted_dataset(15), TrainingOptions(method="expectation", feature_kinds=("ratio",)))
    gain_model = model.gain_model
    assert gain_model is not None
    runs = probe_runs(model, "stream")
    readings = [reading_of(run, "process") for run in runs]
    prediction = predict(model, readings)
    found = predict_gains(
        gain_model,
        (readings[0].time_s, readings[1].time_s),
        [reading.local_bandwidth_GBps or 0.0 for reading in readings],
        (readings[0].mapping, readings[1].mapping),
        model.default,
    )
    probes = {probe.mapping for probe in model.probes}
    for ranked in prediction.ranked:
        at = gain_model.mappings.index(ranked.mapping)
        gain, deviation = float(found.gain[at]), float(found.deviation[at])
        speed = ranked.expected_speedup
        if ranked.mapping in probes:
            assert speed.median == pytest.approx(2**gain)  # what was measured has no discount
        else:
            assert speed.median <= 2**gain
            assert norm.cdf(np.log2(speed.high), gain, deviation) == pytest.approx(0.95, abs=1e-3)
            assert norm.cdf(min(gain, np.log2(speed.low)), gain, deviation) == pytest.approx(0.05, abs=1e-3)
    confidences = []
    for at, label in enumerate(gain_model.mappings):
        if label in probes:
            continue
        only = predict(model, readings, lambda usable, wanted=label: usable == wanted)
        assert only.confidence == pytest.approx(norm.sf(0, found.gain[at], found.deviation[at]))
        confidences.append(only.confidence)
    assert min(confidences) < 0.4
    assert max(confidences) > 0.6
    assert any(0.01 < confidence < 0.99 for confidence in confidences)


def test_mappings_of_equal_gains_are_ranked_in_the_order_of_columns() -> None:
    known = np.zeros(4)
    found = PredictedGains(np.array([0.0, 1.0, 2.0, 2.0]), known)
    ranked = ranked_by(tuple(map(mapping_named, "abcd")), found, 1.0, 0)
    assert "".join(each.mapping.label for each in ranked) == "cdba"
