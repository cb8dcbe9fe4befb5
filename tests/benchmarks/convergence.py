"""When the times of a program's iterations became steady, and what was lost until then."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

WITHIN = 0.05
NEIGHBOURS = 1  # on each side, of whom the median is taken: one late iteration is no change


@dataclass(frozen=True)
class Convergence:
    """The course of one run.

    ``steady_s``: median of the last half of the iterations; ``spread``: their interquartile range over it.
    ``iteration``: the first from which all stay near ``steady_s``; None where the last ones do not. ``after_s`` is the
    time until it began, ``lost_s`` what that is more than steady iterations take.
    """

    steady_s: float
    spread: float
    iteration: int | None
    after_s: float
    lost_s: float


def convergence(times_s: Sequence[float], within: float = WITHIN) -> Convergence:
    """Return the course of a run of at least four iterations, from each one's seconds."""
    if len(times_s) < 4:
        raise ValueError(f"{len(times_s)} iterations have no course; at least 4 have")
    half = times_s[len(times_s) // 2 :]
    steady_s = statistics.median(half)
    low, _, high = statistics.quantiles(half, n=4, method="inclusive")
    calm = [abs(value - steady_s) <= within * steady_s for value in smooth(times_s)]
    began = next((len(calm) - n for n, near in enumerate(reversed(calm)) if not near), 0)
    iteration = began if began < len(calm) else None
    after_s = sum(times_s[:began])
    return Convergence(steady_s, (high - low) / steady_s, iteration, after_s, after_s - began * steady_s)


def smooth(times_s: Sequence[float]) -> list[float]:
    """Return for each iteration the median of itself and its neighbours; the first and the last stand for themselves.

    They have one neighbour, and the first iteration is the one that differs.
    """
    last = len(times_s) - 1
    return [
        times_s[n] if n in (0, last) else statistics.median(times_s[n - NEIGHBOURS : n + NEIGHBOURS + 1])
        for n in range(len(times_s))
    ]
