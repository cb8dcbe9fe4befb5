"""Figures: the one number of a run that a search compares, and how exactly it is known; pure."""

import math
import re
import warnings

import msgspec

from numapredict.collect.measurement import Measurement
from numapredict.native.errors import UsageError

VALUE, STEP = "figure", "figure_step"
"""The names of a repetition's readings with the figure, and with the least by which two of them can differ."""

FLAGS = re.MULTILINE
"""How a metric's pattern is read: ``^`` and ``$`` are at the ends of each line."""

LEAST_S, MOST_S = 1.0, 86_400.0
"""How long a window may be, in seconds."""

_ALL_DIGITS = 1e5  # from here on, digits behind the point say nothing


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """What a search compares of its runs: their time, or what the program prints or does in a window.

    ``metric`` is a regular expression (Python's ``re``) whose last match has the metric as its first group; empty for
    none. The larger metric is better, with ``smaller`` the smaller one. A run is ended after ``seconds``, and then
    compared by the metric, or, without one, by the parallel regions that it completed a second.
    """

    metric: str = ""
    smaller: bool = False
    seconds: float | None = None

    @property
    def is_time(self) -> bool:
        """Return whether runs are compared by their time."""
        return not self.metric and self.seconds is None

    @property
    def name(self) -> str:
        """Return what is compared, behind `by`."""
        return "run time" if self.is_time else "the metric" if self.metric else "regions a second"

    def value(self, measurement: Measurement) -> float | None:
        """Return the figure of a run as the program says it; None where it has none, and where the time is compared."""
        return None if self.is_time else _reading(measurement, VALUE)

    def cost(self, measurement: Measurement) -> float:
        """Return the number by which runs compare, the smaller the better: the time in seconds, or of the figure.

        Not a number where the run has none.
        """
        if self.is_time:
            return measurement.time_s
        value = self.value(measurement)
        if value is None or not 0 < value < math.inf:
            return math.nan
        return value if self.smaller else 1 / value

    def speedup(self, baseline: float, value: float) -> float:
        """Return how many times as good a figure is as the baseline's."""
        return baseline / value if self.smaller or self.is_time else value / baseline

    def doubt(self, measurement: Measurement) -> float:
        """Return by how much, in log2, a run may differ from its figure at most, for want of digits."""
        value, step = self.value(measurement), _reading(measurement, STEP)
        return math.log2(value / max(value - step / 2, value / 2)) if value and step else 0.0

    def in_words(self, value: float) -> str:
        """Return a figure for a person to read."""
        return f"metric {number_in_words(value)}" if self.metric else f"{number_in_words(value)} regions/s"


TIME = Figure()


def figure_of(pattern: str | None, *, smaller: bool, seconds: float | None) -> Figure:
    """Return the figure that options ask for, the time without any; UsageError for what is no pattern or window."""
    if seconds is not None and not LEAST_S <= seconds <= MOST_S:
        raise UsageError(f"--seconds is {seconds:g}: name {LEAST_S:g} to {MOST_S:g}, in which the program works")
    if pattern is None:
        if smaller:
            raise UsageError("--metric-smaller says which metric is better: give its pattern by --metric, too")
        return TIME if seconds is None else Figure(seconds=seconds)
    try:
        pattern.encode()
        with warnings.catch_warnings(action="ignore"):
            groups = re.compile(pattern, FLAGS).groups
    except UnicodeEncodeError:
        raise UsageError(f"--metric {pattern!r} is not UTF-8, as output is read; match other bytes by '.'") from None
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"--metric {pattern!r} is no regular expression: {error}") from None
    if not groups:
        raise UsageError(f"--metric {pattern!r} has no group: put the number in one, as in 'GB/s: ([0-9.]+)'")
    return Figure(metric=pattern, smaller=smaller, seconds=seconds)


def number_in_words(value: float) -> str:
    """Return a number with four digits, or all of a large one."""
    return f"{value:.4g}" if value < _ALL_DIGITS else f"{value:,.0f}"


def _reading(measurement: Measurement, name: str) -> float | None:
    found = [value for each in measurement.repetitions for title, value in each.readings if title == name]
    return found[-1] if found else None
