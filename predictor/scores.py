"""Regret, gain captured and averages of speedups (words: regret and gain captured are the design's)."""

import math
import statistics
from collections.abc import Sequence

import msgspec

NO_GAIN = 1e-9
"""An oracle speedup this close to 1 in log leaves no gain that could be captured."""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Averages over programs of the speedups over the default that one way of choosing gives.

    ``gain_captured`` is log(geometric mean speedup) / log(geometric mean oracle speedup); None where the default is
    best for all. ``regret_median`` and ``regret_max`` are over programs.
    """

    speedup_geometric_mean: float
    speedup_arithmetic_mean: float
    speedup_min: float
    regret_median: float
    regret_max: float
    gain_captured: float | None


def gain_captured(speedup: float, oracle_speedup: float) -> float | None:
    """Return log(speedup) / log(oracle speedup), or None where the oracle gains nothing."""
    return math.log(speedup) / math.log(oracle_speedup) if math.log(oracle_speedup) > NO_GAIN else None


def summarise_speedups(speedups: Sequence[float], oracle_speedups: Sequence[float]) -> Summary:
    """Return the averages of speedups, given each program's best possible one."""
    regrets = [oracle / speedup - 1 for speedup, oracle in zip(speedups, oracle_speedups, strict=True)]
    geometric_mean = statistics.geometric_mean(speedups)
    return Summary(
        speedup_geometric_mean=geometric_mean,
        speedup_arithmetic_mean=statistics.fmean(speedups),
        speedup_min=float(min(speedups)),
        regret_median=float(statistics.median(regrets)),
        regret_max=float(max(regrets)),
        gain_captured=gain_captured(geometric_mean, statistics.geometric_mean(oracle_speedups)),
    )
