"""How precisely a few run times give their median, and which of them are outliers; pure."""

import math
import statistics
from collections.abc import Sequence

LEVEL = 0.9
"""The confidence level of intervals: nine of ten hold the true median, as everywhere in numapredict."""

STANDS_OUT = 3.5
"""The modified z-score from which a value is called an outlier (Iglewicz and Hoaglin, 1993)."""

_LEAST_DEVIATION = 1e-3
"""A share of the median: values closer together than this are never outliers."""

_SIGMA_OF_MAD = 1.4826  # the standard deviation of normally distributed values over their median absolute deviation


def median_interval(values: Sequence[float], level: float = LEVEL) -> tuple[float, float]:
    """Return the confidence interval of the median at ``level``, in the values' unit.

    It ends at order statistics, without assumptions on the distribution: the j-th least and j-th greatest of n
    values hold the median with probability 1 - 2 B(j - 1; n, 1/2) (Conover, Practical Nonparametric Statistics, 3rd
    ed., sec. 3.2). Where n is too small for the level it is the whole range, whose level is then lower: 0.75 with 3.
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values, so no median")
    at, below = 0, 1  # of all ways that the values may lie around the median, those with at most `at` of them below it
    while 2 * (at + 1) < len(ordered):
        below += math.comb(len(ordered), at + 1)
        if 1 - 2 * (below / 2 ** len(ordered)) < level:
            break
        at += 1
    return ordered[at], ordered[-1 - at]


def relative_width(values: Sequence[float]) -> float:
    """Return the width of the median's interval over the median."""
    low, high = median_interval(values)
    return (high - low) / statistics.median(values)


def outliers(values: Sequence[float]) -> tuple[int, ...]:
    """Return the indices of the outliers among the values; none of fewer than four."""
    if len(values) < 4:
        return ()
    median = statistics.median(values)
    deviation = statistics.median(abs(value - median) for value in values) * _SIGMA_OF_MAD
    deviation = max(deviation, _LEAST_DEVIATION * abs(median))
    return tuple(at for at, value in enumerate(values) if abs(value - median) > STANDS_OUT * deviation)
