"""How often data is visited, from how long its watched pages waited for their next touch.

A page is watched from a random moment on. With g the time from one visit to the next, the density of the wait is P(g >
t) / E[g]: at 0, and up to the shortest g, it is 1 / E[g], the rate of visits (Cox, Renewal Theory, 1962). The mean
wait is E[g²] / 2 E[g] instead: it grows where visits are uneven, and with each pause of the computer. So a rate is
read off the shorter waits: of n touches a share f came within the wait d, so f n / d in a second of watching. f is a
half: fewer are too few to tell, more come after the next visit was due. Visits that come evenly count as they are,
those that come at random as 0.72 of it.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from numapredict.collect.placing.profile_file import WAIT_BEGINS_S, WAIT_BINS, ProfiledRange

_SHORTER = 0.5
_LATENCY = 0.01
"""So few of all waits are about as long as the signal of a fault takes: they are over as soon as they begin."""

Waits = npt.NDArray[np.int64]


def waits_of(ranges: Sequence[ProfiledRange]) -> Waits:
    """Return the touches of ranges by how long they were waited for, in the profile's bins.

    Those of a range that stands for others count as often.
    """
    return np.asarray(sum((one.waits * one.stands_for for one in ranges), np.zeros(WAIT_BINS, np.int64)))


def latency_s(waits: Waits) -> float:
    """Return how long a touch takes to be noticed, by the waits for all touches of a profile."""
    return quantile_s(waits, _LATENCY) if waits.any() else 0.0


def visits(waits: Waits, noticed_s: float) -> float:
    """Return the visits a second of the data with these waits, times its watches; ``noticed_s`` is its latency_s."""
    within_s = quantile_s(waits, _SHORTER)
    return _SHORTER * float(waits.sum()) / (within_s - min(noticed_s, within_s / 2))


def quantile_s(waits: Waits, share: float) -> float:
    """Return within how long a share of the touches came, as if those of a bin came evenly."""
    ends = np.append(WAIT_BEGINS_S, 2 * WAIT_BEGINS_S[-1])
    return float(np.interp(share * waits.sum(), np.concatenate(([0], np.cumsum(waits))), ends))
