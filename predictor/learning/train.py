"""Learn a model from a dataset (thesis sec. 5 and 6)."""

import numpy as np

from numapredict.collect import space
from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import AnyMapping, Mapping
from numapredict.collect.terminal.progress import doing
from numapredict.collect.topology import Topology
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.learning.clustering import Array, Labels, centroid_members, cut, ward_linkage
from numapredict.predictor.learning.features import Observations, clustering_rows, gains_of, observe
from numapredict.predictor.learning.model import (
    Cluster,
    ExpectedSpeedup,
    Member,
    Merge,
    Model,
    RankedMapping,
    summarise,
)
from numapredict.predictor.learning.options import CLUSTERS, FeatureKind, TrainingOptions
from numapredict.predictor.learning.probes import learn_scales, probes_of, scaled_features
from numapredict.predictor.searching.known_gains import known_gains
from numapredict.predictor.searching.next_run import next_run


def train(dataset: Dataset, options: TrainingOptions | None = None) -> Model:
    """Return the model of a dataset's machine; InsufficientDataError if there is too little to learn from."""
    options = options or TrainingOptions()
    with doing(f"learning the clusters of {dataset.machine}"):
        return train_on(observe(dataset, default_of(dataset, options)), dataset, options)


def default_of(dataset: Dataset, options: TrainingOptions) -> AnyMapping:
    """Return the default mapping: the options', the dataset's, or what programs get there today."""
    found = options.default or dataset.default
    if found is None and dataset.topology is not None:
        found = space.default_mapping(dataset.topology)
    if found is None:
        raise InsufficientDataError(
            f"dataset of {dataset.machine} has no default mapping: name one with --default, here or when importing"
        )
    return found


def train_on(observations: Observations, dataset: Dataset, options: TrainingOptions) -> Model:
    """Return the model of these observations; only the machine is taken from the dataset."""
    default = observations.column(default_of(dataset, options))
    kind, (first, second) = _probes(observations, default, dataset.topology, options)
    readings = probe_readings(observations, first, second)
    scales = learn_scales(kind, readings)
    features = scaled_features(scales, readings)
    rows = features if kind == "thesis" else clustering_rows(observations.time_s, default, options.scale)
    tree = ward_linkage(rows)
    labels = cut(tree, options.n_clusters or min(CLUSTERS, len(rows)))
    centroids = centroid_members(rows, labels)
    inside = [np.flatnonzero(labels == cluster) for cluster in range(len(centroids))]
    return Model(
        machine=dataset.machine,
        modelled=dataset.modelled,
        topology=summarise(dataset.topology, dataset.machine),
        dataset_created=dataset.created,
        options=options,
        clock=observations.clock,
        default=observations.mappings[default],
        probes=probes_of(kind, first, second),
        scales=scales,
        programs=observations.names,
        dropped_programs=observations.dropped_programs,
        dropped_mappings=observations.dropped_mappings,
        linkage=tuple(Merge(int(a), int(b), float(d), int(n)) for a, b, d, n in tree),
        clusters=tuple(
            Cluster(
                id=cluster,
                members=_members(observations, default, inside[cluster], features),
                centroid=observations.names[centroids[cluster]],
                centre=tuple(map(float, features[inside[cluster]].mean(axis=0))),
                ranked=_ranked(observations, default, inside[cluster], observations.time_s[centroids[cluster]]),
            )
            for cluster in range(len(centroids))
        ),
    )


def _probes(
    observations: Observations, default: int, topology: Topology | None, options: TrainingOptions
) -> tuple[FeatureKind, tuple[AnyMapping, AnyMapping]]:
    """Return the kind of features and the two probes: the thesis's, if they were measured, or a search's first runs."""
    counted = observations.local_bandwidth_GBps is not None
    if options.method == "thesis":
        columns = measured_probes(observations, topology)
        if columns is not None:
            return "thesis", (observations.mappings[columns[0]], observations.mappings[columns[1]])
    second = second_probe(observations, default)
    return "ratio" if counted else "times", (observations.mappings[default], observations.mappings[second])


def second_probe(observations: Observations, default: int) -> int:
    """Return the column of the mapping that a search runs after the default, knowing these programs alone.

    InsufficientDataError if there is no other.
    """
    known = known_gains(gains_of(observations.time_s, default), observations.groups)
    found = next_run(known, [default], [0.0])
    if found is None:
        raise InsufficientDataError("two probes need at least two mappings measured for all programs: collect more")
    return found.column


def reference_probes(topology: Topology) -> tuple[Mapping, Mapping]:
    """Return fig. 29's two probes: run time is read at the first, local bandwidth at the second.

    On another machine than 4 x 8 cores they keep their meaning: half of all cores on all nodes, two full nodes.
    """
    nodes, node = len(topology.cpu_nodes), len(topology.cpu_nodes[0].cores)
    first = Mapping(topology.core_count // 2, nodes, "contiguous", nodes, "balance")
    second = Mapping(2 * node, 2, "contiguous", 2, "locality")
    return space.canonical(first, topology), space.canonical(second, topology)


def measured_probes(observations: Observations, topology: Topology | None) -> tuple[int, int] | None:
    """Return the columns of fig. 29's probes, or None where one was not measured or there are no counters."""
    if topology is None or len(topology.cpu_nodes) < 2 or observations.local_bandwidth_GBps is None:
        return None
    first, second = reference_probes(topology)
    if not {first, second} <= set(observations.mappings) or first == second:
        return None
    return observations.column(first), observations.column(second)


def probe_readings(observations: Observations, first: AnyMapping, second: AnyMapping) -> Array:
    """Return float64[programs, 3]: time at the first probe, time and local bandwidth (or NaN) at the second."""
    a, b = observations.column(first), observations.column(second)
    bandwidth = observations.local_bandwidth_GBps
    return np.column_stack(
        [
            observations.time_s[:, a],
            observations.time_s[:, b],
            np.full(len(observations.programs), np.nan) if bandwidth is None else bandwidth[:, b],
        ]
    )


def _members(observations: Observations, default: int, inside: Labels, features: Array) -> tuple[Member, ...]:
    best = observations.time_s.argmin(axis=1)
    return tuple(
        Member(
            name=observations.names[row],
            group=observations.groups[row],
            summary=observations.programs[row].summary,
            best=observations.mappings[best[row]],
            best_speedup=float(observations.time_s[row, default] / observations.time_s[row, best[row]]),
            features=tuple(map(float, features[row])),
        )
        for row in inside
    )


def _ranked(observations: Observations, default: int, inside: Labels, cost: Array) -> tuple[RankedMapping, ...]:
    """Return all mappings, cheapest first, with the speedups that the members got from each."""
    speedups = observations.time_s[inside][:, [default]] / observations.time_s[inside]
    median, low, high = np.median(speedups, axis=0), speedups.min(axis=0), speedups.max(axis=0)
    return tuple(
        RankedMapping(
            observations.mappings[column],
            ExpectedSpeedup(float(median[column]), float(low[column]), float(high[column])),
        )
        for column in np.argsort(cost, kind="stable")
    )
