"""The figure of cheaper training: gain captured over the share of all runs that a model was learned from."""

import math
from collections.abc import Sequence
from itertools import cycle

import msgspec
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MultipleLocator, NullLocator, PercentFormatter

from numapredict.predictor.evaluation.budget_curve import BudgetCurve
from numapredict.reports import palette
from numapredict.reports.drawable import drawable
from numapredict.reports.source import Origin, sign, source_line

ENOUGH = 0.95

FLOOR = 0.8
"""Where the scale begins, or at the next 10% below the least of the pilots' draws: mappings at random may leave it."""


class BudgetLine(msgspec.Struct, frozen=True, kw_only=True):
    """One dataset's line: by share of all runs, the gain captured over that of all runs' model.

    ``captured`` is the median of the draws, ``low`` and ``high`` the least and the most, ``by_chance`` that of mappings
    drawn at random.
    """

    machine: str
    modelled: bool
    shares: tuple[float, ...]
    captured: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    by_chance: tuple[float, ...]


class BudgetCurvesData(msgspec.Struct, frozen=True, kw_only=True):
    """What the figure shows; ``omitted`` are the machines whose model of all runs gains nothing."""

    title: str
    lines: tuple[BudgetLine, ...]
    omitted: tuple[str, ...]
    source: str


def budget_curves_data(curves: Sequence[BudgetCurve], origins: Sequence[Origin] = ()) -> BudgetCurvesData:
    """Return a line per curve; ``origins``, in the same order, give a more detailed source line."""
    lines = [
        BudgetLine(
            machine=curve.machine,
            modelled=curve.modelled,
            shares=tuple(point.share for point in curve.points),
            captured=tuple(point.gain_captured / curve.full for point in curve.points),
            low=tuple(point.low / curve.full for point in curve.points),
            high=tuple(point.high / curve.full for point in curve.points),
            by_chance=tuple(point.by_chance / curve.full for point in curve.points),
        )
        for curve in curves
        if curve.full > 0
    ]
    known = origins or [Origin(machine=curve.machine, modelled=curve.modelled) for curve in curves]
    return BudgetCurvesData(
        title=", ".join(
            f"{curve.programs} programs under {curve.mappings} mappings on {drawable(curve.machine)} "
            f"({palette.made_in_words(curve.modelled)})"
            for curve in curves
        ),
        lines=tuple(lines),
        omitted=tuple(curve.machine for curve in curves if curve.full <= 0),
        source=source_line(known),
    )


def curves_in_words(curves: Sequence[BudgetCurve]) -> str:
    """Return the curves as a table, a block per machine."""
    lines = []
    for curve in curves:
        lines += [
            f"{drawable(curve.machine)} ({palette.made_in_words(curve.modelled)}), {curve.programs} programs, "
            f"{curve.mappings} mappings; of all runs: {curve.full:.2f} of the gain",
            "   runs  pilots  mappings  gain captured (lowest to highest draw)  of all runs'  mappings at random",
        ]
        for point in curve.points:
            share = f"{point.gain_captured / curve.full:13.0%}" if curve.full > 0 else " " * 13
            lines.append(
                f"{point.share:7.0%}  {point.pilots:6}  {point.mappings:8}  {point.gain_captured:6.2f} "
                f"({point.low:.2f} to {point.high:.2f}) {share:>34}  {point.by_chance:18.2f}"
            )
        lines.append("")
    return "\n".join(lines).rstrip()


def budget_figure(data: BudgetCurvesData) -> Figure:
    """Return the figure: a curve per dataset with its spread, and dotted that of random mappings."""
    figure = Figure(figsize=(7.6, 5.2), layout="constrained")
    axes = figure.add_subplot()
    for line, colour, marker in zip(data.lines, cycle(palette.SERIES), cycle(palette.MARKERS), strict=False):
        _draw_line(axes, line, colour, marker)
    axes.axhline(ENOUGH, color=palette.GREY, linestyle="--", linewidth=1)
    shares = sorted({share for line in data.lines for share in line.shares})
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(shares))
    axes.xaxis.set_minor_locator(NullLocator())
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_xlabel("runs made, as a share of all programs under all mappings")
    axes.set_ylabel("gain captured on held-out programs,\nrelative to a model of all runs")
    low = min((math.floor(10 * value + 1e-9) / 10 for line in data.lines for value in line.low), default=FLOOR)
    axes.set_ylim(min(FLOOR, low), max(1.02, axes.get_ylim()[1]))
    axes.yaxis.set_major_locator(MultipleLocator(0.05 if low > 0.5 else 0.1))
    palette.quieten(axes)
    for machine in data.omitted:
        axes.plot([], [], " ", label=f"{drawable(machine)}: nothing to gain")
    if data.lines or data.omitted:
        beyond = any(value < min(FLOOR, low) for line in data.lines for value in line.by_chance)
        dotted = f"dotted: at random{', from below the scale' if beyond else ''}"
        title = f"mappings chosen by pilot runs ({dotted})"
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), frameon=False, title=title)
    figure.suptitle("\n".join(data.title.split(", ")), fontsize=10)
    sign(figure, data.source)
    return figure


def _draw_line(axes: Axes, line: BudgetLine, colour: str, marker: str) -> None:
    name = f"{drawable(line.machine)} ({palette.made_in_words(line.modelled)})"
    axes.fill_between(line.shares, line.low, line.high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(line.shares, line.captured, color=colour, marker=marker, label=name)
    axes.plot(line.shares, line.by_chance, color=colour, linestyle=":", marker="x", markersize=4)
