"""How much run times vary from run to run, estimated from repetitions; all in log2."""

import math
import statistics
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import gammaincinv

from numapredict.collect.measurement import Measurement
from numapredict.predictor.learning.options import Clock

Array = npt.NDArray[np.float64]

MEASURED_NOISE = 0.05
"""The least deviation of a gain that was measured by two runs, in log2 (3.5%); used as is if nothing was repeated."""

LEAST_RUNS = 2
"""Least repetitions for an estimate of their spread: two of one cell say little, two of each of many cells a lot."""

MEDIAN = math.sqrt(math.pi / 2)
"""The standard error of a median over that of a mean, of many normally distributed values."""

PRIOR_RUNS = 4.0
"""How many degrees of freedom a model's own noise counts as when averaged with a program's repetitions."""


def noise_of(measurement: Measurement, clock: Clock) -> float | None:
    """Return the standard error of a measurement's median time, in log2; None with fewer than LEAST_RUNS runs."""
    times = [r.region_time_s if clock == "regions" else r.time_s for r in measurement.repetitions]
    known = [math.log2(time_s) for time_s in times if time_s is not None and 0 < time_s < math.inf]
    if len(known) < LEAST_RUNS or len(known) != len(times):
        return None
    of_mean = statistics.stdev(known) / math.sqrt(len(known))
    return of_mean if len(known) == 2 else MEDIAN * of_mean  # the median of two is their mean


def pooled_noise(noise: Array | None, runs: int = LEAST_RUNS) -> Array | None:
    """Return each program's standard error, float64[programs], of the errors float64[programs, mappings] of its cells.

    The median over mappings, robust to single disturbed cells, corrected for the few ``runs`` of a cell: a sample's
    variance is more often below the true one than above. NaN for a program without repetitions, None without any.
    """
    if noise is None or np.isnan(noise).all():
        return None
    freedom = max(runs - 1, 1)
    lift = freedom / float(2 * gammaincinv(freedom / 2, 0.5))  # over the median of chi-squared
    known = ~np.isnan(noise).all(axis=1)
    found = np.full(len(noise), np.nan)
    found[known] = np.sqrt(np.nanmedian(noise[known] ** 2, axis=1) * lift)
    return found


def noise_of_gains(noise: Array | None, weights: Array, runs: int = LEAST_RUNS) -> float | None:
    """Return the deviation of a gain, a ratio of two measurements, over all programs; None without repetitions.

    ``weights`` are the programs'; variances are averaged.
    """
    pooled = pooled_noise(noise, runs)
    if pooled is None:
        return None
    known = ~np.isnan(pooled)
    return float(np.sqrt(2 * np.average(pooled[known] ** 2, weights=weights[known])))


def noise_between(noises: Sequence[float | None], runs: Sequence[int], learned: float | None) -> float:
    """Return the deviation of the gain that two probes measured, at least MEASURED_NOISE.

    ``noises`` are the standard errors of their times and ``runs`` how many runs they rest on; ``learned`` is the
    deviation of a gain in the training, None if nothing was repeated there. Both are averaged as variances, weighted
    by their degrees of freedom.
    """
    variance = freedom = 0.0
    if learned is not None:
        variance, freedom = PRIOR_RUNS * learned**2, PRIOR_RUNS
    known = [noise for noise in noises if noise is not None]
    if known and len(known) == len(noises):
        own = float(sum(count - 1 for count in runs))
        variance += own * sum(noise**2 for noise in known)
        freedom += own
    return max(MEASURED_NOISE, math.sqrt(variance / freedom)) if freedom else MEASURED_NOISE
