"""How much a search captures after each run, for programs held out of all that it knows."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import comb

import msgspec
import numpy as np

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import Mapping, applicable
from numapredict.collect.topology import Topology
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.advising import search_options
from numapredict.predictor.evaluation.calibration import Forecast
from numapredict.predictor.learning.features import Observations, gains_of
from numapredict.predictor.learning.scores import Array, gain_captured, score_of
from numapredict.predictor.searching.carried_gains import carried_knowledge, mapping_features
from numapredict.predictor.searching.expected_run import expected_run
from numapredict.predictor.searching.gains_file import MachineGains
from numapredict.predictor.searching.known_gains import KnownGains, joined, known_gains, wants_others, with_others
from numapredict.predictor.searching.next_run import NextRun, next_run

RUNS = (2, 3, 4, 6, 8)
"""After how many runs a search is judged; the first is of the default."""

ANSWERED = search_options.RUNS
"""After so many runs a search answers, if nothing else is said."""

NEIGHBOURS = 3
"""How many programs choose the next run in ``neighbours_run``."""


class AfterRuns(msgspec.Struct, frozen=True, kw_only=True):
    """What the best of ``runs`` runs gives: gain captured with its 95% interval, geometric and arithmetic speedup.

    ``cost_in_default_runs``: the mean time of all runs over that of the default's, each one ended once it has taken as
    long as the best run so far.
    """

    runs: int
    gain_captured: float | None
    low: float | None
    high: float | None
    slower_than_default: float
    speedup: float
    arithmetic_speedup: float
    cost_in_default_runs: float


@dataclass(frozen=True, eq=False)
class Space:
    """A machine's mappings, or their counterparts, in the order of the columns; ``modelled``: its times are."""

    mappings: tuple[Mapping, ...]
    topology: Topology
    modelled: bool = True


@dataclass(frozen=True, eq=False)
class Trials:
    """Of every program, after each number of runs from 1 on: the best gain, and the cost; float64[programs, runs].

    ``columns`` are the columns of its runs in their order, if they are known.
    """

    gain: Array
    cost: Array
    columns: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class Sources:
    """The machines other than the evaluated one that a search may know, and whether it knows only these."""

    elsewhere: tuple[MachineGains, ...] = ()
    without_machine: bool = False


Knows = Callable[[str], KnownGains]
"""Returns what a search may know when it is asked about a program of a group."""

Chooses = Callable[[KnownGains, Sequence[int], Sequence[float]], NextRun | None]
"""Returns the next run, after runs of these columns that gave these gains."""


def portfolio_run(known: KnownGains, columns: Sequence[int], _gains: Sequence[float]) -> NextRun | None:
    """Return the run that adds most to the best so far of all known programs, whatever the runs made gave."""
    return next_run(known, columns, [math.nan] * len(columns))


def neighbours_run(known: KnownGains, columns: Sequence[int], gains: Sequence[float]) -> NextRun | None:
    """Return the run that adds most for the programs nearest in the gains so far, or for all if it adds nothing."""
    off = ((known.gains[:, list(columns)] - np.asarray(gains)) ** 2).sum(axis=1)
    near = np.flatnonzero(off <= np.sort(off)[min(NEIGHBOURS, len(off)) - 1]).tolist()
    nearest = KnownGains(
        known.gains[near],
        known.weights[near] / known.weights[near].sum(),
        tuple(known.groups[row] for row in near),
        tuple(known.machines[row] for row in near),
    )
    found = portfolio_run(nearest, columns, gains)
    return found if found is not None and found.expected_gain > 0 else portfolio_run(known, columns, gains)


def space_of(dataset: Dataset, observations: Observations) -> Space | None:
    """Return the mappings by which others' gains can be carried over: those measured, or their counterparts."""
    if dataset.topology is not None:
        return Space(tuple(map(applicable, observations.mappings)), dataset.topology, dataset.modelled)
    if dataset.counterparts is not None:
        mappings = tuple(map(dataset.counterparts.of, observations.mappings))
        return Space(mappings, dataset.counterparts.topology, dataset.modelled)
    return None


def knowledge(observations: Observations, default: int, space: Space | None, sources: Sources) -> Knows:
    """Return what a search knows about the programs that it is not asked about.

    That is the machine's own programs, and those of other machines where its groups or mappings are few.
    InsufficientDataError if only others are to be used, and none can be.
    """
    own = own_knowledge(observations, default)
    if space is None or not sources.elsewhere:
        if sources.without_machine:
            reason = (
                "its mappings are opaque (import it with --counterparts)"
                if space is None
                else "there are no datasets of other machines"
            )
            raise InsufficientDataError(
                f"--without-machine: nothing can be carried over from elsewhere, since {reason}"
            )
        return own
    foreign = foreign_knowledge(space, default, sources.elsewhere)
    if sources.without_machine:
        return foreign
    if not wants_others(observations.groups, len(observations.mappings)):
        return own
    return lambda group: with_others(own(group), foreign(group))


def own_knowledge(observations: Observations, default: int) -> Knows:
    """Return the knowledge of the machine's own programs, the asked group left out."""
    gains, groups = gains_of(observations.time_s, default), np.array(observations.groups)
    return lambda group: known_gains(gains[groups != group], groups[groups != group].tolist())


def foreign_knowledge(space: Space, default: int, elsewhere: Sequence[MachineGains]) -> Knows:
    """Return the knowledge of other machines' programs, carried over; the asked group is left out there, too."""
    wanted = mapping_features(space.mappings, space.topology)
    carried = [
        (
            carried_knowledge([other], wanted, default, modelled=space.modelled).gains,
            np.array(other.groups),
            other.machine,
        )
        for other in elsewhere
    ]

    def knows(group: str) -> KnownGains:
        return joined(
            [
                known_gains(gains[groups != group], groups[groups != group].tolist(), machine)
                for gains, groups, machine in carried
            ]
        )

    return knows


