"""The calibration figure: the stated chances of further runs, and how often they were faster."""

from collections.abc import Sequence

import msgspec
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from scipy.stats import beta

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.terminal.printable import counted
from numapredict.predictor.evaluation.evaluate import Evaluations
from numapredict.reports import palette
from numapredict.reports.drawable import drawable
from numapredict.reports.source import evaluated_origins, sign, source_line

INTERVAL = 0.9


class CalibrationPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One bin: stated chance, the share that beat the best so far and its interval (Clopper-Pearson, 90%)."""

    stated: float
    faster: float
    low: float
    high: float
    runs: int


class CalibrationData(msgspec.Struct, frozen=True, kw_only=True):
    """What the figure shows; ``title`` names the machines and whether they are modelled.

    ``runs`` are the further runs of all programs' searches; ``within`` is how many speedups are inside their interval.
    """

    title: str
    points: tuple[CalibrationPoint, ...]
    runs: int
    within: int
    source: str


def calibration_data(evaluations: Evaluations, datasets: Sequence[Dataset] = ()) -> CalibrationData:
    """Return the points of all bins that hold runs.

    The evaluated ``datasets``, in the same order, give a more detailed source line.
    """
    names = [f"{drawable(each.machine)} ({palette.made_in_words(each.modelled)})" for each in evaluations.datasets]
    found = evaluations.calibration
    points = []
    for each in found.bins:
        if not each.runs:
            continue
        lost = each.runs - each.faster
        points.append(
            CalibrationPoint(
                stated=each.stated,
                faster=each.faster / each.runs,
                low=float(beta.ppf((1 - INTERVAL) / 2, each.faster, lost + 1)) if each.faster else 0.0,
                high=float(beta.ppf((1 + INTERVAL) / 2, each.faster + 1, lost)) if lost else 1.0,
                runs=each.runs,
            )
        )
    return CalibrationData(
        title=", ".join(names),
        points=tuple(points),
        runs=found.runs,
        within=found.within,
        source=source_line(evaluated_origins(evaluations, datasets)),
    )


def calibration_figure(data: CalibrationData) -> Figure:
    """Return the figure: a table with a row per bin, in which the stated chance and what came of it are drawn.

    A table, since the runs fill few bins. Not by seaborn's pointplot, which takes single outcomes and computes
    means and intervals while it draws: here the exact binomial intervals are part of the data.
    """
    figure = Figure(figsize=(8.8, 2.6 + 0.42 * max(1, len(data.points))), layout="constrained")
    axes = figure.add_subplot()
    rows = range(len(data.points))
    axes.errorbar(
        [point.faster for point in data.points],
        rows,
        xerr=[
            [point.faster - point.low for point in data.points],
            [point.high - point.faster for point in data.points],
        ],
        color=palette.BLUE,
        marker="o",
        linestyle="none",
        capsize=3,
        label="share that was faster than the best so far (90% interval)",
    )
    axes.plot(
        [point.stated for point in data.points],
        rows,
        color=palette.VERMILION,
        marker="|",
        markersize=16,
        markeredgewidth=2,
        linestyle="none",
        label="stated chance",
    )
    axes.set_yticks(rows, [f"{point.stated:.0%} chance, {counted(point.runs, 'run')}" for point in data.points])
    for row, point in zip(rows, data.points, strict=True):
        faster = round(point.faster * point.runs)
        axes.annotate(
            f"{faster} of {point.runs} faster: {point.faster:.0%} ({point.low:.0%} to {point.high:.0%})",
            (1, row),
            xycoords=axes.get_yaxis_transform(),
            xytext=(10, 0),
            textcoords="offset points",
            fontsize=9,
            va="center",
        )
    axes.set_xlim(0, 1.02)
    axes.set_ylim(max(1, len(data.points)) - 0.5, -0.5)
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_xlabel("share of the runs that beat the best so far")
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    palette.quieten(axes)
    figure.suptitle(_wrapped(data.title.split(", ")), fontsize=10)
    axes.set_title(
        f"{data.runs} further runs, of which {data.within} are inside the interval that should hold "
        f"{INTERVAL * data.runs:.0f}",
        fontsize=9,
    )
    sign(figure, data.source)
    return figure


def _wrapped(names: Sequence[str]) -> str:
    return "\n".join(", ".join(names[at : at + 3]) for at in range(0, len(names), 3))
