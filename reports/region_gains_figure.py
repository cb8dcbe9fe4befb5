"""Draws the heat map of what each region gains from each mapping."""

import textwrap
from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize, to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from numapredict.collect.terminal.estimated_time import seconds_in_words
from numapredict.predictor.regions.replayed_regions import LEAST_SPEEDUP
from numapredict.reports import palette
from numapredict.reports.drawable import drawable
from numapredict.reports.figure_file import width_of
from numapredict.reports.region_gains import (
    LEFT_OUT,
    GainCell,
    GainRow,
    RegionGainsData,
    letters_of,
    limit_of,
    short_name,
    shown_part,
)
from numapredict.reports.source import sign

CELL, ROW, BAR = 0.8, 0.4, 1.15
"""Width of a cell, height of a row, and width of the bars, in inches."""

EDGE, GAP, LINE = 0.15, 0.12, 0.15
"""Inches around the figure, between its parts, and of a line of text."""

MOST_LETTERS, MOST_NAMED = 44, 4
"""Letters of a region's name, and regions named of those that were not replayed for one reason."""

NAME_POINTS, NOTE_POINTS = 8.5, 8.0
LETTERS_PER_INCH = 16.5  # of a note
NARROWEST = 7.5

DOT = "\u00b7"
WHOLE = "one mapping for the whole program"
NOTES = (
    "Number: speedup over the baseline (left column: the time of its replay). Bold: it gained in each of three or more "
    "rounds. Framed: the best of these, else the baseline. Once: it gained, but was not confirmed; not always: it lost "
    "in some rounds. Dot: not replayed, since the search expected less of it or the time was used up."
)


def region_gains_figure(data: RegionGainsData) -> Figure:
    """Return the figure: a row per region with its share of the time, a column per mapping, and the reasons below.

    All sizes are in inches, so that text stays legible whatever the number of regions and mappings.
    """
    shown = shown_part(data)
    reasons = letters_of(shown)
    names = max((width_of(name, NAME_POINTS) for name in (*map(_name, shown.rows), WHOLE)), default=1.0)
    left = EDGE + names + GAP + BAR + GAP
    wide = CELL * len(shown.mappings) if shown.rows else 0.0
    width = max(NARROWEST, left + wide + EDGE)
    head = textwrap.wrap(shown.title, int(11.5 * (width - 2 * EDGE)))
    about = textwrap.wrap(_about(shown), int(14.0 * (width - 2 * EDGE)))
    notes = list(_notes(data, shown, reasons, int(LETTERS_PER_INCH * (width - 2 * EDGE))))
    top = EDGE + 0.21 * len(head) + LINE * len(about) + 0.1
    labels = 4 * LINE if shown.rows else 0.0
    heat = ROW * (len(shown.rows) + 1) + GAP if shown.rows else 0.0
    scale = 0.55 if shown.rows else 0.0
    height = top + labels + heat + scale + LINE * len(notes) + EDGE
    figure = Figure(figsize=(width, height))

    def place(x: float, down: float, across: float, up: float) -> Axes:
        return figure.add_axes((x / width, 1 - (down + up) / height, across / width, up / height))

    def write(down: float, lines: list[str], points: float, weight: str = "normal") -> None:
        figure.text(
            EDGE / width,
            1 - down / height,
            "\n".join(lines),
            fontsize=points,
            va="top",
            weight=weight,
            linespacing=1.25,
        )

    write(EDGE, head, 12, "bold")
    write(EDGE + 0.21 * len(head), about, 9)
    if shown.rows:
        down = top + labels
        _draw_names(place(EDGE, down, names, heat), shown.rows)
        _draw_shares(place(EDGE + names + GAP, down, BAR, heat), shown.rows)
        axes = place(left, down, wide, heat)
        limit = limit_of(shown)
        _draw_cells(axes, shown, reasons, limit)
        _name_columns(axes, shown.mappings)
        _draw_scale(place(left, down + heat + 0.12, min(3.0, width - left - EDGE - 0.3), 0.11), limit)
    write(top + labels + heat + scale, notes, NOTE_POINTS)
    sign(figure, data.source)
    return figure


