"""A table on a terminal that is too narrow for it: in parts below each other, each with the first column.

It works on finished text, as `paint.py` does: two blanks or more in every row separate columns. A column that is still
too wide is broken within its cells, after blanks and hyphens and the like; only the middle of a word that fits no line
is left out.
"""

import re
from collections.abc import Sequence
from itertools import zip_longest

from numapredict.collect.terminal.printable import shortened

GAP = 2
"""The least blanks between columns."""

_JOINTS = re.compile(r"(?<=\s)(?=\S)|(?<=[-./_:])(?=[A-Za-z])")

Span = tuple[int, int]


def fitted_table(rows: Sequence[str], columns: int) -> list[str]:
    """Return the rows in at most so many columns, as they are where they fit or are no table."""
    spans = _spans(rows)
    if len(spans) < 2 or max(map(len, rows)) <= columns:
        return list(rows)
    first, *others = spans
    room = columns - min(first[1], columns // 2) - GAP
    lines: list[str] = []
    for part in _parts(others, room):
        left = min(first[1], columns - GAP - sum(min(end - start, room) + GAP for start, end in part) + GAP)
        if lines:
            lines.append("")
        for row in rows:
            lines += _row(row, [first, *part], [left, *(min(end - start, room) for start, end in part)])
    return lines


def _spans(rows: Sequence[str]) -> list[Span]:
    """Return where columns begin and end; what stands before the first belongs to it."""
    width = max(map(len, rows))
    used = "".join(" " if all(row[at : at + 1] in ("", " ") for row in rows) else "x" for at in range(width))
    found = [match.span() for match in re.finditer(r"x+( x+)*", used)]
    return [(0, found[0][1]), *found[1:]] if found else []


def _parts(spans: Sequence[Span], room: int) -> list[list[Span]]:
    """Return the columns in groups that fit into the room."""
    parts: list[list[Span]] = []
    left = 0
    for start, end in spans:
        width = min(end - start, room)
        if parts and width + GAP <= left:
            parts[-1].append((start, end))
            left -= width + GAP
        else:
            parts.append([(start, end)])
            left = room - width
    return parts


def _row(row: str, spans: Sequence[Span], widths: Sequence[int]) -> list[str]:
    cells = []
    for (start, end), width in zip(spans, widths, strict=True):
        cell = row[start:end]
        whole = len(cell.rstrip()) <= width and end - start <= width
        cells.append([cell.rstrip()] if whole else _broken(cell.strip(), width))
    lines = zip_longest(*cells, fillvalue="")
    return [
        (" " * GAP).join(f"{text:{width}}" for text, width in zip(line, widths, strict=True)).rstrip() for line in lines
    ] or [""]


def _broken(cell: str, width: int) -> list[str]:
    lines = [""]
    for piece in _JOINTS.split(cell):
        if len((lines[-1] + piece).rstrip()) <= width:
            lines[-1] += piece
        else:
            lines.append(shortened(piece, width))
    return [line.strip() for line in lines if line.strip()] or [""]
