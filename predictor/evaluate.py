"""Say how good predictions are for programs that the model has never seen.

Every group of programs is held out in turn. The whole training (clusters, probes, features, scales) happens on the
others, and the held-out programs are then predicted from their probe runs exactly as a user's program would be.
"""

import joblib
import msgspec

from numapredict.collect.dataset import Dataset
from numapredict.predictor.baselines import Baseline, baselines_of
from numapredict.predictor.features import InsufficientDataError, Observations, observe
from numapredict.predictor.model import ExpectedSpeedup, Model
from numapredict.predictor.options import TrainingOptions
from numapredict.predictor.predict import Prediction, ProbeReading, predict
from numapredict.predictor.scores import Summary, gain_captured, summarise_speedups
from numapredict.predictor.train import default_label, train_on


class HeldOut(msgspec.Struct, frozen=True, kw_only=True):
    """One program and what the model trained without its group chose for it; speedups are over the default."""

    program: str
    group: str
    mapping: str
    speedup: float
    expected_speedup: ExpectedSpeedup
    oracle_mapping: str
    oracle_speedup: float
    regret: float
    gain_captured: float | None
    probes: tuple[str, str]
    features: str
    n_clusters: int
    ambiguity: float
    familiar: bool


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """All held-out programs of a dataset, their summary, and what simpler choices would have given."""

    machine: str
    modelled: bool
    default: str
    mappings: int
    options: TrainingOptions
    programs: tuple[HeldOut, ...]
    summary: Summary
    baselines: tuple[Baseline, ...]
    dropped_programs: tuple[str, ...]
    dropped_mappings: tuple[str, ...]


def evaluate_held_out(dataset: Dataset, options: TrainingOptions | None = None, jobs: int = 1) -> Evaluation:
    """Return how every program fares when its group is left out of the training; ``jobs`` folds run at a time.

    InsufficientDataError when there are fewer than two groups.
    """
    options = options or TrainingOptions()
    label = default_label(dataset, options)
    observations = observe(dataset, label)
    default = observations.column(label)
    names = tuple(dict.fromkeys(observations.groups))
    if len(names) < 2:
        raise InsufficientDataError(
            f"dataset of {dataset.machine} has {len(names)} group of programs: holding one out needs at least two"
        )
    folds = joblib.Parallel(n_jobs=jobs)(
        joblib.delayed(evaluate_group)(observations, dataset_frame(dataset), options, name) for name in names
    )
    by_program = {held.program: held for fold in folds for held in fold}
    programs = tuple(by_program[name] for name in observations.names)
    oracle = observations.time_s[:, default] / observations.time_s.min(axis=1)
    return Evaluation(
        machine=dataset.machine,
        modelled=dataset.modelled,
        default=label,
        mappings=len(observations.labels),
        options=options,
        programs=programs,
        summary=summarise_speedups([held.speedup for held in programs], list(oracle)),
        baselines=baselines_of(observations, default, dataset.topology),
        dropped_programs=observations.dropped_programs,
        dropped_mappings=observations.dropped_labels,
    )


def dataset_frame(dataset: Dataset) -> Dataset:
    """Return the dataset without its measurements: what a fold needs of it, and little to send to another process."""
    return msgspec.structs.replace(dataset, programs=(), measurements=())


def evaluate_group(
    observations: Observations, frame: Dataset, options: TrainingOptions, group: str
) -> tuple[HeldOut, ...]:
    """Train without one group and return how its programs fare."""
    outside = [row for row, name in enumerate(observations.groups) if name == group]
    inside = [row for row, name in enumerate(observations.groups) if name != group]
    model = train_on(observations.rows(inside), frame, options)
    return tuple(_fare(observations, row, model) for row in outside)


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
        oracle_mapping=observations.labels[int(time_s.argmin())],
        oracle_speedup=float(default_s / best_s),
        regret=float(chosen_s / best_s - 1),
        gain_captured=gain_captured(float(default_s / chosen_s), float(default_s / best_s)),
        probes=(model.probes[0].mapping, model.probes[1].mapping),
        features=model.scales.kind,
        n_clusters=len(model.clusters),
        ambiguity=prediction.ambiguity,
        familiar=prediction.familiar,
    )


def predict_row(model: Model, observations: Observations, row: int) -> Prediction:
    """Return the prediction for one row of observations, read at the model's probes only."""
    readings = []
    for probe in model.probes:
        column = observations.column(probe.mapping)
        bandwidth = observations.local_bandwidth_GBps
        readings.append(
            ProbeReading(
                probe.mapping,
                float(observations.time_s[row, column]),
                None if bandwidth is None else float(bandwidth[row, column]),
            )
        )
    return predict(model, readings)
