"""Calibration: what was expected of the further runs of a search, against how they came out."""

import itertools
from collections.abc import Sequence

import msgspec

EDGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
"""Bins of stated chances."""


class Forecast(msgspec.Struct, frozen=True, array_like=True):
    """What a run was expected to give over the best so far, as a speedup with its 90% interval, and what it gave.

    ``chance`` is the stated probability that it is faster.
    """

    median: float
    low: float
    high: float
    chance: float
    came: float

    @property
    def within(self) -> bool:
        """Return whether it came out within the interval."""
        return self.low <= self.came <= self.high


class Bin(msgspec.Struct, frozen=True, kw_only=True):
    """Runs whose stated chance to be faster lies in (low, high]: how many, their mean chance, and how many were."""

    low: float
    high: float
    runs: int
    stated: float
    faster: int


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """How the forecasts of ``runs`` runs held.

    ``within`` of them had a speedup over the best so far inside the 90% interval; ``faster`` beat it, where ``stated``
    were expected to (the sum of their chances). ``brier`` is the mean squared error of the chances; None without runs.
    """

    runs: int
    within: int
    faster: int
    stated: float
    brier: float | None
    bins: tuple[Bin, ...]


def calibration_of(forecasts: Sequence[Forecast]) -> Calibration:
    """Return how forecasts held."""
    bins = []
    for low, high in itertools.pairwise(EDGES):
        inside = [each for each in forecasts if low < each.chance <= high or (low == EDGES[0] and each.chance <= low)]
        stated = sum(each.chance for each in inside) / len(inside) if inside else (low + high) / 2
        faster = sum(each.came > 1 for each in inside)
        bins.append(Bin(low=low, high=high, runs=len(inside), stated=stated, faster=faster))
    errors = [(each.chance - (each.came > 1)) ** 2 for each in forecasts]
    return Calibration(
        runs=len(forecasts),
        within=sum(each.within for each in forecasts),
        faster=sum(each.came > 1 for each in forecasts),
        stated=sum(each.chance for each in forecasts),
        brier=sum(errors) / len(errors) if errors else None,
        bins=tuple(bins),
    )
