"""How much of the gain searches capture that know a part of all runs, on programs held out."""

from collections.abc import Generator, Sequence

import joblib
import msgspec
import numpy as np
import numpy.typing as npt

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.terminal.printable import counted
from numapredict.collect.terminal.progress import follow
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.evaluation.processes import in_processes
from numapredict.predictor.evaluation.search_curve import ANSWERED, searched
from numapredict.predictor.learning.features import Observations, gains_of, observe
from numapredict.predictor.learning.options import TrainingOptions
from numapredict.predictor.learning.pivots import Split, pilot_groups, pivot_columns, split_budget
from numapredict.predictor.learning.train import default_of
from numapredict.predictor.searching.known_gains import known_gains

SHARES = (0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)
LEAST_GROUPS = 3
DRAWS = 3
"""How often pilots are drawn; reported are the median, the least and the most."""


class CurvePoint(msgspec.Struct, frozen=True, kw_only=True):
    """The gain captured with a share of the runs, over all mappings' oracle: median of draws, least and most.

    ``by_chance`` is the same with mappings drawn at random instead of by the pilots.
    """

    share: float
    pilots: int
    mappings: int
    gain_captured: float
    low: float
    high: float
    by_chance: float


class BudgetCurve(msgspec.Struct, frozen=True, kw_only=True):
    """One dataset's curve; ``full`` is the gain captured by searches that know all runs."""

    machine: str
    modelled: bool
    programs: int
    mappings: int
    full: float
    points: tuple[CurvePoint, ...]


def budget_curve(
    dataset: Dataset,
    options: TrainingOptions,
    shares: Sequence[float] = SHARES,
    draws: int = DRAWS,
    jobs: int = 1,
) -> BudgetCurve:
    """Return the curve of a dataset: each group held out once, pilots and mappings chosen among the others' runs.

    Shares too small to learn from are left out. InsufficientDataError for fewer than three groups: one is held out,
    and some of the others are pilots.
    """
    observations = observe(dataset, default_of(dataset, options))
    names = tuple(dict.fromkeys(observations.groups))
    if len(names) < LEAST_GROUPS:
        raise InsufficientDataError(
            f"dataset of {dataset.machine} has {counted(len(names), 'group')} of programs: a budget is divided among "
            f"at least {LEAST_GROUPS}; collect more programs"
        )
    default = observations.column(default_of(dataset, options))
    calls = (joblib.delayed(_fold)(observations, default, name, tuple(shares), draws) for name in names)
    running: Generator[_Fold, None, None] = in_processes(calls, jobs)
    folds = list(follow(running, len(names), f"folds of {dataset.machine}"))
    oracle = sum(fold.oracle for fold in folds)
    points = []
    for number, share in enumerate(shares):
        splits = [_split(observations, name, share) for name in names]
        if None in splits or (split := splits[0]) is None:
            continue
        gained = np.array([fold.gained[number] for fold in folds]).sum(axis=0) / oracle
        points.append(
            CurvePoint(
                share=share,
                pilots=split.pilots,
                mappings=split.mappings,
                gain_captured=float(np.median(gained)),
                low=float(gained.min()),
                high=float(gained.max()),
                by_chance=float(np.median(np.array([fold.chance[number] for fold in folds]).sum(axis=0) / oracle)),
            )
        )
    return BudgetCurve(
        machine=dataset.machine,
        modelled=dataset.modelled,
        programs=len(observations.names),
        mappings=len(observations.mappings),
        full=float(sum(fold.full for fold in folds) / oracle),
        points=tuple(points),
    )


class _Fold(msgspec.Struct, frozen=True):
    """Sums of log2 gains of one held-out group: with all runs, at best, and by share and draw."""

    full: float
    oracle: float
    gained: tuple[tuple[float, ...], ...]
    chance: tuple[tuple[float, ...], ...]


def _fold(observations: Observations, default: int, held_out: str, shares: tuple[float, ...], draws: int) -> _Fold:
    inside = [row for row, name in enumerate(observations.groups) if name != held_out]
    outside = [row for row, name in enumerate(observations.groups) if name == held_out]
    train, test = observations.rows(inside), observations.rows(outside)
    every = np.arange(len(observations.mappings))
    gains = gains_of(train.time_s, default)
    gained, chance = [], []
    for share in shares:
        split = _split(observations, held_out, share)
        by_draw, at_random = [], []
        for draw in range(draws):
            if split is None:
                break
            chosen = pilot_groups(train.groups, split.pilots, draw)
            rows = [row for row, name in enumerate(train.groups) if name in chosen]
            by_draw.append(_gain(train, test, pivot_columns(gains[rows], split.mappings, default), default))
            others = np.random.default_rng(draw).permutation(np.delete(every, default))[: split.mappings - 1]
            at_random.append(_gain(train, test, np.append(default, others), default))
        gained.append(tuple(by_draw))
        chance.append(tuple(at_random))
    return _Fold(
        _gain(train, test, every, default),
        float(gains_of(test.time_s, default).max(axis=1).sum()),
        tuple(gained),
        tuple(chance),
    )


def _split(observations: Observations, held_out: str, share: float) -> Split | None:
    """Return how many pilots and mappings a share of the others' runs allows, or None if it is too small."""
    _, sizes = np.unique([name for name in observations.groups if name != held_out], return_counts=True)
    runs = int(share * sizes.sum() * len(observations.mappings))
    return split_budget(runs, [int(size) for size in sizes], len(observations.mappings))


def _gain(train: Observations, test: Observations, columns: npt.NDArray[np.int64], default: int) -> float:
    """Return the sum of the held-out programs' log2 gains after searches that know these columns of the others."""
    kept = np.sort(columns)
    known, asked, at = train.columns(kept), test.columns(kept), int(np.flatnonzero(kept == default)[0])
    knowledge = known_gains(gains_of(known.time_s, at), known.groups)
    return float(searched(asked, at, lambda _group: knowledge).gain[:, ANSWERED - 1].sum())
