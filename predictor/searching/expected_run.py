"""What a mapping that was not run should give: its gain over the best run so far, with an interval and a chance.

Each known program says what the mapping added to its own best of the runs made. The machine's own programs also say how
far such answers are off: each in turn stands for the new one, and the others, without its group, say what the mapping
should add to it. These errors are taken over a deviation that grows with how far the others were off in the runs made,
and weighted by how much like the new program each reacted; times the new program's deviation they are its interval
(conformal prediction under weights: Tibshirani, Barber, Candes and Ramdas, NeurIPS 2019). Where all that is known is
carried over, such errors would say nothing of how far the new machine differs: there the spread of the answers is
widened by that deviation.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from numapredict.predictor.searching.known_gains import Array, KnownGains
from numapredict.predictor.searching.next_run import off_by, weights_at

DEVIATION = 1.0
"""The deviation in log2 by which programs differ that react alike, here: wider than where the next run is chosen.

There the nearest few may decide. An interval needs more of them: at a third of it, intervals by MCTOP's own programs
hold 0.79 to 0.89 where 0.90 are stated; so they hold 0.88 to 0.92.
"""

LEAST_DEVIATION, MISFIT = 0.05, 0.25
"""The deviation in log2 of each known program's answer: the least, and its part of the misfit in the runs made.

Chosen once, on modelled times alone. Own programs' errors replace their size; only their ratio counts there.
"""

ROUNDED = 1e-3
"""By how much gains are rounded in files: known programs that agree leave an interval as wide as that."""

_POINTS = np.array([NormalDist().inv_cdf((n + 0.5) / 15) for n in range(15)])


class ExpectedRun(NamedTuple):
    """A mapping's gain over the best run so far in log2: its median, the ends of its 90% interval.

    ``chance`` is the probability that it is above 0.
    """

    median: float
    low: float
    high: float
    chance: float


def expected_run(
    known: KnownGains, columns: Sequence[int], gains: Sequence[float], ended: Sequence[bool], column: int
) -> ExpectedRun:
    """Return what a run of ``column`` should give after runs of ``columns``, the baseline's first, gave ``gains``.

    Of ``ended`` runs, if it names any, the gain is at most this.
    """
    off = off_by(known, columns, gains, ended)
    squared = (off**2).sum(axis=1)
    weights = weights_at(known.weights, squared, DEVIATION)
    deviation = _deviation(weights @ squared, off.shape[1])
    added = known.gains[:, column] - known.gains[:, list(columns)].max(axis=1)
    here = not all(known.machines)
    before = np.where(known.related(), 0.0, known.weights) if here else known.weights
    if not here or not before.any(axis=1).all():
        values, reached = (added[:, None] + deviation * _POINTS).ravel(), np.repeat(weights, len(_POINTS))
    else:
        measured = [tried for tried, gain in zip(columns, gains, strict=True) if np.isfinite(gain)]
        values = weights @ added + deviation * _errors(known.gains[:, measured], added, before)
        reached = weights
    order = values.argsort()
    sums = reached[order].cumsum()
    at = np.searchsorted(sums, np.array([0.5, 0.05, 0.95]) * sums[-1])
    median, low, high = values[order][at].tolist()
    return ExpectedRun(median, low - ROUNDED, high + ROUNDED, float(weights[added > 0].sum()))


def _errors(tried: Array, added: Array, before: Array) -> Array:
    """Return by how much each known program gained more than the others said, over the deviation, float64[K].

    ``tried`` float64[K, runs]: the gains in the runs made. ``before`` float64[K, K]: how much each other program counts
    there before them, 0 for related ones.
    """
    squared = np.where(before > 0, 0.0, np.inf)
    for gains in tried.T:
        squared += (gains[:, None] - gains) ** 2
    weights = weights_at(before / before.sum(axis=1, keepdims=True), squared, DEVIATION)
    misfit = np.einsum("jk,jk->j", weights, np.where(before > 0, squared, 0.0))
    errors: Array = (added - weights @ added) / _deviation(misfit, tried.shape[1])
    return errors


def _deviation(squared: Array, runs: int) -> Array:
    """Return the deviation of answers that were off by this sum of squares in so many runs, the baseline's included."""
    misfit = squared / max(runs - 1, 1)  # at the baseline, all known gains are 0
    deviation: Array = np.hypot(LEAST_DEVIATION, MISFIT * np.sqrt(misfit))
    return deviation
