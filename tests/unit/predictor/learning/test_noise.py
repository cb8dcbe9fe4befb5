"""How much a measured gain varies: by repetitions where there are any, and the stated least where there are none."""

import math
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.measurement import Measurement, Repetition
from numapredict.predictor.advising.evidence import Evidence, evidence_of
from numapredict.predictor.advising.predict import ProbeReading, measured_noise, predict, reading_of
from numapredict.predictor.advising.verdicts import bound_of, pages_gain_nothing, pages_of
from numapredict.predictor.evaluation.folds import predict_row
from numapredict.predictor.learning import noise as ns
from numapredict.predictor.learning.features import Observations, observe
from numapredict.predictor.learning.gain_model import GainModel, predict_gains
from numapredict.predictor.learning.model import Model
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.store import read_model, write_model
from numapredict.predictor.learning.train import train
from tests.evaluations import DEFAULT, PROBE
from tests.planted import planted_dataset

OPTIONS = TrainingOptions(method="expectation", feature_kinds=("ratio",))


def repeated(dataset: Dataset, deviation: float, runs: int = 5) -> Dataset:
    """Return the dataset with every time repeated, varying by a deviation in log2."""
    generator = np.random.default_rng(1)

    def again(measurement: Measurement) -> Measurement:
        (one,) = measurement.repetitions
        factors = 2 ** generator.normal(0, deviation, runs)
        return msgspec.structs.replace(
            measurement,
            repetitions=tuple(msgspec.structs.replace(one, time_s=one.time_s * float(factor)) for factor in factors),
        )

    return msgspec.structs.replace(dataset, measurements=tuple(map(again, dataset.measurements)))


def measurement_of(*times: float) -> Measurement:
    (one, *_) = planted_dataset(1).measurements
    return msgspec.structs.replace(one, repetitions=tuple(Repetition(time_s) for time_s in times))


def test_the_error_of_a_median_follows_from_its_repetitions() -> None:
    logs = [0.0, 0.1, -0.1, 0.3, -0.3]
    found = ns.noise_of(measurement_of(*(2**log for log in logs)), "process")
    assert found == pytest.approx(np.std(logs, ddof=1) * math.sqrt(math.pi / 2) / math.sqrt(5))
    assert ns.noise_of(measurement_of(1.0, 2.0), "process") == pytest.approx(0.5)  # of two, as of their mean
    assert ns.noise_of(measurement_of(1.0), "process") is None
    assert ns.noise_of(measurement_of(1.0, 2.0, 4.0), "regions") is None


def test_single_runs_have_the_stated_noise() -> None:
    assert ns.noise_between((None, None), (1, 1), None) == ns.MEASURED_NOISE
    assert ns.noise_between((0.001, 0.001), (5, 5), None) == ns.MEASURED_NOISE, "which is the least, too"
    assert ns.noise_between((0.3, 0.4), (5, 5), None) == pytest.approx(0.5)
    assert ns.noise_between((0.3, None), (5, 1), 0.2) == pytest.approx(0.2)
    between = ns.noise_between((0.3, 0.4), (5, 5), 0.2)
    assert 0.2 < between < 0.5


def test_the_pooled_noise_is_near_the_true_one_and_no_single_cell_moves_it() -> None:
    generator = np.random.default_rng(2)
    runs = generator.normal(0, 0.2, (1, 400, 5))
    cells = ns.MEDIAN * runs.std(axis=2, ddof=1) / math.sqrt(5)
    true = ns.MEDIAN * 0.2 / math.sqrt(5)
    (found,) = ns.pooled_noise(cells, 5)  # type: ignore[misc]
    assert found == pytest.approx(true, rel=0.1)
    cells[0, :20] = 50.0
    (again,) = ns.pooled_noise(cells, 5)  # type: ignore[misc]
    assert again == pytest.approx(found, rel=0.1)
    assert ns.pooled_noise(np.full((2, 3), np.nan)) is None
    assert ns.noise_of_gains(cells[:, 20:], np.ones(1), 5) == pytest.approx(math.sqrt(2) * true, rel=0.1)


@pytest.fixture(scope="module")
def noisy() -> tuple[Dataset, Model]:
    dataset = repeated(planted_dataset(15), 0.4)
    return dataset, train(dataset, OPTIONS)


def expectation_of(model: Model) -> GainModel:
    assert model.gain_model is not None
    return model.gain_model


def test_a_model_keeps_the_noise_of_its_training(noisy: tuple[Dataset, Model]) -> None:
    dataset, model = noisy
    found = expectation_of(model).noise
    assert found == pytest.approx(math.sqrt(2) * ns.MEDIAN * 0.4 / math.sqrt(5), rel=0.2)
    assert expectation_of(train(planted_dataset(15), OPTIONS)).noise is None
    observations = observe(dataset)
    assert observations.noise is not None
    assert (observations.runs, observe(planted_dataset(4)).noise) == (5, None)


