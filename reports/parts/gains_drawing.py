"""The page's heat map of what regions gain: where each cell, bar and text is, in CSS pixels.

Names stand above their cells: on a narrow screen a column of names would leave no room for a mapping.
"""

import math

import msgspec

from numapredict.reports.parts.quantity import factor, seconds
from numapredict.reports.region_gains import GainCell, GainRow, RegionGainsData, limit_of, short_name, shown_part

CELL_WIDTH, CELL_HEIGHT, ABOVE, BETWEEN = 76.0, 38.0, 22.0, 9.0
"""A cell, the room for a name above it, and that between two rows."""

HEAD, NARROW, PER_LETTER = 58.0, 340.0, 6.4
"""The room for mappings' names, that for a name and its bar on a narrow screen, and a letter's mean width."""

LEVELS = 32
"""The number of the page's last class of colours, that of slow; the middle is the baseline's."""

LETTERLESS = frozenset({"failed", "own team"})


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

    y: float
    name: str
    shown: str
    share: str
    bar: float
    cells: tuple[DrawnCell, ...]


class GainsDrawing(msgspec.Struct, frozen=True, kw_only=True):
    """The drawing: mappings' names in lines with the middle of their column, rows, and the reasons of cells.

    ``above`` is the room for a name above its cells. ``scale`` has the classes of colours from slow to fast, ``ends``
    the factors at its ends. ``left_out`` counts regions and mappings without room.
    """

    width: float
    height: float
    above: float
    cell_width: float
    cell_height: float
    mappings: tuple[tuple[float, tuple[str, ...]], ...]
    rows: tuple[DrawnRow, ...]
    reasons: tuple[tuple[str, str], ...]
    scale: tuple[str, ...]
    ends: tuple[str, str]
    left_out: int


def gains_drawing(data: RegionGainsData) -> GainsDrawing:
    """Return the drawing of what there is room for; the tables have the rest."""
    shown = shown_part(data)
    reasons = dict.fromkeys(cell.why for row in shown.rows for cell in row.cells if cell.state in LETTERLESS)
    letters = {why: str(number) for number, why in enumerate(reasons, 1)}
    limit = limit_of(shown)
    width = max(NARROW, CELL_WIDTH * len(shown.mappings))
    step = ABOVE + CELL_HEIGHT + BETWEEN
    most = max(row.share for row in shown.rows) or 1.0

    def cells(row: GainRow | None, found: tuple[GainCell, ...], best: int) -> tuple[DrawnCell, ...]:
        return tuple(
            _cell(cell, (column, column == best), (shown.mappings[column], letters.get(cell.why, "")), row, limit)
            for column, cell in enumerate(found)
        )

    rows = [
        DrawnRow(
            y=HEAD + step * number,
            name=row.name,
            shown=short_name(row.name, int((NARROW - 45) / PER_LETTER)),
            share=f"{row.share:.0%}",
            bar=round(NARROW * row.share / most, 1),
            cells=cells(row, row.cells, row.best),
        )
        for number, row in enumerate(shown.rows)
    ]
    whole = "One mapping for the whole program"
    y = HEAD + step * len(rows) + BETWEEN
    rows.append(DrawnRow(y=y, name=whole, shown=whole, share="", bar=0.0, cells=cells(None, shown.whole, shown.best)))
    return GainsDrawing(
        width=width + 1,  # the last cells' border
        height=y + ABOVE + CELL_HEIGHT + 4,
        above=ABOVE,
        cell_width=CELL_WIDTH,
        cell_height=CELL_HEIGHT,
        mappings=tuple(
            (CELL_WIDTH * (column + 0.5), (*(("baseline",) if column == 0 else ()), *label.split("-", 2)))
            for column, label in enumerate(shown.mappings)
        ),
        rows=tuple(rows),
        reasons=tuple((letter, why) for why, letter in letters.items()),
        scale=tuple(f"q{level}" for level in range(LEVELS, -1, -1)),
        ends=(f"{2**-limit:.3g}x", f"{2**limit:.3g}x"),
        left_out=len(data.mappings) - len(shown.mappings) + len(data.rows) - len(shown.rows),
    )


def _cell(
    cell: GainCell, place: tuple[int, bool], names: tuple[str, str], row: GainRow | None, limit: float
) -> DrawnCell:
    (column, framed), (mapping, letter) = place, names
    colour, text, below = "", "\u00b7", ""
    if cell.state in LETTERLESS:
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
        strong=cell.state == "confirmed", barred=cell.state in LETTERLESS,
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
