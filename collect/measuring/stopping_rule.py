"""The stopping rule of a measurement: how often a run is repeated, and how often a disturbed one is redone."""

import statistics
from collections.abc import Sequence

import msgspec

from numapredict.collect.measuring.precision import relative_width


class StoppingRule(msgspec.Struct, frozen=True, kw_only=True):
    """When a measurement is good enough.

    There are at least ``least`` timed runs, and more, ``most`` at most, until the interval of their median is no wider
    than ``width`` of it; no more begin once they have taken ``limit_s`` seconds. At most ``redo`` disturbed runs of a
    measurement are discarded and redone, after up to ``patience_s`` seconds of waiting for an idle computer.
    With ``strict``, a program that ends with an exit code other than 0 has failed.
    """

    least: int = 5
    most: int = 10
    width: float = 0.05
    limit_s: float = 60.0
    redo: int = 5
    patience_s: float = 2.0
    strict: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError for contradictory bounds."""
        if self.least < 1 or self.most < self.least:
            raise ValueError("a measurement takes at least one run, and no fewer at most than at least")
        if not (self.width > 0 and self.limit_s > 0 and self.redo >= 0 and self.patience_s >= 0):
            raise ValueError("width and limit must be positive, redo and patience not negative")

    def enough(self, times_s: Sequence[float], judged_s: Sequence[float] = ()) -> bool:
        """Return whether these runs, by their times in seconds, are enough; ``judged_s`` decides, where it is given."""
        if len(times_s) < self.least:
            return False
        if len(times_s) >= self.most or sum(times_s) + statistics.median(times_s) > self.limit_s:
            return True
        return len(times_s) > 1 and relative_width(judged_s or times_s) <= self.width


def fixed_repetitions(repetitions: int) -> StoppingRule:
    """Return the rule with exactly so many runs."""
    return StoppingRule(least=repetitions, most=repetitions, redo=0)


def stopping_rule_of(repetitions: int) -> StoppingRule:
    """Return the rule of a measurement of at least so many runs: twice as many where they scatter; one stays one."""
    return StoppingRule(least=repetitions, most=2 * repetitions if repetitions > 1 else 1, redo=repetitions)
