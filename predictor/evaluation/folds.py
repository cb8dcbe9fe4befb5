"""One fold of an evaluation: a group of programs held out, and everything else done with the others alone."""

import math
from dataclasses import dataclass

import msgspec
import numpy as np

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import AnyMapping
from numapredict.predictor.advising.predict import Prediction, ProbeReading, predict
from numapredict.predictor.evaluation.ml_baselines import Choice, ml_baseline_orders
from numapredict.predictor.evaluation.strategy import Strategy
from numapredict.predictor.evaluation.thesis import recipe_choices
from numapredict.predictor.learning.features import Observations, gains_of
from numapredict.predictor.learning.model import ExpectedSpeedup, Model
from numapredict.predictor.learning.options import Reads, TrainingOptions
from numapredict.predictor.learning.scores import gain_captured
from numapredict.predictor.learning.train import train_on

WITHOUT_COUNTERS: dict[Reads, str] = {
    "share": Strategy.SHARE,
    "times": Strategy.TIMES,
}
"""The name of our choice when made without counters."""


class HeldOut(msgspec.Struct, frozen=True, kw_only=True):
    """One program and what the model trained without its group chose for it; speedups are over the default.

    ``confidence`` is the model's probability that its choice beats the default. ``baselines`` holds the speedups of
    other ways of choosing. ``after_runs`` holds the speedups of the best of the first 1, 2, 3 ... runs of a search, and
    ``cost_after_runs`` the time of these runs over the default's.
    """

    program: str
    group: str
    mapping: AnyMapping
    speedup: float
    expected_speedup: ExpectedSpeedup
    confidence: float | None
    oracle_mapping: AnyMapping
    oracle_speedup: float
    regret: float
    gain_captured: float | None
    probes: tuple[AnyMapping, AnyMapping]
    features: str
    n_clusters: int
    cluster: str
    ambiguity: float
    familiar: bool
    baselines: dict[str, float] = {}
    after_runs: tuple[float, ...] = ()
    cost_after_runs: tuple[float, ...] = ()


@dataclass(frozen=True)
class Fold:
    """The held-out programs, and the log2 gains that other learners' choices give them, by learner and program.

    ``forest_runs``: the columns that a search would run which knows the forest alone, by program: the default, the
    other probe, and then the forest's mappings, the best expected first.
    """

    held: tuple[HeldOut, ...]
    ml_baselines: dict[str, dict[str, float]]
    forest_runs: dict[str, tuple[int, ...]]


def evaluate_group(
    observations: Observations,
    frame: Dataset,
    options: TrainingOptions,
    recipe: tuple[int, int] | None,
    group: str,
) -> Fold:
    """Train without one group and return its programs' results.

    ``recipe``: the columns of the thesis's two probes, if they were measured.
    """
    outside = [row for row, name in enumerate(observations.groups) if name == group]
    inside = [row for row, name in enumerate(observations.groups) if name != group]
    train, test = observations.rows(inside), observations.rows(outside)
    model = train_on(train, frame, options)
    default = observations.column(model.default)
    probes = (observations.column(model.probes[0].mapping), observations.column(model.probes[1].mapping))
    orders = ml_baseline_orders(train, test, default, probes)
    chosen = {name: order[:, 0] for name, order in orders.items()}
    chosen |= choices_without_counters(model, test)
    if recipe is not None:
        chosen[Strategy.THESIS] = recipe_choices(train, test, recipe)
    gains = gains_of(test.time_s, default)
    return Fold(
        held=tuple(_fare(test, row, model) for row in range(len(outside))),
        ml_baselines={
            name: dict(zip(test.names, map(float, gains[np.arange(len(gains)), columns]), strict=True))
            for name, columns in chosen.items()
        },
        forest_runs={
            name: tuple(dict.fromkeys((default, *probes, *order)))
            for name, order in zip(test.names, orders[Strategy.FOREST].tolist(), strict=True)
        },
    )


def dataset_frame(dataset: Dataset) -> Dataset:
    """Return the dataset without its measurements: all that a fold needs, and small to send to another process."""
    return msgspec.structs.replace(dataset, programs=(), measurements=())


def predict_row(model: Model, observations: Observations, row: int, reads: Reads | None = None) -> Prediction:
    """Return the prediction for one row of observations, read at the model's probes only.

    ``reads`` limits what is read in addition to the times, as on a machine without counters.
    """
    available = {"bandwidth": observations.local_bandwidth_GBps, "share": observations.local_share}
    if reads is not None:
        available = {name: values if name == reads else None for name, values in available.items()}
    readings: list[ProbeReading] = []
    for probe in model.probes:
        column = observations.column(probe.mapping)
        bandwidth, share = (None if values is None else float(values[row, column]) for values in available.values())
        noise = math.nan if observations.noise is None else float(observations.noise[row, column])
        readings.append(
            ProbeReading(
                probe.mapping,
                float(observations.time_s[row, column]),
                bandwidth,
                share,
                noise=None if math.isnan(noise) else noise,
                runs=observations.runs,
            )
        )
    return predict(model, readings)


def choices_without_counters(model: Model, test: Observations) -> dict[str, Choice]:
    """Return the column that the same model chooses for each program where its probes read less, int64[programs]."""
    found = {}
    for reads in (fallback.extra_reading for fallback in model.fallbacks):
        chosen = [predict_row(model, test, row, reads).mapping for row in range(len(test.programs))]
        found[WITHOUT_COUNTERS[reads]] = np.array(list(map(test.column, chosen)), dtype=np.int64)
    return found


def _fare(observations: Observations, row: int, model: Model) -> HeldOut:
    """Predict one program from its probe runs alone and compare with its best mapping."""
    prediction = predict_row(model, observations, row)
    time_s = observations.time_s[row]
    default_s = time_s[observations.column(model.default)]
    chosen_s, best_s = time_s[observations.column(prediction.mapping)], time_s.min()
    return HeldOut(
        program=observations.names[row],
        group=observations.groups[row],
        mapping=prediction.mapping,
        speedup=float(default_s / chosen_s),
        expected_speedup=prediction.expected_speedup,
        confidence=prediction.confidence,
        oracle_mapping=observations.mappings[int(time_s.argmin())],
        oracle_speedup=float(default_s / best_s),
        regret=float(chosen_s / best_s - 1),
        gain_captured=gain_captured(float(default_s / chosen_s), float(default_s / best_s)),
        probes=(model.probes[0].mapping, model.probes[1].mapping),
        features=model.scales.kind,
        n_clusters=len(model.clusters),
        cluster=prediction.cluster.centroid,
        ambiguity=prediction.ambiguity,
        familiar=prediction.familiar,
    )