def searched(observations: Observations, default: int, knows: Knows, chooses: Chooses = next_run) -> Trials:
    """Return what a search gives each program, knowing all but its group; equal runs give equal times."""
    gains = gains_of(observations.time_s, default)
    runs = []
    for row, group in enumerate(observations.groups):
        columns, known = [default], knows(group)
        while len(columns) < RUNS[-1]:
            following = chooses(known, columns, gains[row, columns].tolist())
            if following is None:
                break
            columns.append(following.column)
        runs.append(columns)
    return in_order(gains, runs)


def in_order(gains: Array, runs: Sequence[Sequence[int]]) -> Trials:
    """Return what each program's runs of these columns give it; where all mappings have run, nothing more is added."""
    shape, kept = (len(gains), RUNS[-1]), tuple(tuple(columns[: RUNS[-1]]) for columns in runs)
    trials = Trials(np.empty(shape), np.empty(shape), kept)
    for row, columns in enumerate(kept):
        gained = gains[row, list(columns)]
        best = np.maximum.accumulate(gained)
        cost = np.cumsum(np.concatenate([[1.0], np.minimum(2 ** -gained[1:], 2 ** -best[:-1])]))
        last = np.minimum(np.arange(RUNS[-1]), len(gained) - 1)
        trials.gain[row], trials.cost[row] = best[last], cost[last]
    return trials


def forecasts(
    observations: Observations, default: int, knows: Knows, trials: Trials, after: Sequence[int] = range(1, RUNS[-1])
) -> list[tuple[Forecast, ...]]:
    """Return, for each program, what was expected of each run of a search ``after`` so many runs, and what it gave."""
    gains, found = gains_of(observations.time_s, default), []
    for row, (group, columns) in enumerate(zip(observations.groups, trials.columns, strict=True)):
        known, gained, each = knows(group), gains[row, list(columns)], []
        for made in (number for number in after if number < len(columns)):
            expected = expected_run(known, columns[:made], gained[:made].tolist(), (), columns[made])
            speed = (2**expected.median, 2**expected.low, 2**expected.high)
            each.append(Forecast(*speed, expected.chance, float(2 ** (gained[made] - gained[:made].max()))))
        found.append(tuple(each))
    return found


def random_search(observations: Observations, default: int) -> Trials:
    """Return what runs in random order give after the default, on average over all orders."""
    gains = gains_of(observations.time_s, default)
    others = np.sort(np.maximum(np.delete(gains, default, axis=1), 0.0), axis=1)
    count = others.shape[1]
    trials = Trials(np.zeros((len(gains), RUNS[-1])), np.ones((len(gains), RUNS[-1])))
    for drawn in range(1, RUNS[-1]):
        most = min(drawn, count)  # the k-th smallest is the greatest of those drawn in C(k - 1, drawn - 1) cases
        chance = np.array([comb(at, most - 1) for at in range(count)]) / comb(count, most)
        trials.gain[:, drawn] = others @ chance
        # A run is ended at the best time before it: on average over orders, that is after drawn - 1 others.
        trials.cost[:, drawn] = trials.cost[:, drawn - 1] + _mean_cut(gains, default, trials.gain[:, drawn - 1])
    return trials


def _mean_cut(gains: Array, default: int, best: Array) -> Array:
    """Return the mean time of another run over the default's, ended at the time of the ``best`` gain."""
    mean: Array = np.minimum(2 ** -np.delete(gains, default, axis=1), 2 ** -best[:, None]).mean(axis=1)
    return mean


def after_runs(
    trials: Trials, best: Array, groups: Sequence[str], counts: Sequence[int] = RUNS
) -> tuple[AfterRuns, ...]:
    """Return the scores after each number of runs, given every program's best possible gain, float64[programs]."""
    return tuple(_scored(runs, trials, best, groups) for runs in counts)


def over_all(curves: Sequence[tuple[int, Sequence[AfterRuns]]], oracle_speedup: float) -> tuple[AfterRuns, ...]:
    """Return a curve over all programs from those of datasets, each with its number of programs.

    ``oracle_speedup`` is the geometric mean over all. There is no interval, which would need each program's figures.
    """
    total = sum(programs for programs, _ in curves)
    shares = [programs / total for programs, _ in curves]

    def mean(values: Iterable[float]) -> float:
        return math.fsum(share * value for share, value in zip(shares, values, strict=True))

    found = []
    for points in zip(*(curve for _, curve in curves), strict=True):
        speedup = 2 ** mean(math.log2(point.speedup) for point in points)
        found.append(
            AfterRuns(
                runs=points[0].runs,
                gain_captured=gain_captured(speedup, oracle_speedup),
                low=None,
                high=None,
                slower_than_default=mean(point.slower_than_default for point in points),
                speedup=speedup,
                arithmetic_speedup=mean(point.arithmetic_speedup for point in points),
                cost_in_default_runs=mean(point.cost_in_default_runs for point in points),
            )
        )
    return tuple(found)


def _scored(runs: int, trials: Trials, best: Array, groups: Sequence[str]) -> AfterRuns:
    score = score_of(trials.gain[:, runs - 1], best, groups)
    interval = score.gain_captured_interval
    return AfterRuns(
        runs=runs,
        gain_captured=score.gain_captured,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        slower_than_default=score.slower_than_default,
        speedup=score.speedup.geometric,
        arithmetic_speedup=score.speedup.arithmetic,
        cost_in_default_runs=float(trials.cost[:, runs - 1].mean()),
    )
