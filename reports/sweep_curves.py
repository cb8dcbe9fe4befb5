"""The figure of speedup over the number of clusters for each feature set (thesis figures 26 to 29)."""

from collections.abc import Sequence

import msgspec
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from numapredict.predictor.evaluation.thesis import FEATURE_SETS, FeatureSet, Sweep
from numapredict.reports import palette
from numapredict.reports.drawable import drawable
from numapredict.reports.source import Origin, sign, source_line

MOST_CLUSTERS = 30
"""The thesis's curves end here."""

MOST_LETTERS = 40
"""Letters of a mapping's name that fit into a panel's width."""

WHAT: dict[FeatureSet, str] = {
    "times": "by run times of all mappings (figs. 26, 27)",
    "local_accesses": "by local accesses (fig. 28a)",
    "remote_accesses": "by remote accesses (fig. 28b)",
    "local_bandwidth_GBps": "by local bandwidth (fig. 28c)",
    "remote_bandwidth_GBps": "by remote bandwidth (fig. 28d)",
    "two_probes": "by one time and one bandwidth (fig. 29)",
}
BEST, DEFAULT = "each program's best mapping", "the default mapping"
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
    """Return the figure: a panel per default mapping."""
    columns = len(data.panels)
    figure = Figure(figsize=(max(6.4, 0.6 + 4.3 * columns), 5.4), layout="constrained")
    for axes, panel in zip(figure.subplots(1, columns, squeeze=False)[0], data.panels, strict=True):
        _draw_panel(axes, panel)
    figure.axes[0].set_ylabel("speedup over the default, arithmetic mean\n(in sample, higher is better)")
    found: dict[str, Artist] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        found |= zip(labels, handles, strict=True)
    labels = sorted(found, key=[*WHAT.values(), BEST, DEFAULT].index)
    figure.legend(
        [found[label] for label in labels],
        labels,
        loc="outside lower center",
        ncols=min(3, max(2, columns)),
        frameon=False,
        fontsize=9,
    )
    about = "each program under the best mapping of its cluster's centroid"
    figure.suptitle(f"{data.title}\n{about}", fontsize=11)
    sign(figure, data.source)
    return figure


def _draw_panel(axes: Axes, panel: SweepPanel) -> None:
    among = len(panel.curves) > 1
    for number, curve in enumerate(panel.curves):
        colour, marker = STYLES[curve.features]
        axes.plot(
            curve.clusters,
            curve.speedups,
            color=colour,
            marker=marker,
            markersize=max(8 - number, 3) if among else 4,  # coinciding curves hide less of each other
            linewidth=max(3.2 - 0.4 * number, 1.0) if among else 1.4,
            label=WHAT[curve.features],
        )
    axes.axhline(panel.best, color=palette.GREY, linestyle="--", linewidth=1, label=BEST)
    axes.axhline(1, color=palette.GREY, linestyle=":", linewidth=1, label=DEFAULT)
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]))
    axes.set_xlabel("clusters")
    axes.set_title(f"default: {drawable(panel.default, MOST_LETTERS)}", fontsize=10)
    palette.quieten(axes)
