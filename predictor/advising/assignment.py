"""Assigns a program to a cluster of known programs by its two probe runs (thesis sec. 6)."""

import math
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from numapredict.collect.mapping import AnyMapping
from numapredict.collect.measurement import Counters, Measurement
from numapredict.predictor.learning.features import time_by
from numapredict.predictor.learning.model import Cluster, Model
from numapredict.predictor.learning.options import Clock
from numapredict.predictor.learning.probes import cluster_distances, scaled_features


class ProbeReading(msgspec.Struct, frozen=True):
    """The readings of one run; bandwidths are None without counters, as is the share if it was not sampled.

    ``home_share`` is the largest part that one node's cores have in all local accesses, None if there are none.
    """

    mapping: AnyMapping
    time_s: float
    local_bandwidth_GBps: float | None = None
    local_share: float | None = None
    remote_bandwidth_GBps: float | None = None
    home_share: float | None = None


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster whose programs react most like the new one.

    ``distance`` is to that cluster in scaled features. ``ambiguity`` is that distance over the one to the next cluster:
    0 is clear, 1 a toss-up. ``familiar`` is false when the program lies farther from every training program than any
    of them lies from its nearest neighbour.
    """

    cluster: Cluster
    distance: float
    ambiguity: float
    familiar: bool


def reading_of(measurement: Measurement, clock: Clock) -> ProbeReading | None:
    """Return the readings of a run; None of one that failed, or that lacks a time by the clock."""
    time_s = time_by(clock, measurement) if measurement.status == "ok" else None
    if time_s is None or not 0 < time_s < math.inf:
        return None
    counters = measurement.counters
    return ProbeReading(
        measurement.mapping,
        time_s,
        None if counters is None else counters.local_bandwidth_GBps,
        measurement.local_share,
        None if counters is None else counters.remote_bandwidth_GBps,
        None if counters is None else _home_share(counters),
    )


def _home_share(counters: Counters) -> float | None:
    """Return the largest part that one node's cores have in all local accesses, None where there are none."""
    whole = counters.local_accesses
    return max(node.local_accesses for node in counters.nodes) / whole if whole > 0 else None


def assign(model: Model, readings: Sequence[ProbeReading]) -> Assignment | None:
    """Return the cluster of a program by the readings of the model's probes; None where one of them was not run.

    Without counters, the ratio of the times alone decides.
    """
    by_mapping = {reading.mapping: reading for reading in readings}
    first, second = (by_mapping.get(probe.mapping) for probe in model.probes)
    if first is None or second is None:
        return None
    bandwidth = math.nan if second.local_bandwidth_GBps is None else second.local_bandwidth_GBps
    members = [(member, cluster.id) for cluster in model.clusters for member in cluster.members]
    rows = np.array([member.features for member, _ in members])
    features = scaled_features(model.scales, np.array([[first.time_s, second.time_s, bandwidth]]))
    if np.isnan(features).any():
        features, rows = features[:, :1], rows[:, :1]
    distances = cluster_distances(features, rows, np.array([cluster for _, cluster in members]))[0]
    nearest, *others = sorted(map(float, distances))
    return Assignment(
        cluster=model.clusters[int(distances.argmin())],
        distance=nearest,
        ambiguity=_ambiguity(nearest, others[0]) if others else 0.0,
        familiar=_is_familiar(features[0], rows),
    )


def _ambiguity(nearest: float, second: float) -> float:
    """Return how close the second cluster is, from 0 to 1."""
    return nearest / second if second > 0 else 1.0


def _is_familiar(features: npt.NDArray[np.float64], rows: npt.NDArray[np.float64]) -> bool:
    """Return whether a program is as near to a training program as each of them is to its nearest neighbour."""
    between = np.linalg.norm(rows[:, None, :] - rows[None, :, :], axis=2)
    np.fill_diagonal(between, np.inf)
    usual = between.min(axis=1).max() if len(rows) > 1 else np.inf
    return bool(np.linalg.norm(rows - features, axis=1).min() <= usual)
