"""The calibration figure: the stated probabilities of advice, and how often it was right."""

from collections.abc import Sequence

import msgspec
from matplotlib.figure import Figure
from scipy.stats import beta

from numapredict.collect.data.dataset import Dataset
from numapredict.predictor.evaluation.evaluate import Evaluations
from numapredict.reports import palette
from numapredict.reports.drawable import drawable
from numapredict.reports.source import evaluated_origins, sign, source_line

INTERVAL = 0.9


class CalibrationPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One bin: stated probability, the share that beat the default and its interval (Clopper-Pearson, 90%)."""

    stated: float
    faster: float
    low: float
    high: float
    programs: int


class CalibrationData(msgspec.Struct, frozen=True, kw_only=True):
    """What the figure shows; ``title`` names the machines and whether they are modelled.

    ``programs`` were advised a mapping that was not a probe, and ``tried`` others one that was, which have no point;
    ``kept`` were advised to keep the default. ``within`` is how many speedups are inside their interval.
    """

    title: str
    points: tuple[CalibrationPoint, ...]
    programs: int
    tried: int
    kept: int
    within: int
    source: str


def calibration_data(evaluations: Evaluations, datasets: Sequence[Dataset] = ()) -> CalibrationData:
    """Return the points of all bins that hold programs.

    The evaluated ``datasets``, in the same order, give a more detailed source line.
    """
    names = [f"{drawable(each.machine)} ({palette.made_in_words(each.modelled)})" for each in evaluations.datasets]
    found = evaluations.calibration
    points = []
    for each in found.bins:
        if not each.programs:
            continue
        lost = each.programs - each.faster
        points.append(
            CalibrationPoint(
                stated=each.stated,
                faster=each.faster / each.programs,
                low=float(beta.ppf((1 - INTERVAL) / 2, each.faster, lost + 1)) if each.faster else 0.0,
                high=float(beta.ppf((1 + INTERVAL) / 2, each.faster + 1, lost)) if lost else 1.0,
                programs=each.programs,
            )
        )
    return CalibrationData(
        title=", ".join(names),
        points=tuple(points),
        programs=found.programs,
        tried=found.tried,
        kept=evaluations.programs - found.programs - found.tried,
        within=found.within,
        source=source_line(evaluated_origins(evaluations, datasets)),
    )


def calibration_figure(data: CalibrationData) -> Figure:
    """Return the figure: a point per bin, and the diagonal of perfect calibration.

    Not by seaborn's pointplot, which takes single outcomes and computes means and intervals while it draws: here the
    exact binomial intervals are part of the data, and the figure shows them as they are.
    """
    figure = Figure(figsize=(6.4, 5.6), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0.45, 1], [0.45, 1], color=palette.GREY, linestyle="--", linewidth=1, label="as sure as it is right")
    stated = [point.stated for point in data.points]
    faster = [point.faster for point in data.points]
    axes.errorbar(
        stated,
        faster,
        yerr=[
            [point.faster - point.low for point in data.points],
            [point.high - point.faster for point in data.points],
        ],
        color=palette.BLUE,
        marker="o",
        linestyle="none",
        capsize=3,
        label="held-out programs, advised a non-probe mapping",
    )
    for point in data.points:
        axes.annotate(
            f"{point.programs}", (point.stated, point.faster), textcoords="offset points", xytext=(7, -10), fontsize=9
        )
    axes.set_xlim(0.45, 1.03)
    axes.set_ylim(0, 1.05)
    axes.set_xlabel("stated probability that the advised mapping beats the default")
    axes.set_ylabel("share of programs that it made faster (90% interval)")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, frameon=False, fontsize=9)  # hides no point
    palette.quieten(axes)
    figure.suptitle(_wrapped(data.title.split(", ")), fontsize=10)
    axes.set_title(
        f"{data.programs} programs advised a non-probe mapping (labels: number of programs):\n"
        f"{data.within} speedups inside the interval that should hold {INTERVAL * data.programs:.0f};\n"
        f"not counted: {data.tried} advised a probe, {data.kept} the default",
        fontsize=9,
    )
    sign(figure, data.source)
    return figure


def _wrapped(names: Sequence[str]) -> str:
    return "\n".join(", ".join(names[at : at + 3]) for at in range(0, len(names), 3))
