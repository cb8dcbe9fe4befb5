"""Predicts a program's gain under every mapping from the readings of its two probe runs.

The log2 gains over the default, one per mapping, are regressed on the probes' readings (ridge regression, groups of
programs with equal weights). The error is measured per mapping on programs held out by group, and a mapping's predicted
gain is discounted by a part of it (the risk weight) before mappings are compared: of many that look good, the one that
looks best is often only the least known. The default's gain is 0 by definition, hence the default is kept if no other
mapping is predicted to win after its discount. If one of the probes is the default, the other's gain was measured.

How much a measured gain varies is learned from repetitions. Deviations of a program's own, wider where programs with
similar readings had larger errors or in proportion to the predicted gain, made intervals wider and none truer: 90%
intervals held 92 to 96% without them on seven machines, programs held out by group, and 94 to 97% with them.

Readings enter in scale-free form: the ratio of the times, and bandwidths or, without counters, shares of local
accesses, which do not change when a program runs longer.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from numapredict.collect.mapping import AnyMapping
from numapredict.predictor.learning.noise import MEASURED_NOISE
from numapredict.predictor.learning.options import Reads
from numapredict.predictor.learning.probes import MIN_DEVIATION
from numapredict.predictor.searching.known_gains import group_weights

Array = npt.NDArray[np.float64]

RIDGE = 0.05
"""Added to the variance of every standardised reading: as if each had 5% more noise."""

RISK_WEIGHT = 0.75
"""The part of its deviation by which a mapping's gain is discounted, unless another was chosen."""

NOISE = 0.1
"""The least deviation of a gain that was not measured, in log2 (7%): runs of the same program differ."""

LEAST_GAIN = 0.0144
"""The least gain for which the default is left, in log2 (1%)."""

NINE_IN_TEN = 1.645
"""Half the width of a normal distribution's 90% interval, in deviations."""


class GainModel(msgspec.Struct, frozen=True, kw_only=True):
    """A fitted regression: one value per reading in ``centre``, ``scale``, ``slopes``, one per mapping in the others.

    ``gain`` and ``deviation`` are in log2 over the default; ``slopes`` has a row a
    reading. ``reads`` is what is read in addition to the times; ``floors_GBps`` are the lowest bandwidths distinguished
    at either probe, empty if none are read. ``noise`` is the deviation of a measured gain, None if no run was repeated.
    """

    mappings: tuple[AnyMapping, ...] = msgspec.field(name="labels")
    centre: tuple[float, ...]
    scale: tuple[float, ...]
    gain: tuple[float, ...]
    slopes: tuple[tuple[float, ...], ...]
    deviation: tuple[float, ...]
    floors_GBps: tuple[float, ...]
    risk_weight: float = msgspec.field(name="caution", default=RISK_WEIGHT)
    reads: Reads = "bandwidth"
    noise: float | None = None

    @property
    def extra_reading(self) -> Reads:
        """Return what is read in addition to the times, also for models of schema 2, which lack ``reads``."""
        return self.reads if len(self.centre) > 1 else "times"

    def __post_init__(self) -> None:
        """Raise ValueError for parts of different lengths and values that give no gain."""
        width, count = len(self.centre), len(self.mappings)
        extra = len(self.floors_GBps) + (2 if self.reads == "share" else 0)
        if not width or width != 1 + extra or {len(self.scale), len(self.slopes)} != {width}:
            raise ValueError("expectation: centre, scale and slopes must have a value a reading")
        if not count or {len(self.gain), len(self.deviation), *map(len, self.slopes)} != {count}:
            raise ValueError("expectation: gain, deviation and slopes must have a value a mapping")
        if min(*self.scale, *self.deviation, *self.floors_GBps, 1.0) <= 0:
            raise ValueError("expectation: scale, deviation and floors must be positive")
        if self.noise is not None and self.noise <= 0:
            raise ValueError("expectation: noise must be positive")


class PredictedGains(msgspec.Struct, frozen=True, eq=False):
    """One program's predicted log2 gains over the default and their deviations, float64[mappings] each."""

    gain: Array
    deviation: Array


