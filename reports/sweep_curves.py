"""The figure of speedup over the number of clusters for each feature set (thesis figures 26 to 29)."""

from collections.abc import Sequence
from statistics import fmean

import msgspec
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from numapredict.predictor.evaluation.thesis import FEATURE_SETS, FeatureSet, Sweep
from numapredict.reports import palette
from numapredict.reports.drawable import drawable
from numapredict.reports.source import Origin, sign, source_line

MOST_CLUSTERS = 30
"""The thesis's curves end here."""

MOST_LETTERS = 40
"""Letters of a mapping's name that fit into a panel's width."""

WHAT: dict[FeatureSet, str] = {
    "times": "run times",
    "local_accesses": "local accesses",
    "remote_accesses": "remote accesses",
    "local_bandwidth_GBps": "local bandwidth",
    "remote_bandwidth_GBps": "remote bandwidth",
    "two_probes": "a time and a bandwidth",
}
"""What each curve's clusters are found by."""

BEST, DEFAULT = "each program's best", "the default"
LEAST = 0.55
"""The scale, a share of the best, begins here or lower: what matters is how near to the best a curve is."""

LABEL_STEP = 0.06
"""The distance of two labels, as a share of the axes' height."""

STYLES = dict(zip(FEATURE_SETS, zip(palette.SERIES, palette.MARKERS, strict=False), strict=False))


class SweepCurve(msgspec.Struct, frozen=True):
    """One curve: arithmetic mean speedups with 1, 2, ... clusters, as in the thesis."""

    features: FeatureSet
    clusters: tuple[int, ...]
    speedups: tuple[float, ...]


class SweepPanel(msgspec.Struct, frozen=True):
    """The curves over one default mapping, and the speedup with every program's own best mapping."""

    default: str
    best: float
    curves: tuple[SweepCurve, ...]


class SweepCurvesData(msgspec.Struct, frozen=True):
    """What the figure shows."""

    title: str
    panels: tuple[SweepPanel, ...]
    source: str


def sweep_curves_data(sweeps: Sequence[Sweep], origin: Origin) -> SweepCurvesData:
    """Return the curves of ``sweeps_of``, at least one, in a panel per default mapping."""
    panels = []
    for default in dict.fromkeys(sweep.default for sweep in sweeps):
        same = [sweep for sweep in sweeps if sweep.default == default]
        curves = []
        for sweep in same:
            shown = [point for point in sweep.points if point.clusters <= MOST_CLUSTERS]
            counts, speedups = tuple(p.clusters for p in shown), tuple(p.speedup_arithmetic for p in shown)
            curves.append(SweepCurve(sweep.features, counts, speedups))
        last = max(same[0].points, key=lambda point: point.clusters)  # one cluster per program
        panels.append(SweepPanel(default.label, last.speedup_arithmetic, tuple(curves)))
    programs = len(sweeps[0].points)
    title = f"{programs} programs on {drawable(origin.machine)} ({palette.made_in_words(origin.modelled)})"
    return SweepCurvesData(title, tuple(panels), source_line([origin]))


def sweep_figure(data: SweepCurvesData) -> Figure:
    """Return the figure: a panel per default mapping, the curves' names at their ends.

    All panels have one scale: the mean speedup as a share of that with every program's own best mapping. Over one
    default that is 2x, over another 15x; on a scale of speedups the curves of the former lie on each other.
    """
    columns = len(data.panels)
    figure = Figure(figsize=(0.6 + 5.6 * columns, 5.0), layout="constrained")
    drawn = figure.subplots(1, columns, squeeze=False, sharex=True, sharey=True)[0]
    for axes, panel in zip(drawn, data.panels, strict=True):
        _draw_panel(axes, panel)
    for axes, panel in zip(drawn, data.panels, strict=True):  # when all share their scale
        _label_ends(axes, panel)
    drawn[0].yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    drawn[0].set_ylabel("mean speedup over the default,\nas a share of the best (in sample)")
    about = "each program under the best mapping of its cluster's centroid; clusters by the quantity at the curve's end"
    figure.suptitle(f"{data.title}\n{about}", fontsize=11)
    sign(figure, data.source)
    return figure


def _draw_panel(axes: Axes, panel: SweepPanel) -> None:
    for number, curve in enumerate(panel.curves):
        colour, marker = STYLES[curve.features]
        axes.plot(
            curve.clusters,
            [speedup / panel.best for speedup in curve.speedups],
            color=colour,
            marker=marker,
            markersize=5,
            markevery=(number, len(panel.curves)),  # by turns: where curves coincide, each still shows its marks
            linewidth=1.6,
            label=WHAT[curve.features],
        )
    axes.axhline(1, color=palette.GREY, linestyle="--", linewidth=1, label=BEST)
    least = min(LEAST, *(0.95 * min(curve.speedups) / panel.best for curve in panel.curves))
    axes.set_ylim(
        min(axes.get_ylim()[0], least), max(axes.get_ylim()[1], 1.05)
    )  # its name stands above the dashed line
    if 1 / panel.best > least:
        axes.axhline(1 / panel.best, color=palette.GREY, linestyle=":", linewidth=1, label=DEFAULT)
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]))
    axes.set_xlabel("clusters")
    axes.set_title(f"default: {drawable(panel.default, MOST_LETTERS)}", fontsize=10)
    palette.quieten(axes)


def _label_ends(axes: Axes, panel: SweepPanel) -> None:
    """Write each curve's name with its mark right of its end, the one that is highest on average on top.

    Most curves end at the speedup of each program's best mapping, so the names are spread around it.
    """
    low, high = axes.get_ylim()
    lines = [(f"{BEST}: {panel.best:.2f}x", 1.0, "bottom", 5)]
    if 1 / panel.best > low:
        lines.append((DEFAULT, 1 / panel.best, "top", -2))
    for words, share, where, away in lines:
        axes.annotate(
            words,
            (1, share),
            xycoords=axes.get_yaxis_transform(),
            xytext=(0, away),
            textcoords="offset points",
            fontsize=8,
            color=palette.TEXT,
            ha="right",
            va=where,
        )
    order = sorted(panel.curves, key=lambda curve: -fmean(curve.speedups))
    middle = (fmean(curve.speedups[-1] for curve in order) / panel.best - low) / (high - low)
    top = min(1.0, middle + LABEL_STEP * (len(order) - 1) / 2)
    for number, curve in enumerate(order):
        colour, marker = STYLES[curve.features]
        height = top - LABEL_STEP * number
        axes.plot(1.03, height, color=colour, marker=marker, transform=axes.transAxes, clip_on=False)
        axes.text(1.05, height, WHAT[curve.features], transform=axes.transAxes, fontsize=8.5, va="center")
