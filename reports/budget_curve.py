"""The figure of cheaper training: gain captured over the share of all runs that a model was learned from."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter

from numapredict.predictor.budget_curve import BudgetCurve
from numapredict.reports.figure_file import format_of, write_figure

COLOURS = ("#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#a6761d")
ENOUGH = 0.95


def curves_in_words(curves: Sequence[BudgetCurve]) -> str:
    """Return the curves as a table, a block a machine."""
    lines = []
    for curve in curves:
        made = "modelled" if curve.modelled else "measured"
        lines += [
            f"{curve.machine} ({made}), {curve.programs} programs, {curve.mappings} mappings; of all runs: "
            f"{curve.full:.2f} of the gain",
            "   runs  pilots  mappings  gain captured (least to most of the draws)  of all runs'  mappings by chance",
        ]
        for point in curve.points:
            share = f"{point.gain_captured / curve.full:13.0%}" if curve.full > 0 else " " * 13
            lines.append(
                f"{point.share:7.0%}  {point.pilots:6}  {point.mappings:8}  {point.gain_captured:6.2f} "
                f"({point.low:.2f} to {point.high:.2f}) {share:>34}  {point.by_chance:18.2f}"
            )
        lines.append("")
    return "\n".join(lines).rstrip()


def draw_budget_curves(curves: Sequence[BudgetCurve], path: Path) -> None:
    """Draw the curves as PNG or SVG; UnwritableFigureError where that cannot be."""
    format_of(path)
    figure = Figure(figsize=(7.6, 4.8), layout="constrained")
    axes = figure.add_subplot()
    for number, curve in enumerate(curves):
        colour = COLOURS[number % len(COLOURS)]
        made = "modelled" if curve.modelled else "measured"
        shares = [point.share for point in curve.points]
        relative = [point.gain_captured / curve.full for point in curve.points]
        axes.fill_between(
            shares,
            [point.low / curve.full for point in curve.points],
            [point.high / curve.full for point in curve.points],
            color=colour,
            alpha=0.15,
            linewidth=0,
        )
        axes.plot(shares, relative, color=colour, marker="o", label=f"{curve.machine} ({made})")
        axes.plot(
            shares,
            [point.by_chance / curve.full for point in curve.points],
            color=colour,
            linestyle=":",
            marker="x",
            markersize=4,
        )
    axes.axhline(ENOUGH, color="#737373", linestyle="--", linewidth=1)
    axes.set_xscale("log")
    ticks = sorted({point.share for curve in curves for point in curve.points})
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_xlabel("runs that were made, of all programs under all mappings")
    axes.set_ylabel("gain captured on held-out programs,\nof a model's of all runs")
    axes.set_ylim(min(0.0, axes.get_ylim()[0]), max(1.1, axes.get_ylim()[1]))
    axes.grid(color="#e5e5e5", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", frameon=False, title="mappings chosen by pilots (dotted: by chance)")
    write_figure(figure, path)
