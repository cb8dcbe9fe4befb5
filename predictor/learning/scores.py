"""How good a way of choosing mappings is: speedups, gain captured and regret, with intervals."""

import math
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

NO_GAIN = 1e-9
"""An oracle speedup this close to 1 in log leaves no gain that could be captured."""

SLOWER = 0.02
"""A choice counts as slower than the default if its time is greater by over this share."""

RESAMPLES, CONFIDENCE, SEED = 2000, 0.95, 1


class Means(msgspec.Struct, frozen=True):
    """Both averages of speedups over programs."""

    geometric: float
    arithmetic: float


class Regret(msgspec.Struct, frozen=True):
    """Regrets over programs: their median, 95th percentile and greatest."""

    median: float
    p95: float
    max: float


class Interval(msgspec.Struct, frozen=True):
    """The ends of a 95% interval."""

    low: float
    high: float


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """What one way of choosing gives ``programs`` programs; speedups are over the default.

    ``gain_captured`` is log(geometric mean speedup) / log(geometric mean oracle speedup); None where the default is
    best for all. ``slower_than_default`` is the share of programs that take more time by over 2%, ``worst_speedup`` the
    least speedup. The intervals come from a bootstrap over groups of programs (percentile method, 2000 resamples):
    None with fewer than two groups.
    """

    programs: int
    gain_captured: float | None
    speedup: Means
    oracle_speedup: Means
    regret: Regret
    slower_than_default: float
    worst_speedup: float
    gain_captured_interval: Interval | None
    speedup_interval: Interval | None


def gain_captured(speedup: float, oracle_speedup: float) -> float | None:
    """Return log(speedup) / log(oracle speedup), or None where the oracle gains nothing."""
    return math.log(speedup) / math.log(oracle_speedup) if math.log(oracle_speedup) > NO_GAIN else None


def score_of(gains: Array, oracle: Array, groups: Sequence[str]) -> Score:
    """Return the score of log2 gains over the default, float64[programs], given each program's best possible one.

    ValueError if the lengths differ or are 0.
    """
    if not len(gains) or len({len(gains), len(oracle), len(groups)}) != 1:
        raise ValueError(f"{len(gains)} gains, {len(oracle)} best gains and {len(groups)} groups make no score")
    regret = 2 ** (oracle - gains) - 1
    speedup, best = _means(gains), _means(oracle)
    captured, faster = _intervals(gains, oracle, groups)
    return Score(
        programs=len(gains),
        gain_captured=gain_captured(speedup.geometric, best.geometric),
        speedup=speedup,
        oracle_speedup=best,
        regret=Regret(float(np.median(regret)), float(np.percentile(regret, 95)), float(regret.max())),
        slower_than_default=float((gains < -np.log2(1 + SLOWER)).mean()),
        worst_speedup=float(2 ** gains.min()),
        gain_captured_interval=captured,
        speedup_interval=faster,
    )


def _means(gains: Array) -> Means:
    return Means(float(2 ** gains.mean()), float((2**gains).mean()))


def _intervals(gains: Array, oracle: Array, groups: Sequence[str]) -> tuple[Interval | None, Interval | None]:
    """Return the intervals of the gain captured and of the geometric mean speedup; whole groups are drawn."""
    names, inverse = np.unique(np.asarray(groups), return_inverse=True)
    if len(names) < 2:
        return None, None
    sums = np.column_stack([np.bincount(inverse, weights=values) for values in (gains, oracle, np.ones(len(gains)))])
    drawn = np.random.default_rng(SEED).multinomial(len(names), np.full(len(names), 1 / len(names)), RESAMPLES) @ sums
    gain, best, count = drawn.T
    could_gain = best > NO_GAIN
    captured = _interval(gain[could_gain] / best[could_gain]) if could_gain.mean() > CONFIDENCE else None
    return captured, _interval(2 ** (gain / count))


def _interval(values: Array) -> Interval:
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(low), float(high))
