"""Measurements of other tools: a CSV file of run times becomes a dataset.

A row is one run. The columns of the program, the mapping and the time are given by the caller, never guessed. Rows can
be picked or dropped by a column's value; times that are missing, cut off, or make no sense are counted, not filled in.
Several rows of one program and mapping are repetitions, in the file's order.
"""

import csv
import io
import math
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import msgspec

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.data.measurement_fault import LEAST_TIME_S, MOST_TIME_S
from numapredict.collect.data.outliers import Outlier, outliers_in_words
from numapredict.collect.data.similar_programs import Pair, similar_in_words
from numapredict.collect.host.bounded_file import MIB, read_bounded
from numapredict.collect.host.durable import reason_and_advice
from numapredict.collect.mapping import Mapping, mapping_named
from numapredict.collect.measurement import Measurement, Repetition, Status
from numapredict.collect.program import Program
from numapredict.collect.terminal.printable import counted, printable
from numapredict.native.errors import InvalidInputError

UNITS_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0}
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "?"})
CENSORED = frozenset({"inf", "+inf", "infinity", "timeout", "dnf", "killed"})
MOST_FIELD_BYTES = 1 << 20
MOST_BYTES = 64 * MIB
MOST_ROWS = 1_000_000
MOST_CELLS = 8_000_000
"""Read, a row takes about 250 bytes and a cell up to 60."""

# float() also accepts 1_000, blanks, and digits of any script: more likely mistakes than figures.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)


class Row(NamedTuple):
    """A row's cells by column name, and the line of the file on which it ends."""

    line: int
    cells: dict[str, str]


class TableColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Which columns mean what.

    ``program`` and ``mapping`` are one or more columns whose values are joined, by a space and by "-"; a number after a
    label of our grammar is that of the threads on each core. ``group`` names what is held out together, the program
    itself where it is None. ``where`` and ``drop_if`` are (column, value): a row is taken if it has all of the first
    and none of the second. ``unit_s`` is the times' unit in seconds.
    """

    program: tuple[str, ...]
    mapping: tuple[str, ...]
    time: str
    group: str | None = None
    counters: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()
    drop_if: tuple[tuple[str, str], ...] = ()
    unit_s: float = 1.0

    @property
    def named(self) -> tuple[str, ...]:
        """Return all columns that are read."""
        picked = [name for name, _ in (*self.where, *self.drop_if)]
        group = [self.group] if self.group else []
        return (*self.program, *self.mapping, self.time, *group, *self.counters, *picked)


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """How the rows were used: ``other`` were not requested, ``suspect`` dropped, ``repeated`` are further repetitions.

    ``holes`` are pairs of a program and a mapping without a time, of ``programs`` x ``mappings``. ``varying`` are
    columns without a role that differ among the repetitions of a pair, in more than numbers. ``outliers`` were left
    out, and are holes; ``similar`` (in files ``sisters``) may be one code base and yet are in different groups.
    """

    rows: int
    other: int
    suspect: int
    missing: int
    censored: int
    repeated: int
    programs: int
    mappings: int
    holes: int
    varying: tuple[str, ...] = ()
    outliers: tuple[Outlier, ...] = ()
    similar: tuple[Pair, ...] = msgspec.field(name="sisters", default=())


def read_rows(path: Path) -> tuple[Row, ...]:
    """Return a CSV file's rows. Raises InvalidInputError, naming the line where there is one."""
    try:
        text = read_bounded(path, MOST_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise InvalidInputError(f"cannot read {path}: {reason_and_advice(error)}; name a CSV file") from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path}: is not UTF-8 text ({error.reason}); convert the file") from error
    if text.count(",") + text.count("\n") > MOST_CELLS:
        raise InvalidInputError(f"{path}: has more than {MOST_CELLS} cells; split the file")
    before = csv.field_size_limit(MOST_FIELD_BYTES)  # the limit is the whole process's
    try:
        return _rows(path, csv.DictReader(io.StringIO(text, newline=""), strict=True))
    finally:
        csv.field_size_limit(before)


