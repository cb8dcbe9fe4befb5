"""Two probe runs assign a new program to a cluster (thesis sec. 6, fig. 29).

Three kinds of features can be made of the two runs:

- ``thesis``: the run time at the first probe and the local bandwidth at the second, each divided by its largest
  value over the training programs. A raw run time also says how big the problem is.
- ``ratio``: log2(time at the first / time at the second) and log2(local bandwidth at the second), each divided by its
  standard deviation over the training programs: neither changes when a program merely runs longer.
- ``times``: the first of these only, for machines without bandwidth counters.
"""

import msgspec
import numpy as np
import numpy.typing as npt

from numapredict.collect.mapping import AnyMapping
from numapredict.predictor.learning.features import Observations
from numapredict.predictor.learning.options import FeatureKind

Array = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

FLOOR_SHARE = 0.01
"""A local bandwidth below this share of the largest counts as this share: 0 has no logarithm."""

MIN_DEVIATION = 0.05
"""The least standard deviation divided by, in log2 (3.5%): smaller differences between programs are noise."""


class Probe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One mapping to run a new program under, and the features read from that run."""

    mapping: AnyMapping
    features: tuple[str, ...]


class Scales(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How readings become features: the kind, one divisor per feature, and the lowest bandwidth distinguished."""

    kind: FeatureKind
    divisors: tuple[float, ...]
    floor_GBps: float

    def __post_init__(self) -> None:
        """Raise ValueError for divisors that give no finite features."""
        if len(self.divisors) != (1 if self.kind == "times" else 2):
            raise ValueError(f"{self.kind} features need another number of divisors than {len(self.divisors)}")
        if min(*self.divisors, self.floor_GBps) <= 0:
            raise ValueError("divisors and floor must be positive")


def probes_of(kind: FeatureKind, first: AnyMapping, second: AnyMapping) -> tuple[Probe, Probe]:
    """Return the two probes that this kind of features needs."""
    at_second = {"thesis": (BANDWIDTH,), "ratio": (TIME, BANDWIDTH), "times": (TIME,)}[kind]
    return Probe(first, (TIME,)), Probe(second, at_second)


TIME = "time_s"
BANDWIDTH = "local_bandwidth_GBps"


def learn_scales(kind: FeatureKind, readings: Array) -> Scales:
    """Return the scales of training readings float64[n, 3]: first time, second time, second local bandwidth."""
    floor = 1.0 if kind == "times" else bandwidth_floor(readings[:, 2])
    raw = _raw(kind, readings, float(floor))
    spread = raw.max(axis=0) if kind == "thesis" else np.maximum(raw.std(axis=0), MIN_DEVIATION)
    return Scales(kind=kind, divisors=tuple(float(d) if d > 0 else 1.0 for d in spread), floor_GBps=float(floor))


def bandwidth_floor(bandwidth_GBps: Array) -> Array:
    """Return the lowest bandwidth distinguished in GB/s, over the first axis; 1 if no program has any."""
    largest = bandwidth_GBps.max(axis=0)
    floor: Array = np.where(largest > 0, largest * FLOOR_SHARE, 1.0)
    return floor


def scaled_features(scales: Scales, readings: Array) -> Array:
    """Return float64[n, d]: the features of readings float64[n, 3] on the scales."""
    features: Array = _raw(scales.kind, readings, scales.floor_GBps) / np.asarray(scales.divisors)
    return features


def _raw(kind: FeatureKind, readings: Array, floor: float) -> Array:
    if kind == "thesis":
        return readings[:, [0, 2]]
    ratio = np.log2(readings[:, 0] / readings[:, 1])
    if kind == "times":
        return ratio[:, None]
    return np.column_stack([ratio, np.log2(np.maximum(readings[:, 2], floor))])


def cluster_distances(features: Array, rows: Array, labels: Labels) -> Array:
    """Return float64[n, k]: how far each feature row is from the mean of every cluster's training rows."""
    targets = np.array([rows[labels == cluster].mean(axis=0) for cluster in range(int(labels.max()) + 1)])
    distances: Array = np.linalg.norm(features[:, None, :] - targets[None, :, :], axis=2)
    return distances


def readings_at(observations: Observations, pair: tuple[int, int], floors: Array | None = None) -> tuple[Array, Array]:
    """Return what two runs read, float64[programs, 1 or 3], scale-free, and the floors of the bandwidths in it.

    That is log2 of the ratio of the times, and the local bandwidths in log2, or without counters the shares of local
    accesses. ``floors`` are those of other programs, learned from these if not given.
    """
    columns = list(pair)
    ratio = np.log2(observations.time_s[:, columns[:1]]) - np.log2(observations.time_s[:, columns[1:]])
    if observations.local_bandwidth_GBps is not None:
        local = observations.local_bandwidth_GBps[:, columns]
        floors = bandwidth_floor(local) if floors is None else floors
        return np.hstack([ratio, np.log2(np.maximum(local, floors))]), floors
    if observations.local_share is not None:
        ratio = np.hstack([ratio, observations.local_share[:, columns]])
    return ratio, np.empty(0)