def test_probes_that_vary_widen_the_interval_and_lower_the_confidence(noisy: tuple[Dataset, Model]) -> None:
    dataset, model = noisy
    observations = observe(dataset)
    rows = [n for n in range(15) if predict_row(model, observations, n).confidence is not None]
    assert rows
    for row in rows:
        quiet = predict_row(model, steady(observations), row)
        loud = predict_row(model, observations, row)
        wide = {each.mapping: each.expected_speedup for each in loud.ranked}
        for each in quiet.ranked:
            if each.mapping != model.default:
                speed, other = each.expected_speedup, wide[each.mapping]
                assert other.high / other.low >= 0.999 * speed.high / speed.low


def steady(observations: Observations) -> Observations:
    """Return the observations as if each run had been repeated without any variation."""
    return replace(observations, noise=np.zeros_like(observations.time_s))


def test_the_probes_own_repetitions_are_read() -> None:
    dataset = planted_dataset(15)
    model = train(dataset, OPTIONS)
    first, second = (probe.mapping for probe in model.probes)
    loud = repeated(dataset, 0.6)
    name = next(program.name for program in dataset.programs if program.name.startswith("stream"))

    def readings(source: Dataset) -> list[ProbeReading]:
        runs = {m.mapping: m for m in source.measurements if m.program == name}
        return [reading_of(runs[mapping], "process") for mapping in (first, second)]

    calm, wild = readings(dataset), readings(loud)
    assert [each.noise for each in calm] == [None, None]
    assert measured_noise(model.gain_model, calm) == ns.MEASURED_NOISE
    assert measured_noise(model.gain_model, wild) > 3 * ns.MEASURED_NOISE
    same = [msgspec.structs.replace(w, time_s=c.time_s) for c, w in zip(calm, wild, strict=True)]
    sure, unsure = predict(model, calm), predict(model, same)
    widths = [
        next(e.expected_speedup.high / e.expected_speedup.low for e in each.ranked if e.mapping == sure.mapping)
        for each in (sure, unsure)
    ]
    assert widths[1] > 1.2 * widths[0]
    found = [
        predict_gains(
            expectation_of(model),
            (calm[0].time_s, calm[1].time_s),
            [each.local_bandwidth_GBps or 0.0 for each in calm],
            (first, second),
            model.default,
            noise,
        )
        for noise in (ns.MEASURED_NOISE, 0.5)
    ]
    inferred = [n for n, mapping in enumerate(expectation_of(model).mappings) if mapping not in (first, second)]
    assert (found[1].deviation[inferred] >= found[0].deviation[inferred]).all()
    assert (found[1].deviation[inferred] > found[0].deviation[inferred]).any()


def reading(mapping: AnyMapping, time_s: float, noise: float | None = None) -> ProbeReading:
    return ProbeReading(mapping, time_s, 10.0, 0.25 if mapping == DEFAULT else 0.95, 1.0, 0.95, noise, 5)


def test_what_is_waited_for_is_said_only_where_the_gain_is_more_than_noise() -> None:
    for noise, said in ((None, "one node's bandwidth"), (0.02, "one node's bandwidth"), (0.5, "unknown")):
        evidence = evidence_of([reading(DEFAULT, 1.7, noise), reading(PROBE, 1.0, noise)], DEFAULT, 100.0)
        assert evidence is not None
        assert bound_of(evidence, pages_of(evidence)) == said


def test_no_gain_is_said_only_where_noise_leaves_no_room_for_one() -> None:
    local = Evidence(nodes=4, other=PROBE, speedup=1.0, default_local_share=0.97, noise=0.01)
    assert pages_gain_nothing(local, "own nodes")
    assert not pages_gain_nothing(msgspec.structs.replace(local, noise=0.2), "own nodes")
    assert pages_gain_nothing(msgspec.structs.replace(local, noise=None), "own nodes")


def test_models_of_before_are_read_with_the_deviations_of_all_programs(tmp_path: Path) -> None:
    model = train(planted_dataset(15), OPTIONS)
    write_model(model, tmp_path / "new.json")
    assert read_model(tmp_path / "new.json") == model
    document = msgspec.json.decode((tmp_path / "new.json").read_bytes())
    document["schema_version"] = 4
    for each in (document["expectation"], *document["fallbacks"]):
        del each["noise"]
        each.update(relative=0.3, nearby={"readings": [[0.0]], "weights": [1.0]})
    (tmp_path / "old.json").write_bytes(msgspec.json.encode(document))
    old = expectation_of(read_model(tmp_path / "old.json"))
    assert old.noise is None
    first, second = (probe.mapping for probe in model.probes)
    found = predict_gains(old, (1.0, 2.0), [1.0, 1.0], (first, second), model.default)
    inferred = [n for n, mapping in enumerate(old.mappings) if mapping not in (first, second)]
    assert found.deviation[inferred] == pytest.approx(np.array(old.deviation)[inferred])
