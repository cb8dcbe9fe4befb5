"""Other people's measurements: a CSV file of run times becomes a dataset.

A row is one run. Which columns name the program, the mapping and the time is said, never guessed. Rows can be picked by
a column's value and dropped by one; times that are missing, were cut off, or make no sense are counted and not
filled in. Several rows of one program and mapping are repetitions, in the file's order.
"""

import csv
import math
from collections import Counter
from pathlib import Path

import msgspec

from numapredict.collect.dataset import Dataset
from numapredict.collect.durable import reason_and_advice
from numapredict.collect.mapping import mapping_named
from numapredict.collect.measurement import Measurement, Repetition, Status
from numapredict.collect.program import Program
from numapredict.native.errors import NumapredictError

UNITS_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0}
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "?"})
CENSORED = frozenset({"inf", "+inf", "infinity", "timeout", "dnf", "killed"})
MOST_FIELD_BYTES = 1 << 20

Row = dict[str, str]


class InvalidTableError(NumapredictError):
    """A CSV file cannot be read, lacks a column, or holds no run that was asked for."""


class TableColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Which columns mean what.

    ``program`` and ``mapping`` are one or more columns whose values are joined, by a space and by "-". ``group`` names
    what is held out together, the program itself where it is None. ``where`` and ``drop_if`` are (column, value): a row
    is taken if it has all of the first and none of the second. ``unit_s`` is the times' unit in seconds.
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
        """Return all columns that mean something."""
        picked = [name for name, _ in (*self.where, *self.drop_if)]
        group = [self.group] if self.group else []
        return (*self.program, *self.mapping, self.time, *group, *self.counters, *picked)


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the rows: ``other`` were not asked for, ``suspect`` dropped, ``repeated`` are further repetitions.

    ``holes`` are pairs of a program and a mapping without a time, of ``programs`` x ``mappings``. ``varying`` are
    columns that nobody named and that differ among the repetitions of a pair, in more than numbers.
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


def read_rows(path: Path) -> tuple[Row, ...]:
    """Return a CSV file's rows by column name. Raises InvalidTableError, naming the line where there is one."""
    before = csv.field_size_limit(MOST_FIELD_BYTES)  # the limit is the whole process's
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, strict=True)
            names = list(reader.fieldnames or ())
            if not names:
                raise InvalidTableError(f"{path}: is empty; the first line must name the columns")
            double = [name for name, count in Counter(names).items() if count > 1]
            if double:
                raise InvalidTableError(f"{path}: column {double[0]!r} is there twice; rename one of them")
            rows = []
            for row in reader:
                if None in row or None in row.values():
                    found = len(names) + len(row.get(None) or ()) if None in row else "fewer"
                    raise InvalidTableError(
                        f"{path}: line {reader.line_num} has {found} cells, the first line {len(names)}; mend the line"
                    )
                rows.append(row)
    except OSError as error:
        raise InvalidTableError(f"cannot read {path}: {reason_and_advice(error)}") from error
    except UnicodeDecodeError as error:
        raise InvalidTableError(f"{path}: is not UTF-8 text ({error.reason}); convert the file") from error
    except csv.Error as error:
        raise InvalidTableError(f"{path}: line {reader.line_num} is no CSV ({error}); mend the line") from error
    finally:
        csv.field_size_limit(before)
    return tuple(rows)


def dataset_of_rows(
    rows: tuple[Row, ...], columns: TableColumns, machine: str, about: Dataset
) -> tuple[Dataset, Tally]:
    """Return the dataset that the rows make, and what became of them; ``about`` gives all but what the rows do.

    Raises InvalidTableError for a column that is not there, a program of two groups, a time or counter that is no
    number, a default mapping that no run has, and where no run is left.
    """
    _check_columns(rows, columns)
    taken = [row for row in rows if all(row[name] == value for name, value in columns.where)]
    kept = [row for row in taken if not any(row[name] == value for name, value in columns.drop_if)]
    found: dict[tuple[str, str], list[tuple[Status, Repetition | None]]] = {}
    groups: dict[str, str] = {}
    seen: dict[tuple[str, str], Row] = {}
    varying: set[str] = set()
    others = [name for name in rows[0] if name not in columns.named]
    count: Counter[str] = Counter()
    for row in kept:
        program = " ".join(filter(None, (row[name].strip() for name in columns.program)))
        label = "-".join(row[name].strip() for name in columns.mapping)
        if not program or not label.strip("-"):
            raise InvalidTableError(
                f"a row names no {'mapping' if program else 'program'}: {_shown(row)}; mend the row"
            )
        group = row[columns.group].strip() if columns.group else program
        if groups.setdefault(program, group) != group:
            raise InvalidTableError(
                f"program {program!r} is in the groups {groups[program]!r} and {group!r}; add a column to --program"
            )
        status, repetition = _run(row, columns)
        count[status if repetition is None else "ok"] += 1
        found.setdefault((program, label), []).append((status, repetition))
        known = seen.setdefault((program, label), row)
        varying |= {name for name in others if row[name] != known[name] and not (_is_number(row[name]))}
    measurements = tuple(
        measurement
        for (program, label), runs in found.items()
        if (measurement := _measurement(program, label, machine, runs)) is not None
    )
    labels = dict.fromkeys(label for _, label in found)
    if not any(m.status == "ok" for m in measurements):
        raise InvalidTableError(f"no run with a time is left of {len(rows)} rows; check --where, --drop-if and --time")
    if about.default is not None and about.default not in labels:
        raise InvalidTableError(
            f"no run has the default mapping {about.default!r}; there are {', '.join(list(labels)[:5])} and so on"
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
        raise InvalidTableError("the table has no rows; there is nothing to import")
    for name in columns.named:
        if name not in rows[0]:
            raise InvalidTableError(f"there is no column {name!r}; the columns are {', '.join(rows[0])}")


def _run(row: Row, columns: TableColumns) -> tuple[Status, Repetition | None]:
    """Return a run: "crashed" stands for one without a time, "timeout" for one that was cut off."""
    text = row[columns.time].strip()
    if text.lower() in MISSING:
        return "crashed", None
    if text.startswith(">") or text.lower() in CENSORED:
        return "timeout", None
    time = _number(row, columns.time)
    if time <= 0:
        return "crashed", None
    readings = tuple(
        (name, _number(row, name)) for name in columns.counters if row[name].strip().lower() not in MISSING
    )
    return "ok", Repetition(time_s=time * columns.unit_s, readings=readings)


def _number(row: Row, column: str) -> float:
    try:
        value = float(row[column])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidTableError(f"column {column!r} is {row[column]!r}, no number, in {_shown(row)}; mend the row")
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _measurement(
    program: str, label: str, machine: str, runs: list[tuple[Status, Repetition | None]]
) -> Measurement | None:
    """Return one pair's measurement, None where nothing but missing cells is known of it.

    A pair that was cut off in any of its runs is as slow as that, and not as fast as the others.
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
    text = ", ".join(f"{name}={value}" for name, value in row.items())
    return text if len(text) <= 120 else text[:117] + "..."
