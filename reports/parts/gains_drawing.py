"""The page's heat map of what regions gain: where each cell, bar and text is, in CSS pixels.

Names and shares stand left of their cells, on a narrow screen above them: a column would leave no room for a mapping.
"""

import math

import msgspec

from numapredict.reports.parts.quantity import factor, seconds
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

CELL_WIDTH, CELL_HEIGHT, HEAD = 76.0, 38.0, 58.0
"""A cell, and the room for mappings' names."""

MOST_LETTERS = 44
"""Letters of a region's name."""

LEVELS = 32
"""The number of the page's last class of colours, that of slow; the middle is the baseline's."""


class DrawnCell(msgspec.Struct, frozen=True, kw_only=True):
    """A cell: its colour's class (empty without a figure), its text, and what is said below and of it.

    ``framed``: the best of its row. ``strong``: it is confirmed. ``barred``: it has a reason in place of a figure.
    """

    x: float
    colour: str
    text: str
    below: str
    said: str
    framed: bool
    strong: bool
    barred: bool


class DrawnRow(msgspec.Struct, frozen=True, kw_only=True):
    """A region, or the whole program: its name, whole and as drawn, its share in words and as a bar, and its cells."""

    name: str
    shown: str
    share: str
    bar: float
    cells: tuple[DrawnCell, ...]


class GainsDrawing(msgspec.Struct, frozen=True, kw_only=True):
    """The drawing: mappings' names in lines with the middle of their column, rows, and the reasons of cells.

    ``head`` is the room for mappings' names. ``scale`` has the classes of colours from slow to fast, ``ticks`` the
    factors to write below it, each at a share of its length. ``left_out`` counts regions and mappings without room.
    """

    width: float
    head: float
    cell_width: float
    cell_height: float
    mappings: tuple[tuple[float, tuple[str, ...]], ...]
    rows: tuple[DrawnRow, ...]
    reasons: tuple[tuple[str, str], ...]
    scale: tuple[str, ...]
    ticks: tuple[tuple[float, str], ...]
    left_out: int


def gains_drawing(data: RegionGainsData) -> GainsDrawing:
    """Return the drawing of what there is room for; the tables have the rest."""
    shown = shown_part(data)
    letters = letters_of(shown)
    limit = limit_of(shown)
    most = max(row.share for row in shown.rows) or 1.0

    def cells(row: GainRow | None, found: tuple[GainCell, ...], best: int) -> tuple[DrawnCell, ...]:
        return tuple(
            _cell(cell, (column, column == best), (shown.mappings[column], letters.get(cell.why, "")), row, limit)
            for column, cell in enumerate(found)
        )

    rows = [
        DrawnRow(
            name=row.name,
            shown=short_name(row.name, MOST_LETTERS),
            share=f"{row.share:.0%}",
            bar=round(100 * row.share / most, 1),
            cells=cells(row, row.cells, row.best),
        )
        for row in shown.rows
    ]
    whole = "One mapping for the whole program"
    rows.append(DrawnRow(name=whole, shown=whole, share="", bar=0.0, cells=cells(None, shown.whole, shown.best)))
    return GainsDrawing(
        width=CELL_WIDTH * len(shown.mappings) + 1,  # the last cells' border
        head=HEAD,
        cell_width=CELL_WIDTH,
        cell_height=CELL_HEIGHT,
        mappings=tuple(
            (CELL_WIDTH * (column + 0.5), (*(("baseline",) if column == 0 else ()), *label.split("-", 2)))
            for column, label in enumerate(shown.mappings)
        ),
        rows=tuple(rows),
        reasons=tuple((letter, why) for why, letter in letters.items()),
        scale=tuple(f"q{level}" for level in range(LEVELS, -1, -1)),
        ticks=tuple(
            ((tick / limit + 1) / 2, "1x" if tick == 0 else f"{2.0**tick:.4g}x")
            for tick in range(-3, 4)
            if abs(tick) <= limit
        ),
        left_out=len(data.mappings) - len(shown.mappings) + len(data.rows) - len(shown.rows),
    )


def _cell(
    cell: GainCell, place: tuple[int, bool], names: tuple[str, str], row: GainRow | None, limit: float
) -> DrawnCell:
    (column, framed), (mapping, letter) = place, names
    colour, text, below = "", "\u00b7", ""
    if cell.state in LEFT_OUT:
        text = letter
    elif cell.state == "baseline":
        text = factor(1.0) if row is None or cell.time_s is None else seconds(cell.time_s)
        if row is not None and row.unlike and row.replay_ratio is not None:
            below = f"{row.replay_ratio:.2f} x run"
    elif cell.speedup is not None:
        level = round(LEVELS / 2 * (1 - max(-1.0, min(1.0, math.log2(cell.speedup) / limit))))
        colour, text = f"q{level}", factor(cell.speedup)
        below = cell.state if cell.state in ("once", "not always") else ""
    where = "all regions" if row is None else row.name
    said = f"{where} under {mapping}: {in_words(cell)}"
    return DrawnCell(
        x=CELL_WIDTH * column, colour=colour, text=text, below=below, said=said, framed=framed,
        strong=cell.state == "confirmed", barred=cell.state in LEFT_OUT,
    )  # fmt: skip


def in_words(cell: GainCell) -> str:
    """Return what is known of a region under a mapping."""
    if cell.speedup is None or cell.lowest is None:
        return cell.why
    if cell.state == "baseline":
        return "the baseline"
    words = {"confirmed": "gained in each", "once": "not confirmed", "not always": "not in each", "no gain": "no gain"}
    rounds = f"{cell.rounds} round{'' if cell.rounds == 1 else 's'}"
    return f"{factor(cell.speedup)}, {rounds}, {words[cell.state]}, at least {factor(cell.lowest)}"
