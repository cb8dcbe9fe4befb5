"""Calibration of the advice: stated probabilities against how often they came true."""

import itertools
from collections.abc import Sequence

import msgspec

from numapredict.predictor.evaluation.folds import HeldOut

EDGES = (0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
"""Bins of stated probabilities; below a half, the default is kept."""


class Bin(msgspec.Struct, frozen=True, kw_only=True):
    """Choices whose stated probability to beat the default lies in (low, high]: how many, and how many did."""

    low: float
    high: float
    programs: int
    stated: float
    faster: int


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """How stated probabilities and intervals held for held-out programs for which the default was not kept.

    Only ``programs`` whose choice was not a probe count. The choices of ``tried`` others were probes: the run such a
    choice is made from would also be the one that judges it. ``faster`` of the programs beat the default, and
    ``stated`` were expected to (the sum of their probabilities). ``within`` had a speedup inside the 90% interval.
    ``brier`` is the mean squared error of the probabilities; None if nothing was chosen.
    """

    programs: int
    tried: int
    faster: int
    stated: float
    within: int
    brier: float | None
    bins: tuple[Bin, ...]


def calibration_of(held_out: Sequence[HeldOut]) -> Calibration:
    """Return the calibration of the choices that have a stated probability and were not probes."""
    chosen = [each for each in held_out if each.confidence is not None]
    inferred = [each for each in chosen if each.mapping not in each.probes]
    rated = [(each.confidence, each.speedup > 1, each) for each in inferred if each.confidence is not None]
    bins = []
    for low, high in itertools.pairwise(EDGES):
        inside = [
            (stated, won) for stated, won, _ in rated if low < stated <= high or (low == EDGES[0] and stated <= low)
        ]
        bins.append(
            Bin(
                low=low,
                high=high,
                programs=len(inside),
                stated=sum(stated for stated, _ in inside) / len(inside) if inside else (low + high) / 2,
                faster=sum(won for _, won in inside),
            )
        )
    return Calibration(
        programs=len(rated),
        tried=len(chosen) - len(inferred),
        faster=sum(won for _, won, _ in rated),
        stated=sum(stated for stated, _, _ in rated),
        within=sum(e.expected_speedup.low <= e.speedup <= e.expected_speedup.high for _, _, e in rated),
        brier=sum((stated - won) ** 2 for stated, won, _ in rated) / len(rated) if rated else None,
        bins=tuple(bins),
    )