def risk_adjusted_gain(gain: Array, deviation: Array, risk_weight: float, default: int) -> Array:
    """Return the gains after their discount, by which mappings are compared, float64[..., mappings] in log2.

    The default counts as LEAST_GAIN: it is kept unless another mapping is predicted to gain as much.
    """
    found: Array = gain - risk_weight * deviation
    found[..., default] = LEAST_GAIN
    return found


def discounted(gain: Array, deviation: Array, risk_weight: float, default: int) -> Array:
    """Return the gains to report, float64[mappings] in log2, ordered as ``risk_adjusted_gain``.

    Gains after their discount, plus the smallest discount, that of a measured gain, which is thus reported as measured.
    Without discounts the best-looking mapping would be overrated: the speedups of held-out programs' choices that were
    not probes were 0.05 to 0.39 in log2 below the predicted ones.
    """
    others = np.arange(gain.shape[-1]) != default
    known = float(deviation[others].min()) if others.any() else 0.0
    found: Array = gain - risk_weight * (deviation - known)
    found[default] = 0.0
    return found


def readings_of(times: Array, extra: Array, floors: Array) -> Array:
    """Return float64[programs, 1 or 3]: the readings of times float64[programs, 2] and of ``extra``.

    ``extra`` has as many columns, or none: bandwidths, raised to ``floors``, or shares if there are no floors.
    """
    ratio = np.log2(times[:, :1]) - np.log2(times[:, 1:])
    if not extra.shape[1]:
        return ratio
    return np.hstack([ratio, np.log2(np.maximum(extra, floors)) if len(floors) else extra])


def regress(readings: Array, gains: Array, weights: Array) -> tuple[Array, Array, Array, Array]:
    """Return centre and scale of the readings, mean gain, and slopes float64[readings, mappings]."""
    centre = weights @ readings
    scale: Array = np.sqrt(np.maximum(weights @ (readings - centre) ** 2, MIN_DEVIATION**2))
    standard = (readings - centre) / scale
    gain = weights @ gains
    weighted = (standard * weights[:, None]).T
    inner = weighted @ standard + RIDGE * np.eye(readings.shape[1])
    slopes = np.asarray(np.linalg.solve(inner, weighted @ (gains - gain)), dtype=np.float64)
    return centre, scale, gain, slopes


def held_out_gains(readings: Array, gains: Array, groups: Sequence[str]) -> Array:
    """Return float64[programs, mappings]: each program's gains predicted from the programs of the other groups.

    One fit serves all groups: without a group, its residuals are (I - H)^-1 times those of the fit with it, where H is
    the group's block of the hat matrix (Cook and Weisberg, Residuals and Influence in Regression, 1982, sec. 2.2). Only
    centre and scale of the readings are those of all programs.
    """
    names, inverse, counts = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    weights = group_weights(groups)
    if len(names) < 2:
        return np.tile(weights @ gains, (len(gains), 1))
    centre, scale, _, _ = regress(readings, gains, weights)
    rows = np.hstack([np.ones((len(readings), 1)), (readings - centre) / scale])
    penalty = np.diag([0.0] + [RIDGE] * readings.shape[1])
    weighted = (rows * weights[:, None]).T
    inner = np.linalg.inv(weighted @ rows + penalty)
    residual = gains - rows @ (inner @ (weighted @ gains))
    order = np.argsort(inverse, kind="stable")
    starts = np.cumsum(counts) - counts
    for size in np.unique(counts):
        members = order[starts[counts == size][:, None] + np.arange(size)]  # [groups of that size, size]
        block = rows[members] @ inner @ (rows[members] * weights[members][:, :, None]).transpose(0, 2, 1)
        residual[members] = np.linalg.solve(np.eye(size) - block, residual[members])
    expected: Array = gains - residual
    return expected


