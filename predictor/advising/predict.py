"""Predict a program's mapping from its two probe runs."""

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from numapredict.collect.mapping import AnyMapping
from numapredict.collect.measurement import Counters, Measurement
from numapredict.native.errors import InsufficientDataError, NoModelError, UnrunnableProgramError
from numapredict.predictor.learning.features import time_by
from numapredict.predictor.learning.gain_model import (
    NINE_IN_TEN,
    GainModel,
    PredictedGains,
    discounted,
    predict_gains,
    risk_adjusted_gain,
)
from numapredict.predictor.learning.model import Cluster, ExpectedSpeedup, Model, RankedMapping
from numapredict.predictor.learning.noise import noise_between, noise_of
from numapredict.predictor.learning.options import Clock, Reads
from numapredict.predictor.learning.probes import cluster_distances, scaled_features


class ProbeReading(msgspec.Struct, frozen=True):
    """The readings of one probe run; bandwidths are None without counters, as is the share if it was not sampled.

    ``home_share`` is the largest part that one node's cores have in all local accesses, None if there are none.
    ``noise`` is the standard error of the time in log2 over ``runs`` repetitions, None if they are too few.
    """

    mapping: AnyMapping
    time_s: float
    local_bandwidth_GBps: float | None = None
    local_share: float | None = None
    remote_bandwidth_GBps: float | None = None
    home_share: float | None = None
    noise: float | None = None
    runs: int = 1


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """The mapping that should run a program fastest, and how sure that is.

    ``distance`` is to the chosen cluster in scaled features. ``ambiguity`` is that distance over the one to the next
    cluster: 0 is clear, 1 a toss-up. ``familiar`` is false when the program lies farther from every training program
    than any of them lies from its nearest neighbour. ``ranked`` holds all mappings, best first, with their expected
    speedups: for this program if the model has a gain model, else for its cluster's members. ``confidence`` is the
    probability that the mapping beats the default, None without a gain model and for the default itself. ``reads``
    is what was used in addition to the probes' times.
    """

    mapping: AnyMapping
    cluster: Cluster
    expected_speedup: ExpectedSpeedup
    ranked: tuple[RankedMapping, ...]
    confidence: float | None
    features: tuple[float, ...]
    distance: float
    ambiguity: float
    familiar: bool
    reads: Reads


def reading_of(measurement: Measurement, clock: Clock) -> ProbeReading:
    """Return the readings of a probe's measurement.

    Raises UnrunnableProgramError when the run failed, InsufficientDataError when it lacks the time of the model.
    """
    if measurement.status != "ok":
        why = measurement.message or measurement.status
        raise UnrunnableProgramError(
            f"probe run of {measurement.program} under {measurement.mapping} failed ({why}): nothing to predict"
        )
    time_s = time_by(clock, measurement)
    if time_s is None:
        raise InsufficientDataError(
            f"probe run of {measurement.program} under {measurement.mapping} gave no time in parallel regions, which "
            "this model was learned from: train a model on this machine"
        )
    counters = measurement.counters
    return ProbeReading(
        measurement.mapping,
        time_s,
        None if counters is None else counters.local_bandwidth_GBps,
        measurement.local_share,
        None if counters is None else counters.remote_bandwidth_GBps,
        None if counters is None else _home_share(counters),
        noise_of(measurement, clock),
        len(measurement.repetitions),
    )


def _home_share(counters: Counters) -> float | None:
    """Return the largest part that one node's cores have in all local accesses, None where there are none."""
    whole = counters.local_accesses
    return max(node.local_accesses for node in counters.nodes) / whole if whole > 0 else None


def predict(
    model: Model, readings: Sequence[ProbeReading], usable: Callable[[AnyMapping], bool] = lambda _mapping: True
) -> Prediction:
    """Return the prediction for a program whose probes read ``readings``, in any order.

    The best-ranked mapping of its cluster that is ``usable`` is chosen. InsufficientDataError when a probe's reading is
    missing or not a positive number.
    """
    gain_model = _gain_model_for(model, readings)
    row = np.array([_row(model, readings, gain_model)])
    members = [(member, cluster.id) for cluster in model.clusters for member in cluster.members]
    rows = np.array([member.features for member, _ in members])
    labels = np.array([cluster for _, cluster in members])
    features = scaled_features(model.scales, row)
    if np.isnan(features).any():  # no counters: only the ratio of the times selects the cluster
        features, rows = features[:, :1], rows[:, :1]
    distances = cluster_distances(model.rule, features, rows, labels)[0]
    cluster = model.clusters[int(distances.argmin())]
    ranked, confidence = cluster.ranked, None
    if gain_model is not None:
        ranked, confidences = _expected(model, gain_model, readings)
        confidence = next((confidences[each.mapping] for each in ranked if usable(each.mapping)), None)
    choice = next((each for each in ranked if usable(each.mapping)), None)
    if choice is None:
        raise NoModelError(f"none of the model's mappings can be applied on {model.machine}: choose another model")
    nearest, *others = sorted(distances)
    return Prediction(
        mapping=choice.mapping,
        cluster=cluster,
        expected_speedup=choice.expected_speedup,
        ranked=ranked,
        confidence=confidence,
        features=tuple(map(float, features[0])),
        distance=float(nearest),
        ambiguity=_ambiguity(float(nearest), float(others[0])) if others else 0.0,
        familiar=_is_familiar(features[0], rows),
        reads=_read_by(model) if gain_model is None else gain_model.extra_reading,
    )


