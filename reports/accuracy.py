"""The figure of accuracy: the runs that came farthest from what was expected, and the distribution of regret."""

import math
import textwrap
from collections.abc import Sequence
from itertools import cycle

import msgspec
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from numapredict.collect.data.dataset import Dataset
from numapredict.predictor.evaluation.evaluate import Evaluations
from numapredict.predictor.evaluation.folds import HeldOut
from numapredict.predictor.evaluation.search_curve import ANSWERED
from numapredict.predictor.evaluation.strategy import Strategy
from numapredict.reports import palette
from numapredict.reports.drawable import drawable
from numapredict.reports.source import evaluated_origins, sign, source_line

COMPARED = {
    Strategy.FOREST: "random forest on our probes",
    Strategy.FIXED: "the best one for the other programs",
    Strategy.THESIS: "the thesis's recipe",
    Strategy.DEFAULT: "the default",
}
"""The baselines whose regret is drawn with ours, if they were evaluated."""

LINES = (
    (palette.VERMILION, "-"),
    (palette.ORANGE, "--"),
    (palette.BLUE, "-."),
    (palette.GREEN, (0, (3, 1, 1, 1, 1, 1))),
    (palette.GREY, ":"),
)
"""Colours and strokes: where curves coincide, the lower one shows in the gaps."""

MOST_MISSES = 16
"""How many of the runs outside their interval have a row: hundreds inside it would hide them."""

MOST_LETTERS = 40
"""Most letters of a name beside its row; longer ones are shortened."""

LABEL_SHARE = 0.075
"""The share of an axis that a tick's label takes, with its margin."""


class AccuracyPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One further run of a held-out program's search: speedups over the best so far, expected with the 90% interval."""

    program: str
    machine: str
    expected: float
    low: float
    high: float
    measured: float

    @property
    def miss(self) -> float:
        """Return how far the measured speedup is outside the interval, in log2; 0 inside it."""
        return max(0.0, math.log2(self.low / self.measured), math.log2(self.measured / self.high))


class RegretCurve(msgspec.Struct, frozen=True, kw_only=True):
    """One way of choosing: the regrets of all programs, the least first, their median and 95th percentile."""

    name: str
    regrets: tuple[float, ...]
    median: float
    p95: float


class AccuracyData(msgspec.Struct, frozen=True, kw_only=True):
    """What the figure shows: a point a run, until searches answer; ``within`` of them are inside their interval."""

    machines: tuple[str, ...]
    title: str
    points: tuple[AccuracyPoint, ...]
    within: int
    curves: tuple[RegretCurve, ...]
    source: str

    @property
    def misses(self) -> tuple[AccuracyPoint, ...]:
        """Return the runs farthest from their intervals, the farthest first."""
        outside = [point for point in self.points if point.miss > 1e-9]
        return tuple(sorted(outside, key=lambda point: -point.miss)[:MOST_MISSES])


def accuracy_data(evaluations: Evaluations, datasets: Sequence[Dataset] = ()) -> AccuracyData:
    """Return the points of the runs of all programs, until searches answer, and the regrets of all.

    The evaluated ``datasets``, in the same order, give a more detailed source line.
    """
    points: list[AccuracyPoint] = []
    held: list[HeldOut] = []
    for evaluation in evaluations.datasets:
        held += evaluation.held_out
        points += [
            AccuracyPoint(
                program=each.program,
                machine=evaluation.machine,
                expected=forecast.median,
                low=forecast.low,
                high=forecast.high,
                measured=forecast.came,
            )
            for each in evaluation.held_out
            for forecast in each.forecasts[: ANSWERED - 1]
        ]
    names = [f"{drawable(each.machine)} ({palette.made_in_words(each.modelled)})" for each in evaluations.datasets]
    return AccuracyData(
        machines=tuple(each.machine for each in evaluations.datasets),
        title=f"{len(held)} held-out programs on {', '.join(names)}",
        points=tuple(points),
        within=sum(point.miss <= 1e-9 for point in points),
        curves=(
            _curve(Strategy.OURS, [each.regret for each in held]),
            *(
                _curve(text, [each.oracle_speedup / each.baselines[name] - 1 for each in held])
                for name, text in COMPARED.items()
                if name in evaluations.baselines
            ),
        ),
        source=source_line(evaluated_origins(evaluations, datasets)),
    )