def deviations(expected: Array, gains: Array, groups: Sequence[str], default: int, readings: int) -> Array:
    """Return float64[mappings]: the deviation of predicted gains, at least NOISE; for the default a measured one's."""
    found = held_out_deviations(expected, gains, groups, readings)
    found[default] = MEASURED_NOISE
    return found


def held_out_deviations(expected: Array, gains: Array, groups: Sequence[str], readings: int) -> Array:
    """Return float64[mappings]: the deviation of gains predicted from ``readings`` values, at least NOISE.

    With few groups the error itself is uncertain: what is returned gives a normal distribution the 90% interval of
    Student's; the degrees of freedom are the groups less the fitted values, of ``readings`` and a mean.
    """
    found = np.sqrt(group_weights(groups) @ (gains - expected) ** 2 + NOISE**2)
    freedom = max(len(set(groups)) - 1 - readings, 1)
    found *= float(stdtrit(freedom, 0.95)) / NINE_IN_TEN
    return found


def with_what_is_known(
    expected: Array,
    deviation: Array,
    times: Array,
    probes: tuple[int, int],
    default: int,
    noise: float | Array = MEASURED_NOISE,
) -> tuple[Array, Array]:
    """Return gains and deviations float64[programs, mappings], with those of probes and default replaced by known ones.

    ``probes`` are the probes' columns, in the order of ``times`` float64[programs, 2]; ``deviation`` is
    float64[mappings] or has a row per program; ``noise`` is the deviation of a measured gain, one or one per program.
    """
    gain, spread = expected.copy(), np.broadcast_to(deviation, expected.shape).copy()
    gain[:, default], spread[:, default] = 0.0, 0.0
    if default in probes:
        at = probes.index(default)
        other = probes[1 - at]
        gain[:, other] = np.log2(times[:, at] / times[:, 1 - at])
        spread[:, other] = noise
    return gain, spread


def fit_gain_model(
    mappings: Sequence[AnyMapping], readings: Array, floors: Array, gains: Array, groups: Sequence[str], default: int
) -> GainModel:
    """Return the gain model learned from programs with these readings and gains."""
    centre, scale, gain, slopes = regress(readings, gains, group_weights(groups))
    spread = deviations(held_out_gains(readings, gains, groups), gains, groups, default, readings.shape[1])
    return GainModel(
        mappings=tuple(mappings),
        centre=_floats(centre),
        scale=_floats(scale),
        gain=_floats(gain),
        slopes=tuple(map(_floats, slopes)),
        deviation=_floats(spread),
        floors_GBps=_floats(floors),
        reads="bandwidth" if len(floors) else "share" if readings.shape[1] > 1 else "times",
    )


def predict_gains(
    gain_model: GainModel,
    times: tuple[float, float],
    extra: Sequence[float],
    probes: tuple[AnyMapping, AnyMapping],
    default: AnyMapping,
    noise: float = MEASURED_NOISE,
) -> PredictedGains:
    """Return a program's predicted gains by its probes' times and by what else it reads, ``extra``.

    ``noise`` is the deviation of the gain that the probes measured. If it exceeds the training's, the deviations of
    gains inferred from that gain grow accordingly.
    """
    time = np.array([times])
    readings = readings_of(time, np.array([extra]).reshape(1, -1), np.array(gain_model.floors_GBps))
    standard = (readings - np.array(gain_model.centre)) / np.array(gain_model.scale)
    expected = np.array(gain_model.gain) + standard @ np.array(gain_model.slopes)
    columns = (gain_model.mappings.index(probes[0]), gain_model.mappings.index(probes[1]))
    known = max(MEASURED_NOISE, gain_model.noise or 0.0)
    more = np.sqrt(max(noise**2 - known**2, 0.0)) * np.array(gain_model.slopes[0]) / gain_model.scale[0]
    deviation = np.hypot(np.array(gain_model.deviation), more)
    gain, spread = with_what_is_known(expected, deviation, time, columns, gain_model.mappings.index(default), noise)
    return PredictedGains(gain[0], spread[0])


def _floats(values: Array) -> tuple[float, ...]:
    return tuple(map(float, values))
