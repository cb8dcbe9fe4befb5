"""The thesis's estimators unchanged (Stupnikova, sec. 5 and 6), as references for our own.

Programs are clustered by Ward's method on one of its feature sets; each cluster's centroid is the member closest to the
mean of the cluster's vectors, and the centroid's fastest mapping is the prediction for all members (sec. 6).

- ``times``: run times over those of a default mapping (sec. 5.1), one of three: 16 threads on two nodes, contiguous,
  with locality; 8 threads on one node; 8 threads on one node with all pages on another (figs. 26 and 27).
- ``local_accesses``, ``remote_accesses``, ``local_bandwidth_GBps``, ``remote_bandwidth_GBps``: the average over nodes
  under every mapping, each divided by the largest of any program (fig. 28).
- ``two_probes``: the run time at 16x4-contiguous-balance and the local bandwidth at 16x2-contiguous-locality, each
  divided by the largest of any program (fig. 29). Only this one can assign a program that was not clustered.

On another machine than 4 x 8 cores the mappings keep their meaning: one full node, two full nodes, half of all cores
on all nodes.
"""

from collections.abc import Sequence
from typing import Literal, get_args

import msgspec
import numpy as np
import numpy.typing as npt

from numapredict.collect import space
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.topology import Topology
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.learning.clustering import Array, Labels, centroid_members, cut, ward_linkage
from numapredict.predictor.learning.features import Observations, normalise_across_programs, normalise_by_default
from numapredict.predictor.learning.train import measured_probes

FeatureSet = Literal[
    "times", "local_accesses", "remote_accesses", "local_bandwidth_GBps", "remote_bandwidth_GBps", "two_probes"
]
FEATURE_SETS: tuple[FeatureSet, ...] = get_args(FeatureSet)


class SweepPoint(msgspec.Struct, frozen=True, kw_only=True):
    """The speedups over the default of the centroids' mappings, in sample, for a number of clusters."""

    clusters: int
    speedup_arithmetic: float
    speedup_geometric: float


class Sweep(msgspec.Struct, frozen=True, kw_only=True):
    """One curve of figs. 26 to 29."""

    features: FeatureSet
    default: AnyMapping
    points: tuple[SweepPoint, ...]


def reference_defaults(topology: Topology) -> tuple[Mapping, ...]:
    """Return the three default mappings of sec. 5.1 that fit a topology, in the thesis's order."""
    node = len(topology.cpu_nodes[0].cores)
    wanted = (
        Mapping(node, 1, "contiguous", 1, "bind"),
        Mapping(2 * node, 2, "contiguous", 2, "locality"),
        Mapping(node, 1, "contiguous", 1, "remote"),
    )
    return tuple(space.canonical(mapping, topology) for mapping in wanted if space.fits(mapping, topology))


def feature_rows(
    features: FeatureSet, observations: Observations, default: int, probes: tuple[int, int] | None = None
) -> Array:
    """Return the vectors that are clustered, float64[programs, features]; InsufficientDataError without counters."""
    if features == "times":
        return normalise_by_default(observations.time_s, default)
    if features == "two_probes":
        local = _counted("local_bandwidth_GBps", observations)
        if probes is None:
            raise InsufficientDataError("two_probes needs the columns of its probes")
        return normalise_across_programs(np.column_stack([observations.time_s[:, probes[0]], local[:, probes[1]]]))
    return normalise_across_programs(_counted(features, observations))


def centroid_columns(time_s: Array, rows: Array, labels: Labels) -> npt.NDArray[np.int64]:
    """Return the fastest mapping of each cluster's centroid, int64[clusters]."""
    best: npt.NDArray[np.int64] = time_s[centroid_members(rows, labels)].argmin(axis=1).astype(np.int64)
    return best


def sweep(
    features: FeatureSet,
    observations: Observations,
    default: int,
    probes: tuple[int, int] | None = None,
    counts: Sequence[int] = (),
) -> Sweep:
    """Return the speedups in sample with 1, 2, ... clusters, or with the given numbers (figs. 26 to 29)."""
    rows = feature_rows(features, observations, default, probes)
    tree = ward_linkage(rows)
    time_s, points = observations.time_s, []
    for count in counts or range(1, len(rows) + 1):
        labels = cut(tree, count)
        chosen = centroid_columns(time_s, rows, labels)[labels]
        speedup = time_s[:, default] / time_s[np.arange(len(rows)), chosen]
        points.append(
            SweepPoint(
                clusters=count,
                speedup_arithmetic=float(speedup.mean()),
                speedup_geometric=float(np.exp(np.log(speedup).mean())),
            )
        )
    return Sweep(features=features, default=observations.mappings[default], points=tuple(points))


def sweeps_of(observations: Observations, topology: Topology) -> tuple[Sweep, ...]:
    """Return the curves of figs. 26 to 29 for one dataset; those whose mappings were not measured are left out."""
    found = [
        sweep("times", observations, observations.column(mapping))
        for mapping in reference_defaults(topology)
        if mapping in observations.mappings
    ]
    mains = (*reference_defaults(topology)[1:2], space.default_mapping(topology))
    main = next((mapping for mapping in mains if mapping in observations.mappings), None)
    for features in FEATURE_SETS[1:]:
        probes = measured_probes(observations, topology)
        if main is not None and observations.counters and (features != "two_probes" or probes):
            found.append(sweep(features, observations, observations.column(main), probes))
    return tuple(found)


def _counted(features: str, observations: Observations) -> Array:
    counted = observations.counters.get(features)
    if counted is None:
        raise InsufficientDataError(f"clustering on {features} needs counters in every run: collect with counters")
    return counted
