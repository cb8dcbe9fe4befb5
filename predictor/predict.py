"""Predict a program's mapping from its two probe runs."""

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from numapredict.collect.measurement import Measurement
from numapredict.native.errors import NumapredictError
from numapredict.predictor.features import time_by
from numapredict.predictor.model import Cluster, ExpectedSpeedup, Model
from numapredict.predictor.options import Clock
from numapredict.predictor.probes import cluster_distances, scaled_features


class UnusableProbeError(NumapredictError):
    """A probe run failed, or did not read what the model needs."""


class ProbeReading(msgspec.Struct, frozen=True):
    """What one probe run read; the bandwidth is None where there are no counters."""

    mapping: str
    time_s: float
    local_bandwidth_GBps: float | None = None


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """The mapping that should run a program fastest, and how sure that is.

    ``distance`` is to the chosen cluster in scaled features. ``ambiguity`` is that distance over the one to the next
    cluster: 0 is clear, 1 a toss-up. ``familiar`` is false when the program lies farther from every training program
    than any of them lies from its nearest neighbour.
    """

    mapping: str
    cluster: Cluster
    expected_speedup: ExpectedSpeedup
    features: tuple[float, ...]
    distance: float
    ambiguity: float
    familiar: bool


def reading_of(measurement: Measurement, clock: Clock) -> ProbeReading:
    """Return what a probe's measurement read; UnusableProbeError when the run failed or lacks the model's clock."""
    label = measurement.mapping.label
    if measurement.status != "ok":
        why = measurement.message or measurement.status
        raise UnusableProbeError(f"probe run of {measurement.program} under {label} failed ({why}): nothing to predict")
    time_s = time_by(clock, measurement)
    if time_s is None:
        raise UnusableProbeError(
            f"probe run of {measurement.program} under {label} did not tell the time in parallel regions, which this "
            "model was learned from: train a model on this machine"
        )
    counters = measurement.counters
    return ProbeReading(label, time_s, None if counters is None else counters.local_bandwidth_GBps)


def predict(
    model: Model, readings: Sequence[ProbeReading], usable: Callable[[str], bool] = lambda _label: True
) -> Prediction:
    """Return the prediction for a program whose probes read ``readings``, in any order.

    The best-ranked mapping of its cluster that is ``usable`` is chosen. UnusableProbeError when a probe's reading is
    missing or not a positive number.
    """
    row = np.array([_row(model, readings)])
    members = [(member, cluster.id) for cluster in model.clusters for member in cluster.members]
    rows = np.array([member.features for member, _ in members])
    labels = np.array([cluster for _, cluster in members])
    features = scaled_features(model.scales, row)
    distances = cluster_distances(model.rule, features, rows, labels)[0]
    cluster = model.clusters[int(distances.argmin())]
    choice = next((ranked for ranked in cluster.ranked if usable(ranked.mapping)), None)
    if choice is None:
        raise UnusableProbeError(
            f"none of the model's mappings can be applied on {model.machine}: choose another model"
        )
    nearest, *others = sorted(distances)
    return Prediction(
        mapping=choice.mapping,
        cluster=cluster,
        expected_speedup=choice.expected_speedup,
        features=tuple(map(float, features[0])),
        distance=float(nearest),
        ambiguity=_ambiguity(float(nearest), float(others[0])) if others else 0.0,
        familiar=_is_familiar(features[0], rows),
    )


def _row(model: Model, readings: Sequence[ProbeReading]) -> tuple[float, float, float]:
    """Return time at the first probe, time and local bandwidth at the second, or NaN where that is not needed."""
    by_mapping = {reading.mapping: reading for reading in readings}
    for probe in model.probes:
        reading = by_mapping.get(probe.mapping)
        if reading is None:
            raise UnusableProbeError(f"no reading of probe {probe.mapping}: run the program under it first")
        for name in probe.features:
            value = getattr(reading, name)
            if value is None:
                raise UnusableProbeError(
                    f"probe {probe.mapping} read no {name}: make counters readable, or train with features times"
                )
            if not math.isfinite(value) or value < 0 or (name == "time_s" and value == 0):
                raise UnusableProbeError(f"probe {probe.mapping} read {name} = {value}: run it again")
    first, second = (by_mapping[probe.mapping] for probe in model.probes)
    bandwidth = second.local_bandwidth_GBps
    return first.time_s, second.time_s, math.nan if bandwidth is None else bandwidth


def _ambiguity(nearest: float, second: float) -> float:
    """Return how close the second cluster is, from 0 to 1."""
    return nearest / second if second > 0 else 1.0


def _is_familiar(features: npt.NDArray[np.float64], rows: npt.NDArray[np.float64]) -> bool:
    """Return whether a program is no stranger among the training programs than the strangest of them."""
    between = np.linalg.norm(rows[:, None, :] - rows[None, :, :], axis=2)
    np.fill_diagonal(between, np.inf)
    usual = between.min(axis=1).max() if len(rows) > 1 else np.inf
    return bool(np.linalg.norm(rows - features, axis=1).min() <= usual)
