"""Learn a model from a dataset (thesis sec. 5 and 6)."""

import msgspec
import numpy as np

from numapredict.collect import space
from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.terminal.progress import Count, counting
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.learning.clustering import Array, Labels, centroid_members, cut, ward_linkage
from numapredict.predictor.learning.features import Observations, clustering_rows, observe
from numapredict.predictor.learning.gain_model import GainModel
from numapredict.predictor.learning.model import (
    Cluster,
    ExpectedSpeedup,
    Member,
    Merge,
    Model,
    RankedMapping,
    summarise,
)
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.probe_search import learn_gain_model, search_probes
from numapredict.predictor.learning.probes import (
    BANDWIDTH,
    SHARE,
    TIME,
    Probe,
    learn_scales,
    probes_of,
    scaled_features,
)
from numapredict.predictor.learning.selection import Choice, mapping_costs, select

_STEPS = 5
"""Steps of a training with gain models, the usual one: probes, clusters, and up to three gain models."""


def train(dataset: Dataset, options: TrainingOptions | None = None) -> Model:
    """Return the model of a dataset's machine; InsufficientDataError if there is too little to learn from."""
    options = options or TrainingOptions()
    with counting(_STEPS, "steps of learning") as count:
        return train_on(observe(dataset, default_of(dataset, options)), dataset, options, count)


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


def train_on(
    observations: Observations,
    dataset: Dataset,
    options: TrainingOptions,
    count: Count | None = None,
) -> Model:
    """Return the model of these observations; only the machine is taken from the dataset."""
    count = count or Count(_STEPS, "steps of learning")
    default = observations.column(default_of(dataset, options))
    gain_model: GainModel | None = None
    fallbacks: tuple[GainModel, ...] = ()
    if options.method == "expectation" and len(set(observations.groups)) > 1:  # else its error cannot be estimated
        candidates = tuple(observations.column(each) for each in dict.fromkeys(options.probe_candidates))
        pair = search_probes(observations, default, candidates)
        count.step()
        probes = (observations.mappings[pair.first], observations.mappings[pair.second])
        # The cluster is the explanation: it is chosen for these probes.
        clusters = options.n_clusters or min(options.max_clusters, len(observations.programs))
        fixed = msgspec.structs.replace(options, probe_candidates=probes, n_clusters=clusters)
        choice = select(observations, default, fixed)
        count.step()
        columns = (observations.column(choice.first), observations.column(choice.second))
        learned = []
        for reads in observations.reads:
            learned.append(learn_gain_model(observations, default, columns, reads))
            count.step()
        gain_model, *others = learned
        fallbacks = tuple(others)
    else:
        choice = select(observations, default, options)
    rows = clustering_rows(observations.time_s, default, options.scale)
    tree = ward_linkage(rows)
    labels = cut(tree, choice.n_clusters)
    centroids = centroid_members(rows, labels)
    inside = [np.flatnonzero(labels == cluster) for cluster in range(len(centroids))]
    readings = probe_readings(observations, choice.first, choice.second)
    scales = learn_scales(choice.kind, readings)
    features = scaled_features(scales, readings)
    costs = mapping_costs(observations.time_s, default, rows, labels, options.ranking)
    return Model(
        machine=dataset.machine,
        modelled=dataset.modelled,
        topology=summarise(dataset.topology, dataset.machine),
        dataset_created=dataset.created,
        options=options,
        clock=observations.clock,
        default=observations.mappings[default],
        probes=_probes(choice, gain_model),
        scales=scales,
        rule=choice.rule,
        selection_speedup=choice.speedup,
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
                ranked=_ranked(observations, default, inside[cluster], costs[cluster]),
            )
            for cluster in range(len(centroids))
        ),
        gain_model=gain_model,
        fallbacks=fallbacks,
    )


def _probes(choice: Choice, gain_model: GainModel | None) -> tuple[Probe, Probe]:
    if gain_model is None or gain_model.extra_reading == "times":
        return probes_of(choice.kind, choice.first, choice.second)
    read = (TIME, BANDWIDTH if gain_model.extra_reading == "bandwidth" else SHARE)
    return Probe(choice.first, read), Probe(choice.second, read)


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
