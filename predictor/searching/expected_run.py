"""What a mapping that was not run should give: its gain over the best run so far, with an interval and a chance.

Each known program says what the mapping added to its own best of the runs made. The spread of these answers, weighted
as for the choice of the next run, is widened by how far the known programs were off in the runs made.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from numapredict.predictor.searching.known_gains import KnownGains
from numapredict.predictor.searching.next_run import off_by, weights_after

LEAST_DEVIATION, MISFIT = 0.05, 0.5
"""The deviation in log2 of each known program's answer: the least, and its part of the misfit in the runs made.

Chosen once, on modelled times alone. Of the first seven further runs on each shipped machine, each group left out,
0.90 to 0.93 then come within the interval where other machines' programs alone are known (on broadwell-2x10 all), and
0.95 to 0.99 where the machine's own are: most runs there repeat the best so far exactly, which no interval leaves out.
On the three machines that MCTOP measured it is 0.95 to 0.98 by their own programs, 0.92 to 0.96 by both, and 0.87,
0.87 and 0.71 by modelled programs alone.
"""

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
    weights = weights_after(known, columns, gains, ended)
    off = off_by(known, columns, gains, ended)
    misfit = weights @ (off**2).sum(axis=1) / max(off.shape[1] - 1, 1)  # at the baseline, all known gains are 0
    added = known.gains[:, column] - known.gains[:, list(columns)].max(axis=1)
    values = (added[:, None] + np.hypot(LEAST_DEVIATION, MISFIT * np.sqrt(misfit)) * _POINTS).ravel()
    order = values.argsort()
    reached = np.repeat(weights, len(_POINTS))[order].cumsum()
    at = np.searchsorted(reached, np.array([0.5, 0.05, 0.95]) * reached[-1])
    median, low, high = values[order][at].tolist()
    return ExpectedRun(median, low, high, float(weights[added > 0].sum()))
