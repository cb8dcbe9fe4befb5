"""What `likwid-perfctr -O` writes: tables of events and metrics, one column a hardware thread; pure.

The format is that of ``printOutput`` and ``printcsv`` in LIKWID's likwid.lua up to 5.2.2; 5.3 and 5.4 were not at
hand. A line ``TABLE,Group 1 Raw,NUMA,5,,`` with the number of rows, a line that names the columns, the rows, all lines
filled up with commas. Tables whose name ends with STAT hold sums over the columns and are left out. Nothing is quoted.
GB come with four decimals.
"""

import csv
import math
import re
from collections.abc import Sequence

import msgspec

from numapredict.native.errors import CounterError

_TITLE = re.compile(r"Group \d+ (Raw|Metric)( STAT)?", re.IGNORECASE)
_COLUMN = re.compile(r"(?:HWThread|Core) (\d{1,6})")  # older ones wrote Core
_NO_VALUE = frozenset({"", "-", "nan", "-nan", "inf", "-inf", "nil"})


class OutputRow(msgspec.Struct, frozen=True):
    """One event or metric: its name, the hardware counter of an event, and a value or None for each PU."""

    name: str
    counter: str
    values: tuple[float | None, ...]


class LikwidOutput(msgspec.Struct, frozen=True):
    """One group's figures; ``pus`` are the operating system's numbers of the columns."""

    pus: tuple[int, ...]
    events: tuple[OutputRow, ...]
    metrics: tuple[OutputRow, ...]

    def metric(self, pattern: re.Pattern[str]) -> OutputRow | None:
        """Return the first metric whose whole name matches, or None."""
        return next((row for row in self.metrics if pattern.fullmatch(row.name)), None)


def read_output(text: str) -> LikwidOutput:
    """Return the figures in the text of an output file with one group; raise CounterError where it is not one."""
    if not text.strip():
        raise CounterError("LIKWID wrote no figures: it refused, or was stopped before the program ended")
    if not text.endswith("\n"):
        raise CounterError("LIKWID's output is cut short: its last line has no end")
    try:
        lines = [[cell.strip() for cell in line] for line in csv.reader(text.splitlines(), quoting=csv.QUOTE_NONE)]
    except csv.Error as error:
        raise CounterError(f"LIKWID's output is no table: {error}") from None
    tables: dict[str, tuple[tuple[int, ...], tuple[OutputRow, ...]]] = {}
    for number, line in enumerate(lines):
        title = next((match for cell in line[1:3] if (match := _TITLE.fullmatch(cell))), None)
        if line[:1] != ["TABLE"] or title is None or title[2]:
            continue
        kind = title[1].lower()
        if kind in tables:
            raise CounterError("LIKWID's output holds more than one group: count one group a run")
        tables[kind] = _table(lines[number + 1 :], _row_count(line), number + 1)
    if "raw" not in tables or "metric" not in tables:
        raise CounterError(
            f"LIKWID's output has no table of {'metrics' if 'raw' in tables else 'events'}: {text[:60]!r}"
        )
    (pus, events), (columns, metrics) = tables["raw"], tables["metric"]
    if pus != columns:
        raise CounterError(f"LIKWID's output contradicts itself: events of PUs {pus}, metrics of PUs {columns}")
    return LikwidOutput(pus, events, metrics)


def _row_count(line: Sequence[str]) -> int:
    """Return the number of rows that a table's first line gives, or -1 where it gives none."""
    cells = [cell for cell in line if cell]
    return int(cells[-1]) if cells[-1].isdecimal() and len(cells[-1]) < 6 else -1


def _table(lines: Sequence[Sequence[str]], count: int, number: int) -> tuple[tuple[int, ...], tuple[OutputRow, ...]]:
    """Return the PUs and the rows of the table that starts with the line that names its columns."""
    rows = lines[1 : 1 + count]
    if count < 0 or len(rows) < count or any(row[:1] in ([], ["TABLE"], ["STRUCT"]) for row in rows):
        raise CounterError(f"LIKWID's output is cut short in line {number}: the table there should have {count} rows")
    names = list(lines[0])
    first = 2 if names[1:2] == ["Counter"] else 1
    columns = [_COLUMN.fullmatch(name) for name in names[first:] if name]
    pus = tuple(int(match[1]) for match in columns if match)
    if len(pus) != len(columns) or not pus or len(set(pus)) != len(pus):
        raise CounterError(f"LIKWID's output has columns that are no PUs in line {number + 1}: {names[first:][:4]}")
    return pus, tuple(_row(row, first, first + len(pus)) for row in rows)


def _row(cells: Sequence[str], first: int, end: int) -> OutputRow:
    """Return a row whose figures stand from cell ``first`` to before ``end``."""
    if len(cells) < end:
        raise CounterError(f"LIKWID's output is cut short: {cells[0]!r} has {len(cells) - 1} cells, not {end - 1}")
    counter = cells[1] if first == 2 else ""
    return OutputRow(cells[0], counter, tuple(_value(cell, cells[0]) for cell in cells[first:end]))


def _value(cell: str, name: str) -> float | None:
    """Return a cell's figure, or None where LIKWID has none."""
    if cell.lower() in _NO_VALUE:
        return None
    try:
        value = float(cell)
    except ValueError:
        raise CounterError(f"LIKWID's output has a value that is not a number: {name!r} is {cell[:40]!r}") from None
    return value if math.isfinite(value) else None