def _gain_model_for(model: Model, readings: Sequence[ProbeReading]) -> GainModel | None:
    """Return the model's gain model, or the best of its fallbacks whose inputs the readings have."""
    known = [reading for reading in readings if reading.mapping in {probe.mapping for probe in model.probes}]
    for gain_model in (model.gain_model, *model.fallbacks):
        if gain_model is not None and None not in _extra_readings(gain_model, known):
            return gain_model
    return model.gain_model


def _extra_readings(gain_model: GainModel, readings: Sequence[ProbeReading]) -> list[float | None]:
    """Return what a gain model reads in addition to the times."""
    if gain_model.extra_reading == "share":
        return [reading.local_share for reading in readings]
    return [reading.local_bandwidth_GBps for reading in readings] if gain_model.extra_reading == "bandwidth" else []


def _read_by(model: Model) -> Reads:
    """Return what the clusters of a model without a gain model read."""
    return "times" if model.scales.kind == "times" else "bandwidth"


def _row(model: Model, readings: Sequence[ProbeReading], gain_model: GainModel | None) -> tuple[float, float, float]:
    """Return time at the first probe, time and local bandwidth at the second, or NaN where that is not needed.

    ``gain_model`` will choose the mapping: readings that it does not use may be missing.
    """
    by_mapping = {reading.mapping: reading for reading in readings}
    for probe in model.probes:
        reading = by_mapping.get(probe.mapping)
        if reading is None:
            raise InsufficientDataError(f"no reading of probe {probe.mapping}: run the program under it first")
        for name in probe.features:
            value = getattr(reading, name)
            if value is None and gain_model is not model.gain_model:
                continue
            if value is None:
                raise InsufficientDataError(
                    f"probe {probe.mapping} read no {name}: make counters readable (numapredict doctor says how), or "
                    "train a model here"
                )
            if not math.isfinite(value) or value < 0 or (name == "time_s" and value == 0):
                raise InsufficientDataError(f"probe {probe.mapping} read {name} = {value}: run it again")
    first, second = (by_mapping[probe.mapping] for probe in model.probes)
    bandwidth = second.local_bandwidth_GBps
    return first.time_s, second.time_s, math.nan if bandwidth is None else bandwidth


def _expected(
    model: Model, gain_model: GainModel, readings: Sequence[ProbeReading]
) -> tuple[tuple[RankedMapping, ...], dict[AnyMapping, float | None]]:
    """Return all mappings by their risk-adjusted gain, and the probability that each beats the default."""
    by_mapping = {reading.mapping: reading for reading in readings}
    first, second = (by_mapping[probe.mapping] for probe in model.probes)
    found = predict_gains(
        gain_model,
        (first.time_s, second.time_s),
        [value for value in _extra_readings(gain_model, (first, second)) if value is not None],
        (first.mapping, second.mapping),
        model.default,
        measured_noise(gain_model, (first, second)),
    )
    default = gain_model.mappings.index(model.default)
    confidences = {
        mapping: None if mapping == model.default else float(ndtr(gain / deviation))
        for mapping, gain, deviation in zip(
            gain_model.mappings, found.gain, np.maximum(found.deviation, 1e-9), strict=True
        )
    }
    return ranked_by(gain_model.mappings, found, gain_model.risk_weight, default), confidences


def measured_noise(gain_model: GainModel | None, readings: Sequence[ProbeReading]) -> float:
    """Return the deviation of the gain that the probes measured, in log2, from their repetitions and the training's."""
    learned = None if gain_model is None else gain_model.noise
    return noise_between([each.noise for each in readings], [each.runs for each in readings], learned)


def ranked_by(
    mappings: Sequence[AnyMapping], found: PredictedGains, risk_weight: float, default: int
) -> tuple[RankedMapping, ...]:
    """Return all mappings, the greatest risk-adjusted gain first, with their predicted gains after the same discount.

    None is predicted to give more than one that is ranked before it.
    """
    order = np.argsort(-risk_adjusted_gain(found.gain, found.deviation, risk_weight, default), kind="stable")
    said = discounted(found.gain, found.deviation, risk_weight, default)
    said[order] = np.minimum.accumulate(said[order])  # the default gains nothing, nor does what is ranked below it
    low, high = found.gain - NINE_IN_TEN * found.deviation, found.gain + NINE_IN_TEN * found.deviation
    return tuple(
        RankedMapping(mappings[at], _speedup(float(said[at]), float(low[at]), float(high[at]))) for at in order
    )


def _speedup(said: float, low: float, high: float) -> ExpectedSpeedup:
    """Return log2 gains as speedups: the stated one, and the ends of the 90% interval."""
    return ExpectedSpeedup(2**said, 2 ** min(said, low), 2**high)


def _ambiguity(nearest: float, second: float) -> float:
    """Return how close the second cluster is, from 0 to 1."""
    return nearest / second if second > 0 else 1.0


def _is_familiar(features: npt.NDArray[np.float64], rows: npt.NDArray[np.float64]) -> bool:
    """Return whether a program is as near to a training program as each of them is to its nearest neighbour."""
    between = np.linalg.norm(rows[:, None, :] - rows[None, :, :], axis=2)
    np.fill_diagonal(between, np.inf)
    usual = between.min(axis=1).max() if len(rows) > 1 else np.inf
    return bool(np.linalg.norm(rows - features, axis=1).min() <= usual)
