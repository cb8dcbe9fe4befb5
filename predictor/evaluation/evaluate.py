"""Measures how good answers are for programs outside the training data.

Every group of programs is held out in turn. A search for its programs knows only the others, and so do clusters,
probes, and the simpler ways of choosing that are evaluated in the same folds.
"""

import warnings
from collections.abc import Callable, Generator, Sequence

import joblib
import msgspec
import numpy as np

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.outliers import Outlier
from numapredict.collect.data.similar_programs import Pair
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.terminal.progress import follow
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.evaluation.baselines import baselines_of
from numapredict.predictor.evaluation.calibration import Calibration, calibration_of
from numapredict.predictor.evaluation.folds import Fold, HeldOut, dataset_frame, evaluate_group
from numapredict.predictor.evaluation.processes import in_processes
from numapredict.predictor.evaluation.search_curve import (
    ANSWERED,
    AfterRuns,
    Sources,
    Trials,
    after_runs,
    forecasts,
    in_order,
    knowledge,
    neighbours_run,
    over_all,
    own_knowledge,
    portfolio_run,
    random_search,
    searched,
    space_of,
)
from numapredict.predictor.evaluation.strategy import Strategy
from numapredict.predictor.evaluation.transfer import Transfer
from numapredict.predictor.learning.features import gains_of, observe
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.scores import Score, gain_captured, score_of
from numapredict.predictor.learning.train import default_of


class Evaluation(Score, frozen=True, kw_only=True):
    """The score of all held-out programs of one dataset, and of what simpler choices would have given, by name.

    ``outliers`` were left out of its times; ``similar`` programs (in files ``sisters``) may be one code base and
    yet are in no group. ``by_runs``: what a search gives after more and more runs, ``by_runs_of`` the same of other
    ways to choose them; two of these are advised, not the best that ran: the fixed mapping, instead of a run of the
    default, and the thesis's recipe, after its two probes. ``calibration`` is of the search's further runs.
    ``without_machine``: it knew only other machines.
    """

    machine: str
    modelled: bool
    default: AnyMapping
    mappings: int
    groups: int
    options: TrainingOptions
    baselines: dict[str, Score]
    calibration: Calibration
    held_out: tuple[HeldOut, ...]
    dropped_programs: tuple[str, ...]
    dropped_mappings: tuple[AnyMapping, ...]
    outliers: tuple[Outlier, ...] = ()
    similar: tuple[Pair, ...] = msgspec.field(name="sisters", default=())
    by_runs: tuple[AfterRuns, ...] = ()
    by_runs_of: dict[str, tuple[AfterRuns, ...]] = msgspec.field(default_factory=dict)
    without_machine: bool = False


class Evaluations(Score, frozen=True, kw_only=True):
    """The score over the programs of all ``datasets`` together, with the baselines that every dataset has.

    ``across`` holds the scores of models on other machines of the same shape, if there are any. ``by_runs_of`` has the
    ways to choose runs that every dataset has, without intervals.
    """

    baselines: dict[str, Score]
    calibration: Calibration
    datasets: tuple[Evaluation, ...]
    across: tuple[Transfer, ...] = ()
    by_runs: tuple[AfterRuns, ...] = ()
    by_runs_of: dict[str, tuple[AfterRuns, ...]] = msgspec.field(default_factory=dict)


