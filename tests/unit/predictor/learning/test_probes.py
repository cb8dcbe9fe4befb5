from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numapredict.collect.mapping import mapping_named
from numapredict.predictor.learning.features import observe
from numapredict.predictor.learning.options import FeatureKind
from numapredict.predictor.learning.probes import (
    MIN_DEVIATION,
    Probe,
    Scales,
    cluster_distances,
    learn_scales,
    probes_of,
    readings_at,
    scaled_features,
)
from tests.planted import planted_dataset

# time at the first probe, time at the second, local bandwidth at the second
READINGS = np.array([[2.0, 1.0, 10.0], [8.0, 1.0, 40.0], [1.0, 4.0, 0.0], [1.0, 2.0, 20.0]])


def test_thesis_features_are_divided_by_the_largest() -> None:
    scales = learn_scales("thesis", READINGS)
    assert scales.divisors == (8.0, 40.0)
    assert scaled_features(scales, READINGS).tolist() == [[0.25, 0.25], [1.0, 1.0], [0.125, 0.0], [0.125, 0.5]]


def test_ratio_features_by_hand() -> None:
    scales = learn_scales("ratio", READINGS)
    assert scales.floor_GBps == pytest.approx(0.4)
    ratio = np.array([1.0, 3.0, -2.0, -1.0])
    bandwidth = np.log2([10.0, 40.0, 0.4, 20.0])
    expected = np.column_stack([ratio / ratio.std(), bandwidth / bandwidth.std()])
    assert scaled_features(scales, READINGS) == pytest.approx(expected)


def test_times_need_no_bandwidth() -> None:
    readings = READINGS.copy()
    readings[:, 2] = np.nan
    features = scaled_features(learn_scales("times", readings), readings)
    assert features.shape == (4, 1)
    assert np.isfinite(features).all()


@given(st.floats(1e-3, 1e3), st.sampled_from(["ratio", "times"]))
def test_scale_free_features_do_not_change_when_a_program_runs_longer(factor: float, kind: FeatureKind) -> None:
    scales = learn_scales(kind, READINGS)
    longer = READINGS * np.array([factor, factor, 1.0])
    assert scaled_features(scales, longer) == pytest.approx(scaled_features(scales, READINGS))


def test_noise_is_not_blown_up_to_a_feature() -> None:
    readings = np.array([[1.0, 1.0, 5.0], [1.0001, 1.0, 5.0]])
    assert learn_scales("ratio", readings).divisors == (MIN_DEVIATION, MIN_DEVIATION)


def test_no_bandwidth_anywhere_is_a_constant_feature() -> None:
    readings = np.array([[1.0, 1.0, 0.0], [4.0, 1.0, 0.0]])
    for kind in ("thesis", "ratio"):
        features = scaled_features(learn_scales(kind, readings), readings)
        assert np.isfinite(features).all()
        assert features[0, 1] == features[1, 1]


@pytest.mark.parametrize(
    ("kind", "divisors", "floor"), [("ratio", (1.0,), 1.0), ("times", (1.0, 1.0), 1.0), ("ratio", (1.0, 0.0), 1.0)]
)
def test_scales_that_cannot_be_are_refused(kind: FeatureKind, divisors: tuple[float, ...], floor: float) -> None:
    with pytest.raises(ValueError, match=r"divisors"):
        Scales(kind=kind, divisors=divisors, floor_GBps=floor)


def test_distances_are_to_the_means_of_clusters() -> None:
    rows = np.array([[0.0], [10.0], [6.0]])
    assert cluster_distances(np.array([[9.0]]), rows, np.array([0, 0, 1])).tolist() == [[4.0, 3.0]]


@pytest.mark.parametrize("kind", ["thesis", "ratio", "times"])
def test_training_programs_that_lie_apart_are_recognised(kind: FeatureKind) -> None:
    readings = np.array([[1.0, 1.0, 1.0], [1.1, 1.0, 1.1], [8.0, 1.0, 60.0], [8.2, 1.0, 64.0]])
    features = scaled_features(learn_scales(kind, readings), readings)
    distances = cluster_distances(features, features, np.array([0, 0, 1, 1]))
    assert distances.argmin(axis=1).tolist() == [0, 0, 1, 1]


def test_what_learners_read_is_scale_free() -> None:
    observations = observe(planted_dataset(5))
    readings, floors = readings_at(observations, (3, 1))
    times, local = observations.time_s, observations.local_bandwidth_GBps
    assert local is not None
    assert readings[:, 0] == pytest.approx(np.log2(times[:, 3] / times[:, 1]))
    assert readings[:, 1:] == pytest.approx(np.log2(np.maximum(local[:, [3, 1]], floors)))
    longer = replace(observations, time_s=7 * times)
    assert readings_at(longer, (3, 1))[0] == pytest.approx(readings)
    bare = replace(observations, local_bandwidth_GBps=None)
    assert readings_at(bare, (3, 1))[0].shape == (5, 1 if bare.local_share is None else 3)


def test_probes_say_what_they_read() -> None:
    a, b = map(mapping_named, "ab")
    assert probes_of("thesis", a, b) == (Probe(a, ("time_s",)), Probe(b, ("local_bandwidth_GBps",)))
    assert probes_of("ratio", a, b)[1] == Probe(b, ("time_s", "local_bandwidth_GBps"))
    assert probes_of("times", a, b)[1] == Probe(b, ("time_s",))