def _name(row: GainRow) -> str:
    return short_name(row.name, MOST_LETTERS)


def _about(data: RegionGainsData) -> str:
    if not data.rows:
        return "No region could be replayed." if data.not_replayed else "No OpenMP parallel region began."
    if data.busy:
        return f"{data.busy[0].upper()}{data.busy[1:]}."
    if data.bound < LEAST_SPEEDUP:
        return f"No region noticeably gains from another mapping than the baseline, {data.mappings[0]}."
    own = f"Each region under its own best mapping: all regions at most {data.bound:.2f}x as fast"
    if not data.best:
        return f"{own}; no one mapping gains over all of them."
    one = data.whole[data.best].speedup or 1.0
    return f"{own}; under one mapping for the whole program, {data.mappings[data.best]}, {one:.2f}x."


def _notes(data: RegionGainsData, shown: RegionGainsData, reasons: dict[str, str], letters: int) -> Iterator[str]:
    if shown.rows:
        yield from textwrap.wrap(NOTES, letters)
        if any(row.unlike for row in shown.rows):
            yield from textwrap.wrap(
                "x run: a replay's time over an instance's in the run, where that is far from 1: the figures are those "
                "of the instance that was replayed.",
                letters,
            )
        if left := len(data.mappings) - len(shown.mappings):
            yield f"{left} more mappings were replayed in few regions: `--json` has them."
    for why, letter in reasons.items():
        yield from textwrap.wrap(f"{letter}: {drawable(why, 160)}", letters, subsequent_indent="    ")
    if not shown.not_replayed:
        return
    yield ""
    yield f"Not replayed, {sum(each.share for each in shown.not_replayed):.0%} of the time in regions:"
    for each in shown.not_replayed[: MOST_NAMED * 2]:
        names = [short_name(name, MOST_LETTERS) for name in each.regions[:MOST_NAMED]]
        more = f"; {len(each.regions) - MOST_NAMED} more" if len(each.regions) > MOST_NAMED else ""
        text = f"{each.share:.0%}  {drawable(each.reason, 160)}: {'; '.join(names)}{more}"
        yield from textwrap.wrap(text, letters, subsequent_indent="    ")
    if len(shown.not_replayed) > MOST_NAMED * 2:
        yield f"and for {len(shown.not_replayed) - MOST_NAMED * 2} more reasons"


def _rows(axes: Axes, count: int) -> None:
    """Give axes a row a unit from the top; the row of the whole program stands a little below."""
    axes.set_ylim(count + 1 + GAP / ROW, 0)
    axes.set_axis_off()


def _draw_names(axes: Axes, rows: tuple[GainRow, ...]) -> None:
    for at, row in enumerate(rows):
        axes.text(1, at + 0.5, _name(row), fontsize=NAME_POINTS, va="center", ha="right")
    last = len(rows) + 0.5 + GAP / ROW
    axes.text(1, last, WHOLE, fontsize=NAME_POINTS, va="center", ha="right", style="italic")
    axes.set_xlim(0, 1)
    _rows(axes, len(rows))


def _draw_shares(axes: Axes, rows: tuple[GainRow, ...]) -> None:
    """Draw the bars of the shares, with room for their numbers at the right."""
    most = max(row.share for row in rows) or 1.0
    for at, row in enumerate(rows):
        axes.barh(at + 0.5, row.share, height=0.5, color=palette.GREY, linewidth=0)
        axes.text(row.share + 0.04 * most, at + 0.5, f"{row.share:.0%}", fontsize=NAME_POINTS, va="center")
    axes.text(0, -0.14, "share of the\ntime in regions", fontsize=7.5, va="bottom", color=palette.TEXT)
    axes.set_xlim(0, 1.55 * most)
    _rows(axes, len(rows))