def _rows(path: Path, reader: "csv.DictReader[str]") -> tuple[Row, ...]:
    rows: list[Row] = []
    try:
        names = list(reader.fieldnames or ())
        if not names:
            raise InvalidInputError(f"{path}: is empty; the first line must name the columns")
        double = [name for name, count in Counter(names).items() if count > 1]
        if double:
            raise InvalidInputError(f"{path}: column {double[0]!r} is there twice; rename one of them")
        for cells in reader:
            if None in cells or None in cells.values():
                found = len(names) + len(cells.get(None) or ()) if None in cells else "fewer"
                raise InvalidInputError(
                    f"{path}: line {reader.line_num} has {found} cells, the first line {len(names)}; fix the line"
                )
            if len(rows) == MOST_ROWS:
                raise InvalidInputError(f"{path}: has more than {MOST_ROWS} rows; split the file")
            rows.append(Row(reader.line_num, cells))
    except csv.Error as error:
        raise InvalidInputError(f"{path}: line {reader.line_num} is no CSV ({error}); fix the line") from error
    return tuple(rows)


def dataset_of_rows(
    rows: tuple[Row, ...], columns: TableColumns, machine: str, about: Dataset
) -> tuple[Dataset, Tally]:
    """Return the dataset of the rows, and how they were used; ``about`` gives the fields that rows do not hold.

    Raises InvalidInputError for a column that is not there, a program of two groups, a time or counter that is no
    number, a default mapping that no run has, and where no run is left.
    """
    _check_columns(rows, columns)
    taken = [row for row in rows if all(row.cells[name] == value for name, value in columns.where)]
    kept = [row for row in taken if not any(row.cells[name] == value for name, value in columns.drop_if)]
    found: dict[tuple[str, str], list[tuple[Status, Repetition | None]]] = {}
    groups: dict[str, str] = {}
    seen: dict[tuple[str, str], Row] = {}
    varying: set[str] = set()
    others = [name for name in rows[0].cells if name not in columns.named]
    count: Counter[str] = Counter()
    for row in kept:
        program = " ".join(filter(None, (row.cells[name].strip() for name in columns.program)))
        label = _label([row.cells[name].strip() for name in columns.mapping])
        if not program or not label.strip("-"):
            raise InvalidInputError(f"a row names no {'mapping' if program else 'program'}: {_shown(row)}; fix the row")
        group = row.cells[columns.group].strip() if columns.group else program
        if groups.setdefault(program, group) != group:
            raise InvalidInputError(
                f"program {program!r} is in the groups {groups[program]!r} and {group!r}; add a column to --program"
            )
        status, repetition = _run(row, columns)
        count[status if repetition is None else "ok"] += 1
        found.setdefault((program, label), []).append((status, repetition))
        known = seen.setdefault((program, label), row)
        changed = (name for name in others if row.cells[name] != known.cells[name])
        varying |= {name for name in changed if not _NUMBER.fullmatch(row.cells[name].strip())}
    measurements = tuple(
        measurement
        for (program, label), runs in found.items()
        if (measurement := _measurement(program, label, machine, runs)) is not None
    )
    labels = dict.fromkeys(label for _, label in found)
    if not any(m.status == "ok" for m in measurements):
        raise InvalidInputError(f"no run with a time is left of {len(rows)} rows; check --where, --drop-if and --time")
    if about.default is not None and about.default not in set(map(mapping_named, labels)):
        raise InvalidInputError(
            f"no run has the default mapping {about.default.label!r}; there are {', '.join(list(labels)[:5])} and so on"
        )
    ok = sum(m.status == "ok" for m in measurements)
    tally = Tally(
        rows=len(rows),
        other=len(rows) - len(taken),
        suspect=len(taken) - len(kept),
        missing=count["crashed"],
        censored=count["timeout"],
        repeated=sum(len(m.repetitions) - 1 for m in measurements if m.repetitions),
        programs=len(groups),
        mappings=len(labels),
        holes=len(groups) * len(labels) - ok,
        varying=tuple(name for name in others if name in varying),
    )
    programs = tuple(Program(name=name, command=(name,), group=group) for name, group in groups.items())
    return msgspec.structs.replace(about, programs=programs, measurements=measurements), tally


