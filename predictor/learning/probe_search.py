"""Choose the probes: the default, and the mapping that is most useful to try in addition.

One probe is the default mapping: what a program gets today. Thus the gain of the other one is measured, and every
other gain is predicted from it. The second probe is the mapping that would give programs most if each took the better
of the two: its score is the mean over groups of max(0, log2 gain), less the standard error of that mean, since the best
of hundreds is otherwise one that suits a single program by luck.

The evidence is gain captured, programs held out by group, and losers, the share of programs that become slower than
the default by over 2%. On the datasets before these of sandybridge-4x8, broadwell-2x10 and lpdquad, and on three
machines that MCTOP measured (12 groups of programs), an estimate by bandwidths or times gave 0.90, 0.90, 0.91 and 0.41,
0.79, 0.27, 2% losers at most. Alternatives tried on these:

- the second probe chosen by what held-out programs gain from the whole estimate: 0.91, 0.88, 0.92 and 0.35, 0.79,
  0.27;
- no estimate, the better of the two probes: 0.90, 0.90, 0.91 and 0.42, 0.79, 0.29, no loser: nearly what the
  estimate of today advises;
- the best pair to try, without the default: 0.82, 0.91, 0.96 and 0.35, 0.66, 0.15, up to 22% losers;
- both probes free, a greedy search with exchange: up to 0.03 more on two of the six, up to 22% losers;
- a third probe for all programs, by greedy search: 0.05 more on one modelled machine, 0.07 less on another;
- a third probe for programs whose threads share pages, learned inside the fold where it pays: 0.92 with 33 of 128
  programs asked on sandybridge-4x8, none asked on the other three;
- a Gaussian process in place of the line (several kernels, alone and averaged): 0.02 more to 0.04 less;
- nearest neighbours in its place: less on every machine, 9 to 13% losers;
- remote and total bandwidth and the share of remote accesses as readings, too: 0.03 more to 0.03 less.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.learning.features import Observations, gains_of
from numapredict.predictor.learning.gain_model import (
    Array,
    GainModel,
    fit_gain_model,
    group_weights,
    predict_gains,
    risk_adjusted_gain,
)
from numapredict.predictor.learning.noise import MEASURED_NOISE, noise_between, noise_of_gains

DOUBT = 1.0
"""The part of a score's standard error that is taken from it."""


@dataclass(frozen=True)
class ProbePair:
    """Two mappings as probes, by column, and their score in log2."""

    first: int
    second: int
    score: float


def search_probes(observations: Observations, default: int, candidates: tuple[int, ...] = ()) -> ProbePair:
    """Return the default and the best second probe among candidate columns (all if none are named)."""
    columns = [column for column in candidates or range(len(observations.mappings)) if column != default]
    if not columns:
        raise InsufficientDataError("two probes need at least two mappings measured for all programs: collect more")
    scores = trying_scores(gains_of(observations.time_s, default), observations.groups)
    second = max(columns, key=lambda column: float(scores[column]))
    return ProbePair(default, second, float(scores[second]))


def trying_scores(gains: Array, groups: Sequence[str]) -> Array:
    """Return float64[mappings]: the gain of the better of the default and each mapping, less DOUBT standard errors.

    ``gains`` are log2 over the default, float64[programs, mappings]. Every group has the same weight.
    """
    names, inverse = np.unique(np.asarray(groups), return_inverse=True)
    better = np.maximum(gains, 0.0) * (group_weights(groups) * len(names))[:, None]
    by_group = np.zeros((len(names), gains.shape[1]))
    np.add.at(by_group, inverse, better)
    score: Array = by_group.mean(axis=0) - DOUBT * by_group.std(axis=0) / np.sqrt(len(names))
    return score


def noise_at(observations: Observations, row: int, pair: tuple[int, int], learned: float | None = None) -> float:
    """Return the deviation in log2 of the gain that a program's two probes measured, from repetitions if any."""
    if observations.noise is None:
        return noise_between((), (), learned)
    known = [None if np.isnan(error := float(observations.noise[row, column])) else error for column in pair]
    return noise_between(known, (observations.runs,) * len(known), learned)


def learn_gain_model(observations: Observations, pair: tuple[int, int]) -> GainModel:
    """Return the gain model of the observations, with two columns as probes, the default's first."""
    gains, groups = gains_of(observations.time_s, pair[0]), observations.groups
    noise = noise_of_gains(observations.noise, group_weights(groups), observations.runs)
    learned = None if noise is None else max(noise, MEASURED_NOISE)
    return fit_gain_model(observations.mappings, pair, gains, groups, learned)


def advised_columns(train: Observations, test: Observations, default: int) -> npt.NDArray[np.int64]:
    """Return the column that a model of ``train`` advises each program of ``test``, int64[programs].

    The advice of ``train_on`` and ``predict`` by the method "expectation", without the clusters that explain it.
    """
    pair = (default, search_probes(train, default).second)
    learned = learn_gain_model(train, pair)
    probes = (train.mappings[pair[0]], train.mappings[pair[1]])
    measured = gains_of(test.time_s, default)[:, pair[1]]
    chosen = []
    for row, gain in enumerate(measured.tolist()):
        found = predict_gains(learned, probes, gain, noise_at(test, row, pair, learned.noise))
        chosen.append(int(risk_adjusted_gain(found.gain, found.deviation, default).argmax()))
    return np.array(chosen, dtype=np.int64)
