"""How the part of a program that the traces did not see widens an answer's interval.

Measured on the shipped datasets: 3072 pairs of codelets with the same initialisation, neither in the training, one seen
and one not, mixed by their native times (two threads on one node). For the seen part the advice is as good as for whole
programs; the unseen part gains half as much, in log2, and with 90% probability within a factor of three of that. If
this is ignored, intervals hold 90% of the true gains where 95% of the time was seen, 75% where 90% was, 51% at 80% and
25% at 30%; else, 87% or more at any share. With the wider intervals, 26% of the advised mappings are sure to gain where
half of the time was seen, 20% at 30%, 12% at 20% and 3% at 10%: below 30% advice is of no use.
"""

import math

from numapredict.predictor.learning.model import ExpectedSpeedup

NINE_IN_TEN = 1.645
"""Half the width of a normal distribution's 90% interval, in deviations."""

LEAST_SEEN = 0.3
"""The share of the region time that must be seen for an answer."""

ENOUGH_SEEN = 0.9
"""Below this share the answer comes with a warning."""

GAINS_AS_MUCH = 0.5
"""Gain of the unseen part over that of the rest, in log2."""

DEVIATION = 1.0
"""Standard deviation of the unseen part's gain around that, in log2."""


def speedup_of_whole(part: ExpectedSpeedup, seen: float) -> ExpectedSpeedup:
    """Return the speedup of a whole program by that of the part of its time that was seen (Amdahl's law).

    The rest gains the square root of the seen part's speedup, and at the ends of the interval NINE_IN_TEN deviations
    less or more than the root of the seen part's end.
    """
    off = math.exp2(NINE_IN_TEN * DEVIATION)

    def whole(speedup: float, factor: float) -> float:
        return 1 / (seen / speedup + (1 - seen) / (math.pow(speedup, GAINS_AS_MUCH) * factor))

    return ExpectedSpeedup(whole(part.median, 1.0), whole(part.low, 1 / off), whole(part.high, off))