def _draw_cells(axes: Axes, data: RegionGainsData, reasons: dict[str, str], limit: float) -> None:
    colours, scale = mpl.colormaps["RdBu"], Normalize(-limit, limit)
    last = len(data.rows) + GAP / ROW
    lines = [(float(at), row.cells, row.best, row) for at, row in enumerate(data.rows)]
    for top, cells, best, row in (*lines, (last, data.whole, data.best, None)):
        for column, cell in enumerate(cells):
            known = None if cell.state == "baseline" else cell.speedup
            colour = "#ffffff" if known is None else to_hex(colours(scale(np.log2(known))))
            _draw_cell(axes, column, top, colour, hatched=cell.state in LEFT_OUT)
            _write_cell(axes, (column + 0.5, top + 0.5), cell, row, (palette.ink_on(colour), reasons.get(cell.why, "")))
        for colour, width in (("white", 3.6), ("black", 1.8)):  # to be seen on dark cells, too
            frame = Rectangle((best + 0.05, top + 0.09), 0.9, 0.82, fill=False, edgecolor=colour, linewidth=width)
            axes.add_patch(frame).set_zorder(3)
    axes.set_xlim(0, len(data.mappings))
    _rows(axes, len(data.rows))


def _draw_cell(axes: Axes, column: int, top: float, colour: str, *, hatched: bool) -> None:
    edge = "#d0d0d0" if hatched else palette.PALE
    cell = Rectangle((column, top), 1, 1, facecolor=colour, edgecolor=edge, linewidth=0.8)
    if hatched:
        cell.set_hatch("////")
    axes.add_patch(cell)


def _write_cell(axes: Axes, at: tuple[float, float], cell: GainCell, row: GainRow | None, ink: tuple[str, str]) -> None:
    """Write a cell's number or letter, and below it, small, what is to know of it."""
    colour, letter = ink
    text, below, weight = DOT, "", "normal"
    if letter:
        text = letter
    elif cell.state == "baseline":
        text = seconds_in_words(cell.time_s) if row is not None and cell.time_s is not None else "1.00x"
        if row is not None and row.unlike and row.replay_ratio is not None:
            below = f"{row.replay_ratio:.2f} x run"
    elif cell.speedup is not None:
        text, weight = f"{cell.speedup:.2f}x", "bold" if cell.state == "confirmed" else "normal"
        below = cell.state if cell.state in ("once", "not always") else ""
    x, y = at
    written = axes.text(
        x, y - 0.14 * bool(below), text, color=colour, weight=weight, ha="center", va="center", zorder=4
    )
    written.set_fontsize(14 if text == DOT else 9)
    if letter:  # on a hatched cell
        written.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1.0})
    if below:
        axes.text(x, y + 0.24, below, fontsize=6.5, color=colour, ha="center", va="center", zorder=4)


def _name_columns(axes: Axes, mappings: tuple[str, ...]) -> None:
    for column, label in enumerate(mappings):
        lines = [drawable(part, 13) for part in label.split("-", 2)]
        text = "\n".join((["baseline"] if column == 0 else []) + lines)
        axes.text(column + 0.5, -0.14, text, fontsize=7.5, ha="center", va="bottom", linespacing=1.15)


def _draw_scale(axes: Axes, limit: float) -> None:
    """Draw the colours of speedups; ``limit`` is in log2."""
    bar = axes.figure.colorbar(
        ScalarMappable(Normalize(-limit, limit), "RdBu"), cax=axes, orientation="horizontal", extend="both"
    )
    ticks = [tick for tick in range(-3, 4) if abs(tick) <= limit]
    bar.set_ticks(ticks, labels=["baseline" if tick == 0 else f"{2.0**tick:.4g}x" for tick in ticks], fontsize=7.5)
    bar.outline.set_linewidth(0.4)
