"""Choose the probes: the default, and the mapping that tells most beside it.

One probe is the default mapping: what a program gets today. So the gain of the other one is measured and not guessed,
and every other gain is expected from how the program does under both. The second probe is chosen by what it lets
programs gain that were held out: the score of a mapping is the mean log2 gain of the groups that were held out in turn,
less their standard error, since the best of hundreds is otherwise one that suits a single program by luck.

On the evidence: with both probes free (greedy search with exchange) two datasets gave more of the gain (0.94 for 0.90
on the modelled 4 x 8 Sandy Bridge, 0.44 for 0.35 on a measured machine with 4 nodes) and two less, and on two of the
four up to 22% of the programs came out slower than the default by more than 2%; with the default as a probe, none did.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from numapredict.predictor.expectation import (
    CAUTION,
    Array,
    deviations,
    group_weights,
    held_out_gains,
    readings_of,
    with_what_is_known,
)
from numapredict.predictor.features import InsufficientDataError, Observations, gains_of
from numapredict.predictor.probes import bandwidth_floor
from numapredict.predictor.scores import SLOWER

DOUBT = 1.0
"""The part of a score's standard error that is taken from it."""

CAUTIONS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5)
"""The parts of its deviation by which a gain may be discounted."""

LOSERS = 0.01
"""The share of held-out programs that may come out slower: half of what is promised, since they are the known ones."""


@dataclass(frozen=True)
class ProbePair:
    """Two mappings as probes, by column, and their score in log2."""

    first: int
    second: int
    score: float


def search_probes(observations: Observations, default: int, candidates: tuple[int, ...] = ()) -> ProbePair:
    """Return the default and the best second probe among candidate columns, all of them if none are named."""
    columns = [column for column in candidates or range(len(observations.labels)) if column != default]
    if not columns:
        raise InsufficientDataError("two probes need at least two mappings measured for all programs: collect more")
    gains = gains_of(observations.time_s, default)
    return max((_scored(observations, gains, default, second) for second in columns), key=lambda pair: pair.score)


def readings_at(
    observations: Observations, pair: tuple[int, int], floors: Array | None = None
) -> tuple[Array, Array, Array]:
    """Return times float64[programs, 2], the readings made of them and the bandwidths, and the bandwidths' floors.

    ``floors`` are learned from these programs if not given.
    """
    columns = list(pair)
    times = observations.time_s[:, columns]
    bandwidths = np.empty((len(times), 0))
    if observations.local_bandwidth_GBps is not None:
        bandwidths = observations.local_bandwidth_GBps[:, columns]
    floors = bandwidth_floor(bandwidths) if floors is None else floors
    return times, readings_of(times, bandwidths, floors), floors


def held_out_choices(
    observations: Observations, gains: Array, default: int, second: int, cautions: Sequence[float] = (CAUTION,)
) -> Array:
    """Return float64[cautions, programs]: the log2 gain of each program's choice, made by programs of other groups."""
    times, readings, _ = readings_at(observations, (default, second))
    expected = held_out_gains(readings, gains, observations.groups)
    deviation = deviations(expected, gains, observations.groups, default)
    gain, spread = with_what_is_known(expected, deviation, times, (default, second), default)
    every = np.arange(len(gains))
    return np.array([gains[every, (gain - caution * spread).argmax(axis=1)] for caution in cautions])


def choose_caution(observations: Observations, default: int, second: int) -> float:
    """Return how far gains are discounted by their deviation before mappings are compared.

    Of CAUTIONS, the one with which the held-out programs gain most, among those with which at most LOSERS of them, a
    group counting once, come out slower than the default by over 2%; the greatest where all lose more.
    """
    gains = gains_of(observations.time_s, default)
    got = held_out_choices(observations, gains, default, second, CAUTIONS)
    weights = group_weights(observations.groups)
    lost, gained = (got < -np.log2(1 + SLOWER)) @ weights, got @ weights
    allowed = np.flatnonzero(lost <= LOSERS)
    return CAUTIONS[int(allowed[gained[allowed].argmax()])] if len(allowed) else CAUTIONS[-1]


def _scored(observations: Observations, gains: Array, default: int, second: int) -> ProbePair:
    got = held_out_choices(observations, gains, default, second)[0]
    names, inverse = np.unique(np.asarray(observations.groups), return_inverse=True)
    by_group = np.bincount(inverse, weights=got * group_weights(observations.groups)) * len(names)
    error = by_group.std() / np.sqrt(len(names))
    return ProbePair(default, second, float(by_group.mean() - DOUBT * error))