def _check_columns(rows: tuple[Row, ...], columns: TableColumns) -> None:
    if not rows:
        raise InvalidInputError("the table has no rows; there is nothing to import")
    for name in columns.named:
        if name not in rows[0].cells:
            raise InvalidInputError(f"there is no column {name!r}; the columns are {', '.join(rows[0].cells)}")


def _label(cells: list[str]) -> str:
    """Return a mapping's label from its cells: after a label of ours, a number is that of threads a core."""
    *front, last = cells
    mapping = mapping_named("-".join(front))
    if isinstance(mapping, Mapping) and re.fullmatch("[1-9][0-9]?", last):
        return mapping.replaced(threads_per_core=int(last)).label
    return "-".join(cells)


def _run(row: Row, columns: TableColumns) -> tuple[Status, Repetition | None]:
    """Return a run's status, "crashed" without a time and "timeout" if cut off, and its repetition if it has one."""
    text = row.cells[columns.time].strip()
    if text.lower() in MISSING:
        return "crashed", None
    if text.startswith(">") or text.lower() in CENSORED:
        return "timeout", None
    time = _number(row, columns.time)
    if time <= 0:
        return "crashed", None
    if not LEAST_TIME_S <= time * columns.unit_s <= MOST_TIME_S:
        raise InvalidInputError(
            f"line {row.line}, column {columns.time!r}: {text!r} is a time of {time * columns.unit_s:g} s, and runs"
            f" take {LEAST_TIME_S:g} to {MOST_TIME_S:g} s; fix the row, or check --time-unit"
        )
    readings = tuple(
        (name, _number(row, name)) for name in columns.counters if row.cells[name].strip().lower() not in MISSING
    )
    return "ok", Repetition(time_s=time * columns.unit_s, readings=readings)


def _number(row: Row, column: str) -> float:
    text = row.cells[column].strip()
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise InvalidInputError(
            f"line {row.line}, column {column!r}: {row.cells[column]!r} is no number such as 1234.5 or 1.2345e3;"
            " fix the row"
        )
    return value


def _measurement(
    program: str, label: str, machine: str, runs: list[tuple[Status, Repetition | None]]
) -> Measurement | None:
    """Return one pair's measurement, None where all its cells are missing.

    A pair with any run cut off counts as cut off: the times of its other runs would make it look too fast.
    """
    repetitions = tuple(repetition for _, repetition in runs if repetition is not None)
    cut_off = any(status == "timeout" for status, _ in runs)
    if not repetitions and not cut_off:
        return None
    return Measurement(
        program=program,
        mapping=mapping_named(label),
        machine=machine,
        modelled=False,
        status="timeout" if cut_off else "ok",
        repetitions=() if cut_off else repetitions,
        message="the time was cut off" if cut_off else "",
        provenance=(("source", "imported"),),
    )


def _shown(row: Row) -> str:
    text = ", ".join(f"{name}={value}" for name, value in row.cells.items())
    return text if len(text) <= 120 else text[:117] + "..."


def tally_in_words(tally: Tally) -> str:
    """Return one line, and one more where rows were merged that may not belong together."""
    left_out = (
        (tally.other, "not asked for"),
        (tally.suspect, "dropped as suspect"),
        (tally.missing, "without a time"),
        (tally.censored, "cut off"),
    )
    parts = [f"{count} {what}" for count, what in left_out if count]
    rows = counted(tally.rows, "row") + (f", of which {', '.join(parts)}" if parts else "")
    pairs = f"{counted(tally.programs, 'program')} x {counted(tally.mappings, 'mapping')}"
    holes = f", {tally.holes} of the {tally.programs * tally.mappings} pairs without a time" if tally.holes else ""
    repeated = f", {counted(tally.repeated, 'further repetition')}" if tally.repeated else ""
    text = f"{pairs}{holes}{repeated}; {rows}"
    if tally.varying:
        named = printable(", ".join(tally.varying))
        text += f"\nrows of one program and mapping differ in {named}: name it in --program, or pick one with --where"
    return text


def doubts_in_words(tally: Tally, dataset: str, default: str | None) -> list[str]:
    """Return a line each for what was left out as an outlier, and for programs that may be one code base."""
    found = [outliers_in_words(tally.outliers, dataset, default)] if tally.outliers else []
    return found + ([similar_in_words(tally.similar, dataset)] if tally.similar else [])