def accuracy_figure(data: AccuracyData) -> Figure:
    """Return the figure: the runs outside their interval at the left, regrets at the right."""
    figure = Figure(figsize=(13.4, 6.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_misses(left, data)
    _draw_regrets(right, data)
    # Not wrapped by Matplotlib, which takes what it wraps for formulas in spite of ``spell``.
    figure.suptitle(textwrap.fill(data.title, 120), fontsize=11)
    sign(figure, data.source)
    return figure


def _curve(name: str, regrets: Sequence[float]) -> RegretCurve:
    ordered = sorted(max(0.0, float(regret)) for regret in regrets)
    return RegretCurve(
        name=name,
        regrets=tuple(ordered),
        median=float(np.median(ordered)),
        p95=float(np.percentile(ordered, 95)),
    )


def _draw_misses(axes: Axes, data: AccuracyData) -> None:
    """Draw a row for each run farthest outside its interval: the interval, what was expected, and what came."""
    misses = data.misses
    several = len(data.machines) > 1
    for machine, colour in zip(data.machines, cycle(palette.SERIES), strict=False):
        rows = [row for row, point in enumerate(misses) if point.machine == machine]
        if not rows:
            continue
        lows, highs = [misses[row].low for row in rows], [misses[row].high for row in rows]
        axes.hlines(rows, lows, highs, color=to_rgba(colour, 0.35), linewidth=7)
        axes.plot([misses[row].expected for row in rows], rows, "|", color=colour, markersize=9, markeredgewidth=1.6)
        axes.plot([misses[row].measured for row in rows], rows, "o", color=colour, markeredgecolor="black")
    values = [value for point in misses for value in (point.low, point.high, point.measured)] or [1.0]
    least, most = min([*values, 0.9]) / 1.15, max([*values, 1.2]) * 1.15
    axes.axvline(1, color=palette.GREY, linestyle="--", linewidth=1, zorder=0)
    axes.set_xscale("log", base=2)
    axes.set_xlim(least, most)
    axes.xaxis.set_major_locator(FixedLocator(_ticks(least, most)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}x"))
    axes.set_xlabel(
        "speedup over the best run so far\nbar: the 90% interval, line: the median expected; dot: what came"
    )
    names = [
        drawable(point.program, MOST_LETTERS) + (f" on {drawable(point.machine, MOST_LETTERS)}" if several else "")
        for point in misses
    ]
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(max(len(names), 1) - 0.5, -0.5)
    palette.quieten(axes, "x")
    outside = len(data.points) - data.within
    which = f"the other {outside}" if outside == len(misses) else f"the {len(misses)} farthest of the other {outside}"
    title = f"{data.within} of {len(data.points)} runs came within their 90% interval"
    axes.set_title(title + (f"; {which}" if misses else ""), fontsize=10)


def _ticks(least: float, most: float) -> list[float]:
    """Return the powers of two, with values in between if there are few and the labels have room."""
    powers = [2.0**n for n in range(math.ceil(math.log2(least)), math.floor(math.log2(most)) + 1)]
    if len(powers) > 3:
        return powers
    steps = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0)
    room = math.log(most / least) * LABEL_SHARE
    kept: list[float] = []
    for step in sorted(steps, key=lambda step: (step not in powers, abs(math.log(step)))):
        if least <= step <= most and all(abs(math.log(step / other)) >= room for other in kept):
            kept.append(step)
    return sorted(kept)


def _draw_regrets(axes: Axes, data: AccuracyData) -> None:
    for curve, (colour, line) in zip(data.curves, LINES, strict=False):
        sns.ecdfplot(
            x=curve.regrets,
            ax=axes,
            color=colour,
            linestyle=line,
            linewidth=2.6 if curve.name == Strategy.OURS else 1.4,
            label=f"{curve.name}: median {_percent(curve.median)}, 95th percentile {_percent(curve.p95)}",
        )
    most = max(regret for curve in data.curves for regret in curve.regrets)
    axes.set_xscale("symlog", linthresh=0.01)
    ticks = [tick for tick in (0, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100) if tick <= max(most, 0.01)]
    axes.set_xlim(0, max(most * 1.1, 0.01))
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("regret: time over that of the best mapping, less 1")
    axes.set_ylabel("programs with no more regret")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), frameon=False, fontsize=8.5)  # where it hides nothing
    palette.quieten(axes)
    axes.set_title("regret of all held-out programs", fontsize=10)


def _percent(share: float) -> str:
    return f"{share:.1%}" if 0.0005 <= share < 0.1 else f"{share:.0%}"
