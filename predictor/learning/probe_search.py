"""Choose the probes: the default, and the mapping that is most useful to try in addition.

One probe is the default mapping: what a program gets today. Thus the gain of the other one is measured, and every
other gain is predicted from the readings of both. The second probe is the mapping that would give
programs most if each took the better of the two: its score is the mean over groups of max(0, log2 gain), less the
standard error of that mean, since the best of hundreds is otherwise one that suits a single program by luck. How far
the other mappings' predicted gains count is chosen on held-out programs: ``choose_risk_weight``.

The evidence is gain captured, programs held out by group, and losers, the share of programs that become slower than
the default by over 2%. On sandybridge-4x8, broadwell-2x10 and lpdquad as modelled, and on three machines that
MCTOP measured (12 groups of programs, times alone): 0.90, 0.90, 0.91 and 0.41, 0.79, 0.27, 2% losers at most.
Alternatives tried:

- the second probe chosen by what held-out programs gain from the whole estimate: 0.91, 0.88, 0.92 and 0.35, 0.79,
  0.27;
- no estimate, the better of the two probes: 0.90, 0.90, 0.91 and 0.42, 0.79, 0.29, no loser: the reference to beat;
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

import msgspec
import numpy as np
import numpy.typing as npt

from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.learning.features import Observations, gains_of
from numapredict.predictor.learning.gain_model import (
    Array,
    GainModel,
    deviations,
    fit_gain_model,
    held_out_gains,
    predict_gains,
    readings_of,
    risk_adjusted_gain,
    with_what_is_known,
)
from numapredict.predictor.learning.noise import MEASURED_NOISE, noise_between, noise_of_gains
from numapredict.predictor.learning.options import Reads
from numapredict.predictor.learning.probes import bandwidth_floor
from numapredict.predictor.learning.scores import SLOWER
from numapredict.predictor.searching.known_gains import group_weights

DOUBT = 1.0
"""The part of a score's standard error that is taken from it."""

RISK_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
"""The risk weights to choose from: parts of its deviation by which a gain is discounted."""

LOSERS = 0.01
"""The share of held-out programs that may become slower: half of what is promised for unknown programs."""


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


def readings_at(
    observations: Observations, pair: tuple[int, int], floors: Array | None = None, reads: Reads | None = None
) -> tuple[Array, Array, Array]:
    """Return times float64[programs, 2], the readings of these and of what is read in addition, and bandwidths' floors.

    ``floors`` are learned from these programs, and ``reads`` is the most informative available, if not given.
    """
    columns = list(pair)
    times = observations.time_s[:, columns]
    extra, none = np.empty((len(times), 0)), np.empty(0)
    wanted = reads or observations.reads[0]
    if wanted == "share" and observations.local_share is not None:
        return times, readings_of(times, observations.local_share[:, columns], none), none
    if wanted == "bandwidth" and observations.local_bandwidth_GBps is not None:
        extra = observations.local_bandwidth_GBps[:, columns]
    floors = bandwidth_floor(extra) if floors is None else floors
    return times, readings_of(times, extra, floors), floors


def held_out_choices(
    observations: Observations,
    gains: Array,
    pair: tuple[int, int],
    risk_weights: Sequence[float],
    reads: Reads | None = None,
) -> Array:
    """Return float64[risk_weights, programs]: the log2 gain of each program's choice, made by programs of other groups.

    ``pair`` are the columns of the probes, of which the first is the default.
    """
    default = pair[0]
    times, readings, _ = readings_at(observations, pair, reads=reads)
    expected = held_out_gains(readings, gains, observations.groups)
    spread = deviations(expected, gains, observations.groups, default, readings.shape[1])
    noise = np.array([noise_at(observations, row, pair) for row in range(len(gains))])
    gain, deviation = with_what_is_known(expected, spread, times, pair, default, noise)
    every = np.arange(len(gains))
    return np.array(
        [
            gains[every, risk_adjusted_gain(gain, deviation, risk_weight, default).argmax(axis=1)]
            for risk_weight in risk_weights
        ]
    )


def noise_at(observations: Observations, row: int, pair: tuple[int, int], learned: float | None = None) -> float:
    """Return the deviation in log2 of the gain that a program's two probes measured, from repetitions if any."""
    if observations.noise is None:
        return noise_between((), (), learned)
    known = [None if np.isnan(error := float(observations.noise[row, column])) else error for column in pair]
    return noise_between(known, (observations.runs,) * len(known), learned)


def choose_risk_weight(observations: Observations, default: int, second: int, reads: Reads | None = None) -> float:
    """Return the risk weight: the part of its deviation by which a gain is discounted before mappings are compared.

    Of RISK_WEIGHTS, the one with the greatest gain of held-out programs among those with which at most LOSERS of them,
    weighted by group, become slower than the default by over 2%; the greatest one if all lose more.
    """
    gains = gains_of(observations.time_s, default)
    got = held_out_choices(observations, gains, (default, second), RISK_WEIGHTS, reads)
    weights = group_weights(observations.groups)
    lost, gained = (got < -np.log2(1 + SLOWER)) @ weights, got @ weights
    allowed = np.flatnonzero(lost <= LOSERS)
    return RISK_WEIGHTS[int(allowed[gained[allowed].argmax()])] if len(allowed) else RISK_WEIGHTS[-1]


def learn_gain_model(
    observations: Observations, default: int, probes: tuple[int, int], reads: Reads | None = None
) -> GainModel:
    """Return the gain model of the observations, with two columns as probes, one the default, in the order given.

    ``reads`` is what is read in addition to the times: the most informative available, if not given.
    """
    _, readings, floors = readings_at(observations, probes, reads=reads)
    gains, groups = gains_of(observations.time_s, default), observations.groups
    second = probes[1] if probes[0] == default else probes[0]
    noise = noise_of_gains(observations.noise, group_weights(groups), observations.runs)
    return msgspec.structs.replace(
        fit_gain_model(observations.mappings, readings, floors, gains, groups, default),
        risk_weight=choose_risk_weight(observations, default, second, reads),
        noise=None if noise is None else max(noise, MEASURED_NOISE),
    )


def advised_columns(train: Observations, test: Observations, default: int) -> npt.NDArray[np.int64]:
    """Return the column that a model of ``train`` advises each program of ``test``, int64[programs].

    The advice of ``train_on`` and ``predict`` by the method "expectation", without the clusters that explain it.
    """
    pair = (default, search_probes(train, default).second)
    learned = learn_gain_model(train, default, pair)
    probes = (train.mappings[pair[0]], train.mappings[pair[1]])
    chosen = []
    for row in range(len(test.programs)):
        times = (float(test.time_s[row, pair[0]]), float(test.time_s[row, pair[1]]))
        read = {"bandwidth": test.local_bandwidth_GBps, "share": test.local_share, "times": None}[learned.extra_reading]
        extra = [] if read is None else [float(read[row, column]) for column in pair]
        found = predict_gains(learned, times, extra, probes, probes[0], noise_at(test, row, pair, learned.noise))
        chosen.append(int(risk_adjusted_gain(found.gain, found.deviation, learned.risk_weight, default).argmax()))
    return np.array(chosen, dtype=np.int64)