def _kept(one: Callable[..., Fold], *given: object) -> Fold:
    """Return a fold, run or as kept; where the disk is slow joblib would warn of it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Persisting input arguments", UserWarning)
        return one(*given)


def evaluate_held_out(
    dataset: Dataset,
    options: TrainingOptions | None = None,
    jobs: int = 1,
    memory: joblib.Memory | None = None,
    sources: Sources | None = None,
) -> Evaluation:
    """Return the result of every program with its group left out of the training; ``jobs`` folds run at a time.

    Folds in ``memory`` are not run again. ``sources``: the other machines that a search may know.
    InsufficientDataError when there are fewer than two groups.
    """
    options = options or TrainingOptions()
    mapping = default_of(dataset, options)
    observations = observe(dataset, mapping)
    default = observations.column(mapping)
    names = tuple(dict.fromkeys(observations.groups))
    if len(names) < 2:
        raise InsufficientDataError(
            f"dataset of {dataset.machine} has {len(names)} group of programs: holding one out needs at least two"
        )
    one = (memory or joblib.Memory(None)).cache(evaluate_group)
    calls = (joblib.delayed(_kept)(one, observations, dataset_frame(dataset), mapping, name) for name in names)
    running: Generator[Fold, None, None] = in_processes(calls, jobs)
    folds = list(follow(running, len(names), f"folds of {dataset.machine}"))
    possible, chosen = gains_of(observations.time_s, default), baselines_of(observations, default, dataset.topology)
    best, every = possible.max(axis=1), np.arange(len(observations.names))
    for ml_baseline in folds[0].ml_baselines:
        gain = {name: value for fold in folds for name, value in fold.ml_baselines[ml_baseline].items()}
        chosen[ml_baseline] = np.array([gain[name] for name in observations.names])
    clustered = [{name: one for fold in folds for name, one in fold.clustered.items()}[n] for n in observations.names]
    chosen[Strategy.THESIS] = possible[every, [one.column for one in clustered]]
    sources = sources or Sources()
    knows = knowledge(observations, default, space_of(dataset, observations), sources)
    trials = searched(observations, default, knows)
    forecast = forecasts(observations, default, knows, trials)
    own = own_knowledge(observations, default)
    forest_runs = {name: columns for fold in folds for name, columns in fold.forest_runs.items()}
    compared = {
        Strategy.PORTFOLIO: searched(observations, default, own, portfolio_run),
        Strategy.NEIGHBOURS: searched(observations, default, own, neighbours_run),
        Strategy.FOREST: in_order(possible, [forest_runs[name] for name in observations.names]),
        Strategy.RANDOM_SEARCH: random_search(observations, default),
    }
    by_runs_of = {str(name): after_runs(each, best, observations.groups) for name, each in compared.items()}
    probed = np.array([(2 ** -possible[row, list(one.probes)]).sum() for row, one in enumerate(clustered)])
    for name, (runs, cost) in {Strategy.FIXED: (1, 2 ** -chosen[Strategy.FIXED]), Strategy.THESIS: (2, probed)}.items():
        point = Trials(np.tile(chosen[name][:, None], runs), np.tile(cost[:, None], runs))
        by_runs_of[name] = after_runs(point, best, observations.groups, (runs,))
    columns = [one.column for one in clustered]
    if options.method == "search":
        chosen[Strategy.QUICK] = trials.gain[:, 1]
        columns = [made[int(possible[row, list(made[:ANSWERED])].argmax())] for row, made in enumerate(trials.columns)]
    gains = possible[every, columns]
    return Evaluation(
        **msgspec.structs.asdict(score_of(gains, best, observations.groups)),
        machine=dataset.machine,
        modelled=dataset.modelled,
        default=mapping,
        mappings=len(observations.mappings),
        groups=len(names),
        options=options,
        baselines={name: score_of(values, best, observations.groups) for name, values in chosen.items()},
        calibration=calibration_of([each for program in forecast for each in program]),
        held_out=tuple(
            HeldOut(
                program=observations.names[row],
                group=observations.groups[row],
                mapping=observations.mappings[columns[row]],
                speedup=float(2 ** gains[row]),
                oracle_mapping=observations.mappings[int(possible[row].argmax())],
                oracle_speedup=float(2 ** best[row]),
                regret=float(2 ** (best[row] - gains[row]) - 1),
                gain_captured=gain_captured(float(2 ** gains[row]), float(2 ** best[row])),
                cluster=clustered[row].centroid,
                baselines={name: float(2 ** gained[row]) for name, gained in chosen.items()},
                after_runs=tuple(map(float, 2 ** trials.gain[row])),
                cost_after_runs=tuple(map(float, trials.cost[row])),
                forecasts=forecast[row],
            )
            for row in every
        ),
        dropped_programs=observations.dropped_programs,
        dropped_mappings=observations.dropped_mappings,
        by_runs=after_runs(trials, best, observations.groups),
        by_runs_of=by_runs_of,
        without_machine=sources.without_machine,
    )


def together(evaluations: Sequence[Evaluation], across: tuple[Transfer, ...] = ()) -> Evaluations:
    """Return the evaluations with the score over all their programs; groups of different machines are different."""
    held = [each for evaluation in evaluations for each in evaluation.held_out]
    groups = [f"{number}/{each.group}" for number, e in enumerate(evaluations) for each in e.held_out]
    best = np.log2([each.oracle_speedup for each in held])
    trials = Trials(np.log2([each.after_runs for each in held]), np.array([each.cost_after_runs for each in held]))
    common = [name for name in evaluations[0].baselines if all(name in e.baselines for e in evaluations)]
    ways = [name for name in evaluations[0].by_runs_of if all(name in e.by_runs_of for e in evaluations)]
    score = score_of(np.log2([each.speedup for each in held]), best, groups)
    return Evaluations(
        **msgspec.structs.asdict(score),
        baselines={name: score_of(np.log2([each.baselines[name] for each in held]), best, groups) for name in common},
        calibration=calibration_of([each for program in held for each in program.forecasts]),
        datasets=tuple(evaluations),
        across=across,
        by_runs=after_runs(trials, best, groups) if trials.gain.size else (),
        by_runs_of={
            name: over_all([(e.programs, e.by_runs_of[name]) for e in evaluations], score.oracle_speedup.geometric)
            for name in ways
        },
    )
