"""Predicts a program's gain under every mapping from the one gain that its two probes measured.

One of the probes is the default, so that the other's gain over it is measured. On this gain, every mapping's log2 gain
over the default is regressed (ridge regression, groups of programs with equal weights). The error is measured per
mapping on programs held out by group, and a mapping's predicted gain is discounted by a part of it before mappings are
compared: of many that look good, the one that looks best is often only the least known. The default's gain is 0 by
definition, hence the default is kept if no other mapping is predicted to win after its discount.

What was left out since it added nothing to the choice, held out by group on the four shipped datasets and on three
machines that MCTOP measured (``numapredict evaluate``): bandwidths or shares of local accesses as further readings, a
discount chosen by cross-validation, and a program's own deviations, from errors near it and for kinds of programs that
the training lacks. The weighted known programs of a search (``searching``) choose as well between the runs made, but
predict mappings that were not run worse: their best mapping that numactl alone can express captures 0.59 to 0.97 of
what such mappings can gain, with up to 23% losers, where the line captures 0.75 to 0.96 with 0.8%.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from numapredict.collect.mapping import AnyMapping
from numapredict.predictor.learning.noise import MEASURED_NOISE
from numapredict.predictor.learning.probes import MIN_DEVIATION

Array = npt.NDArray[np.float64]

RIDGE = 0.05
"""Added to the variance of the measured gain, as a part of it: as if it had 5% more noise."""

RISK_WEIGHT = 0.6
"""The part of its deviation by which a mapping's gain is discounted."""

NOISE = 0.1
"""The least deviation of a gain that was not measured, in log2 (7%): runs of the same program differ."""

RELATIVE = 0.2
"""The part of a predicted gain that counts as uncertain: one far from 0 is inferred from other programs.

Chosen so that 90% intervals hold programs of kinds that the training lacks (a sixth of the merge tree left out): 89%
on sandybridge-4x8 and on broadwell-2x10, where without this part they hold 84% and 76%.
"""

LEAST_GAIN = 0.0144
"""The least gain for which the default is left, in log2 (1%)."""

NINE_IN_TEN = 1.645
"""Half the width of a normal distribution's 90% interval, in deviations."""


class GainModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fitted regression: ``gain``, ``slope`` and ``deviation`` have one value per mapping.

    ``gain`` is log2 over the default at the measured gain ``centre``, ``slope`` its change with the measured gain.
    ``noise`` is the deviation of a measured gain, None if no run was repeated.
    """

    mappings: tuple[AnyMapping, ...] = msgspec.field(name="labels")
    centre: float
    gain: tuple[float, ...]
    slope: tuple[float, ...]
    deviation: tuple[float, ...]
    noise: float | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for parts of different lengths and values that give no gain."""
        if not self.mappings or {len(self.gain), len(self.slope), len(self.deviation)} != {len(self.mappings)}:
            raise ValueError("expectation: gain, slope and deviation must have a value a mapping")
        if min(*self.deviation, 1.0 if self.noise is None else self.noise) <= 0:
            raise ValueError("expectation: deviation and noise must be positive")


class PredictedGains(msgspec.Struct, frozen=True, eq=False):
    """One program's predicted log2 gains over the default and their deviations, float64[mappings] each."""

    gain: Array
    deviation: Array


def risk_adjusted_gain(gain: Array, deviation: Array, default: int) -> Array:
    """Return the gains after their discount, by which mappings are compared, float64[..., mappings] in log2.

    The default is kept unless another mapping is predicted to gain LEAST_GAIN: as much as one that was measured has to.
    """
    found: Array = gain - RISK_WEIGHT * (deviation - MEASURED_NOISE)
    found[..., default] = LEAST_GAIN
    return found


def discounted(gain: Array, deviation: Array, default: int) -> Array:
    """Return the gains to report, float64[mappings] in log2, ordered as ``risk_adjusted_gain``.

    Gains after their discount, plus the smallest discount, that of a measured gain, which is thus reported as measured.
    Without discounts the best-looking mapping would be overrated.
    """
    others = np.arange(gain.shape[-1]) != default
    known = float(deviation[others].min()) if others.any() else 0.0
    found: Array = gain - RISK_WEIGHT * (deviation - known)
    found[default] = 0.0
    return found


