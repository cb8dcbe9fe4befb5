"""The curve of the speedup by the number of clusters, in sample, as a figure that needs no script."""

import math

import msgspec

from numapredict.collect.terminal.printable import counted
from numapredict.reports.parts.heatmap import Cut, HeatmapData
from numapredict.reports.parts.quantity import factor

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BELOW = 560, 200, 46, 12, 20, 34
"""Of the figure and its margins, in CSS pixels."""

NUMBER_ROOM = 50
"""The least room of a number below, in CSS pixels."""

STEPS = ((4.0, 2.0), (1.6, 0.5), (0.5, 0.2), (0.0, 0.05))
"""Between ticks: from a range of so much on, a step of so much."""


class Oracle(msgspec.Struct, frozen=True):
    """The line of every program's own best mapping by one ``mean``, and where its name is written."""

    mean: str
    y: float
    text_y: float


class CurvePoint(msgspec.Struct, frozen=True, kw_only=True):
    """A number of clusters: where its speedups are, the part of the figure that chooses it, and what it says."""

    x: float
    geometric_y: float
    arithmetic_y: float
    left: float
    width: float
    text: str


class CurveFigure(msgspec.Struct, frozen=True, kw_only=True):
    """The curve: lines of both means as SVG paths, ticks, numbers below, a point per number of clusters, edges."""

    geometric: str
    arithmetic: str
    oracles: tuple[Oracle, ...]
    ticks: tuple[tuple[float, str], ...]
    numbers: tuple[tuple[float, int], ...]
    points: tuple[CurvePoint, ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BELOW


class CutsData(msgspec.Struct, frozen=True):
    """The cuts of a merge tree, and the curve of their speedups."""

    heatmap: HeatmapData
    figure: CurveFigure


def cuts_data(data: HeatmapData) -> CutsData:
    """Return the cuts of a heatmap's tree with their curve."""
    cuts = data.cuts
    most = max(data.oracle, data.oracle_arithmetic, 1.0, *(cut.arithmetic for cut in cuts)) * 1.04
    least = min(1.0, *(cut.geometric for cut in cuts))
    step_x = (WIDTH - LEFT - RIGHT) / max(len(cuts) - 1, 1)

    def x(at: int) -> float:
        return round(LEFT + step_x * at if len(cuts) > 1 else (LEFT + WIDTH - RIGHT) / 2, 1)

    def y(value: float) -> float:
        return round(HEIGHT - BELOW - (HEIGHT - TOP - BELOW) * (value - least) / (most - least), 1)

    def line(values: list[float]) -> str:
        return "M" + "L".join(f"{x(at):g} {y(value):g}" for at, value in enumerate(values))

    step = next(step for least_range, step in STEPS if most - least > least_range)
    first = math.ceil(least / step - 1e-9)
    ticks = [step * number for number in range(first, math.floor(most / step) + 1)]
    every = max(1, math.ceil(len(cuts) / (WIDTH / NUMBER_ROOM)))
    # The geometric mean is never above the arithmetic one; their names must not meet.
    apart = y(data.oracle) - y(data.oracle_arithmetic)
    figure = CurveFigure(
        geometric=line([cut.geometric for cut in cuts]),
        arithmetic=line([cut.arithmetic for cut in cuts]),
        oracles=(
            Oracle("arithmetic", y(data.oracle_arithmetic), y(data.oracle_arithmetic) - 5),
            Oracle("geometric", y(data.oracle), y(data.oracle) + (-5 if apart > 28 else 14)),
        ),
        ticks=tuple((y(tick), factor(tick)) for tick in ticks),
        numbers=tuple((x(at), at + 1) for at in range(0, len(cuts), every)),
        points=tuple(
            CurvePoint(
                x=x(at),
                geometric_y=y(cut.geometric),
                arithmetic_y=y(cut.arithmetic),
                left=round(x(at) - step_x / 2, 1),
                width=round(step_x, 1),
                text=cut_in_words(cut),
            )
            for at, cut in enumerate(cuts)
        ),
    )
    return CutsData(data, figure)


def cut_in_words(cut: Cut) -> str:
    """Return what a cut gives: `6 clusters: 1.52x geometric mean, 1.60x arithmetic mean, in sample`."""
    means = f"{factor(cut.geometric)} geometric mean, {factor(cut.arithmetic)} arithmetic mean, in sample"
    return f"{counted(len(cut.starts), 'cluster')}: {means}"
