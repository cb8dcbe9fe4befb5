"""One fold of an evaluation: a group of programs held out, and clusters and learners of the others alone."""

from dataclasses import dataclass

import msgspec
import numpy as np

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import AnyMapping
from numapredict.predictor.advising.assignment import ProbeReading, assign
from numapredict.predictor.evaluation.calibration import Forecast
from numapredict.predictor.evaluation.ml_baselines import ml_baseline_orders
from numapredict.predictor.evaluation.strategy import Strategy
from numapredict.predictor.learning.features import Observations, gains_of
from numapredict.predictor.learning.model import Cluster, Model
from numapredict.predictor.learning.options import THESIS
from numapredict.predictor.learning.train import second_probe, train_on


class HeldOut(msgspec.Struct, frozen=True, kw_only=True):
    """One program and what was chosen for it without its group; speedups are over the default.

    ``cluster`` is the centroid of the thesis's cluster. ``baselines`` holds the speedups of other ways of choosing.
    ``after_runs`` holds the speedups of the best of the first 1, 2, 3 ... runs of a search, ``cost_after_runs`` the
    time of these runs over the default's, and ``forecasts`` what was expected of each run after the first.
    """

    program: str
    group: str
    mapping: AnyMapping
    speedup: float
    oracle_mapping: AnyMapping
    oracle_speedup: float
    regret: float
    gain_captured: float | None
    cluster: str
    baselines: dict[str, float] = {}
    after_runs: tuple[float, ...] = ()
    cost_after_runs: tuple[float, ...] = ()
    forecasts: tuple[Forecast, ...] = ()


@dataclass(frozen=True)
class Clustered:
    """What the thesis's method chooses for a program: its probes and the mapping, by column, and its cluster."""

    probes: tuple[int, int]
    column: int
    centroid: str


@dataclass(frozen=True)
class Fold:
    """The held-out programs: what the thesis's method chooses for each, and the log2 gains of other learners' choices.

    ``forest_runs``: the columns that a search would run which knows the forest alone, by program: the default, the
    other probe, and then the forest's mappings, the best expected first.
    """

    clustered: dict[str, Clustered]
    ml_baselines: dict[str, dict[str, float]]
    forest_runs: dict[str, tuple[int, ...]]


def evaluate_group(observations: Observations, frame: Dataset, default: AnyMapping, group: str) -> Fold:
    """Train without one group and return its programs' results."""
    outside = [row for row, name in enumerate(observations.groups) if name == group]
    inside = [row for row, name in enumerate(observations.groups) if name != group]
    train, test = observations.rows(inside), observations.rows(outside)
    column = observations.column(default)
    probes = (column, second_probe(train, column))
    orders = ml_baseline_orders(train, test, column, probes)
    gains = gains_of(test.time_s, column)
    return Fold(
        clustered=_clustered(train_on(train, frame, THESIS.with_default(default)), test),
        ml_baselines={
            name: dict(zip(test.names, map(float, gains[np.arange(len(gains)), order[:, 0]]), strict=True))
            for name, order in orders.items()
        },
        forest_runs={
            name: tuple(dict.fromkeys((*probes, *order)))
            for name, order in zip(test.names, orders[Strategy.FOREST].tolist(), strict=True)
        },
    )


def dataset_frame(dataset: Dataset) -> Dataset:
    """Return the dataset without its measurements: all that a fold needs, and small to send to another process."""
    return msgspec.structs.replace(dataset, programs=(), measurements=())


def assigned_row(model: Model, observations: Observations, row: int) -> Cluster:
    """Return the cluster of one row of observations, read at the model's probes only."""
    local = observations.local_bandwidth_GBps
    readings = [
        ProbeReading(
            probe.mapping,
            float(observations.time_s[row, column]),
            None if local is None else float(local[row, column]),
        )
        for probe in model.probes
        for column in [observations.column(probe.mapping)]
    ]
    found = assign(model, readings)
    assert found is not None  # noqa: S101 - both probes are there
    return found.cluster


def _clustered(model: Model, test: Observations) -> dict[str, Clustered]:
    first, second = (test.column(probe.mapping) for probe in model.probes)
    found = {}
    for row, name in enumerate(test.names):
        cluster = assigned_row(model, test, row)
        found[name] = Clustered((first, second), test.column(cluster.ranked[0].mapping), cluster.centroid)
    return found