def group_weights(groups: Sequence[str]) -> Array:
    """Return float64[programs]: weights that are equal for every group and add up to 1."""
    _, inverse, counts = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    return 1 / counts[inverse] / len(counts)


def regress(measured: Array, gains: Array, groups: Sequence[str]) -> tuple[float, Array, Array]:
    """Return the mean measured gain, the mean gains, and the slopes; measured float64[programs]."""
    weights = group_weights(groups)
    centre, gain = float(weights @ measured), weights @ gains
    off = weights * (measured - centre)
    variance = float(off @ (measured - centre))
    slope: Array = off @ (gains - gain) / (variance + RIDGE * max(variance, MIN_DEVIATION**2))
    return centre, gain, slope


def held_out_gains(measured: Array, gains: Array, groups: Sequence[str]) -> Array:
    """Return float64[programs, mappings]: each program's gains predicted from the programs of the other groups."""
    names = np.asarray(groups)
    expected = np.tile(group_weights(groups) @ gains, (len(gains), 1))
    for name in dict.fromkeys(groups):
        others = names != name
        if others.any():
            centre, gain, slope = regress(measured[others], gains[others], names[others].tolist())
            expected[~others] = gain + (measured[~others, None] - centre) * slope
    return expected


def deviations(expected: Array, gains: Array, groups: Sequence[str], default: int) -> Array:
    """Return float64[mappings]: the deviation of predicted gains, at least NOISE; MEASURED_NOISE for the default.

    With few groups the error itself is uncertain: what is returned gives a normal distribution the 90% interval of
    Student's; the degrees of freedom are the groups less the fitted values, a mean and a slope.
    """
    found = np.sqrt(group_weights(groups) @ (gains - expected) ** 2 + NOISE**2)
    found *= float(stdtrit(max(len(set(groups)) - 2, 1), 0.95)) / NINE_IN_TEN
    found[default] = MEASURED_NOISE
    return found


def with_what_is_known(
    expected: Array, deviation: Array, probes: tuple[int, int], measured: float, noise: float
) -> PredictedGains:
    """Return a program's gains by the ones ``expected`` and their ``deviation`` among all programs.

    ``probes`` are columns, the default's first; the other one's gain was ``measured``, with the deviation ``noise``.
    """
    found = PredictedGains(expected.copy(), np.hypot(deviation, RELATIVE * expected))
    found.gain[list(probes)], found.deviation[list(probes)] = (0.0, measured), (0.0, noise)
    return found


def fit_gain_model(
    mappings: Sequence[AnyMapping], probes: tuple[int, int], gains: Array, groups: Sequence[str], noise: float | None
) -> GainModel:
    """Return the gain model learned from programs with these gains; ``probes`` are columns, the default's first."""
    measured = gains[:, probes[1]]
    centre, gain, slope = regress(measured, gains, groups)
    return GainModel(
        mappings=tuple(mappings),
        centre=centre,
        gain=_floats(gain),
        slope=_floats(slope),
        deviation=_floats(deviations(held_out_gains(measured, gains, groups), gains, groups, probes[0])),
        noise=noise,
    )


def predict_gains(
    gain_model: GainModel, probes: tuple[AnyMapping, AnyMapping], measured: float, noise: float = MEASURED_NOISE
) -> PredictedGains:
    """Return a program's predicted gains by the gain that its probes ``measured``; the first is the default.

    ``noise`` is the deviation of that gain. If it exceeds the training's, the deviations of gains inferred from it grow
    accordingly.
    """
    slope = np.array(gain_model.slope)
    known = max(MEASURED_NOISE, gain_model.noise or 0.0)
    more = np.sqrt(max(noise**2 - known**2, 0.0)) * slope
    columns = (gain_model.mappings.index(probes[0]), gain_model.mappings.index(probes[1]))
    expected = np.array(gain_model.gain) + (measured - gain_model.centre) * slope
    return with_what_is_known(expected, np.hypot(gain_model.deviation, more), columns, measured, noise)


def _floats(values: Array) -> tuple[float, ...]:
    return tuple(map(float, values))
