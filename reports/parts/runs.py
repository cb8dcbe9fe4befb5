"""The runs of an answer in their order, as a table and as a figure shows them."""

import itertools
import math

import msgspec

from numapredict.collect.figure import number_in_words
from numapredict.collect.mapping import AnyMapping
from numapredict.predictor.advising.advice import Advice
from numapredict.predictor.advising.advice_text import baseline_in_words, chosen_by, kept_runs_in_words, name_in_words
from numapredict.predictor.advising.search_run import SearchRun, numbers_of
from numapredict.reports.parts.quantity import factor, seconds

LEFT, TOP, HIGH, BELOW = 44.0, 20.0, 140.0, 34.0
"""The figure's margins and the height of its plot, in CSS pixels."""

STEP, LEAST_LABELLED, WIDEST = 64.0, 40.0, 1600.0
"""The room of a run, the least in which its speedup is written, and the most of all runs together."""

TICKS = 5


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """One run, by its ``number`` in the row and its ``title``; ``time`` says when it was ended, or that it failed.

    ``message`` says why it failed. ``metric`` is empty where times are compared.

    ``region_speedup`` is of the parallel regions alone, None where these are not timed. ``best`` is the greatest
    speedup so far. ``kept``: an earlier command made it.
    """

    number: int
    title: str
    mapping: str
    outcome: str
    time: str
    metric: str
    message: str
    speedup: float | None
    region_speedup: float | None
    best: float
    advised: bool
    kept: bool


class RunMark(msgspec.Struct, frozen=True, kw_only=True):
    """A run's mark: where it is, of which kind, and what it says; ``label`` is written above it, if there is room."""

    x: float
    y: float
    kind: str
    text: str
    label: str


class RunsFigure(msgspec.Struct, frozen=True, kw_only=True):
    """Speedup by run: marks, the line of the best so far as an SVG path, ticks, and the numbers below."""

    width: float
    height: float
    left: float
    bottom: float
    marks: tuple[RunMark, ...]
    best: str
    ticks: tuple[tuple[float, str], ...]
    baseline_y: float
    numbers: tuple[tuple[float, str], ...]


class RunsData(msgspec.Struct, frozen=True, kw_only=True):
    """All runs; ``kept`` says which were made earlier, ``chosen_by`` what chose them.

    ``baseline`` is what the first was of, ``ended`` and ``failed`` whether any was, ``regions`` whether the
    parallel regions of any were timed, ``metric`` what is compared in place of the time.
    """

    rows: tuple[RunRow, ...]
    figure: RunsFigure
    kept: str
    chosen_by: str
    baseline: str
    ended: bool
    failed: bool
    regions: bool
    metric: str


def runs_data(found: Advice) -> RunsData:
    """Return the runs of an answer that is consistent."""
    bests = itertools.accumulate((run.speedup or 0.0 for run in found.runs), max)
    rows = tuple(
        _row(run, number, title, best, found.mapping, kept=number <= found.kept_runs)
        for number, (run, title, best) in enumerate(zip(found.runs, numbers_of(found.runs), bests, strict=True), 1)
    )
    return RunsData(
        rows=rows,
        figure=_figure(rows),
        kept=kept_runs_in_words(found),
        chosen_by=chosen_by(found),
        baseline=baseline_in_words(found),
        ended=any(row.outcome == "ended" for row in rows),
        failed=any(row.outcome == "failed" for row in rows),
        regions=any(row.region_speedup is not None for row in rows),
        metric="" if found.figure.is_time else found.figure.name,
    )


def _row(run: SearchRun, number: int, title: str, best: float, advised: AnyMapping, *, kept: bool) -> RunRow:
    time = "failed" if run.time_s is None else seconds(run.time_s)
    return RunRow(
        number=number,
        title=title.removeprefix("run "),
        mapping=name_in_words(run.mapping),
        outcome=run.outcome,
        time=f"ended after {time}" if run.outcome == "ended" else time,
        metric="" if run.figure is None else number_in_words(run.figure),
        message="slower than the best" if run.outcome == "ended" else run.message,
        speedup=run.speedup,
        region_speedup=run.region_speedup,
        best=best,
        advised=run.mapping == advised,
        kept=kept,
    )


def _figure(rows: tuple[RunRow, ...]) -> RunsFigure:
    step = min(STEP, WIDEST / len(rows))
    ticks = _ticks(rows[-1].best)
    bottom = TOP + HIGH

    def height(speedup: float) -> float:
        return round(bottom - HIGH * speedup / ticks[-1], 1)

    def place(number: int) -> float:
        return round(LEFT + step * (number - 0.5), 1)

    line = f"M{LEFT:g} {height(rows[0].best):g}"
    for row in rows:
        line += f"H{place(row.number):g}V{height(row.best):g}"
    shown = math.ceil(LEAST_LABELLED / 2 / step)
    return RunsFigure(
        width=math.ceil(LEFT + step * len(rows) + 8),
        height=bottom + BELOW,
        left=LEFT,
        bottom=bottom,
        marks=tuple(
            RunMark(
                x=place(row.number),
                y=height(row.speedup or (row.best if row.outcome == "ended" else 0.0)),
                kind=row.outcome,
                text=_in_words(row),
                label=factor(row.speedup) if row.speedup and step >= LEAST_LABELLED else "",
            )
            for row in rows
        ),
        best=f"{line}H{place(len(rows)) + step / 2:g}",
        ticks=tuple((height(tick), f"{tick:g}x") for tick in ticks),
        baseline_y=height(1.0),
        numbers=tuple((place(row.number), _tick(row)) for row in rows if (row.number - 1) % shown == 0),
    )


def _tick(row: RunRow) -> str:
    """Return the number below a run, none below what was computed."""
    return row.title if row.title.isdigit() else ""


def _in_words(row: RunRow) -> str:
    """Return a run as a pointer shows it."""
    title = f"run {row.title}" if row.title.isdigit() else row.title
    speed = "" if row.speedup is None else f", {factor(row.speedup)}"
    metric = f", {row.metric}" if row.metric else ""
    return f"{title}: {row.mapping}{metric}, {row.time}{speed}"


def _ticks(most: float) -> tuple[float, ...]:
    """Return round numbers from 0 to the first that is at least ``most``."""
    rough = most / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * digit for digit in (1, 2, 2.5, 5, 10) if power * digit >= rough)
    return tuple(step * number for number in range(math.ceil(most / step) + 1))
