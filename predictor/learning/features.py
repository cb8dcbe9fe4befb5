"""Measurements of every program under every mapping as matrices, and the two normalisations of the thesis."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from numapredict.collect.data.dataset import Dataset
from numapredict.collect.mapping import AnyMapping, order_of
from numapredict.collect.measurement import Measurement
from numapredict.collect.program import Program
from numapredict.native.errors import InsufficientDataError
from numapredict.predictor.learning.options import Clock, Reads, Scale

Array = npt.NDArray[np.float64]
T = TypeVar("T")


COUNTERS = ("local_bandwidth_GBps", "remote_bandwidth_GBps", "local_accesses", "remote_accesses")


MOST_FILLED = 0.2
"""The share of sampled values that may be missing; above it, shares of local accesses are not used."""


@dataclass(frozen=True, eq=False)
class Observations:
    """Programs x mappings without holes; every matrix is float64[programs, mappings].

    ``clock`` says which time ``time_s`` is: that in parallel regions, where a mapping acts, if every measurement has
    it, else that of the whole run.
    The four counters, sums over the nodes, and the share of local accesses are None when any kept run has none. The
    ``dropped`` names were left out because of missing measurements.
    """

    programs: tuple[Program, ...]
    mappings: tuple[AnyMapping, ...]
    time_s: Array
    local_bandwidth_GBps: Array | None = None
    remote_bandwidth_GBps: Array | None = None
    local_accesses: Array | None = None
    remote_accesses: Array | None = None
    local_share: Array | None = None
    clock: Clock = "process"
    dropped_programs: tuple[str, ...] = ()
    dropped_mappings: tuple[AnyMapping, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the programs' names, in row order."""
        return tuple(program.name for program in self.programs)

    @property
    def groups(self) -> tuple[str, ...]:
        """Return what each program is held out with: its group, or its own name where it has none."""
        return tuple(map(group_of, self.programs))

    def column(self, mapping: AnyMapping) -> int:
        """Return the mapping's column; InsufficientDataError when it was not measured for all programs."""
        try:
            return self.mappings.index(mapping)
        except ValueError:
            raise InsufficientDataError(
                f"mapping {mapping} was not measured for all programs: collect it, or choose another default mapping, "
                f"{self.mappings[0]} for instance"
            ) from None

    @property
    def counters(self) -> dict[str, Array]:
        """Return the counters that every run has, float64[programs, mappings], by the field's name."""
        found = {name: getattr(self, name) for name in COUNTERS}
        return {name: values for name, values in found.items() if values is not None}

    @property
    def reads(self) -> tuple[Reads, ...]:
        """Return what every run has in addition to its time, the most informative first."""
        readings: tuple[tuple[Reads, Array | None], ...] = (
            ("bandwidth", self.local_bandwidth_GBps),
            ("share", self.local_share),
        )
        return (*(name for name, values in readings if values is not None), "times")

    def rows(self, indices: Iterable[int]) -> "Observations":
        """Return the observations of some programs only."""
        chosen = list(indices)
        return self._part((chosen, slice(None)), tuple(self.programs[i] for i in chosen), self.mappings)

    def columns(self, indices: Iterable[int]) -> "Observations":
        """Return the observations under some mappings only."""
        chosen = list(indices)
        return self._part((slice(None), chosen), self.programs, tuple(self.mappings[i] for i in chosen))

    def _part(
        self, chosen: tuple[Any, Any], programs: tuple[Program, ...], mappings: tuple[AnyMapping, ...]
    ) -> "Observations":
        matrices = {name: getattr(self, name) for name in ("time_s", *COUNTERS, "local_share")}
        parts: dict[str, Any] = {name: None if whole is None else whole[chosen] for name, whole in matrices.items()}
        return Observations(programs=programs, mappings=mappings, clock=self.clock, **parts)


def group_of(program: Program) -> str:
    """Return what a program is held out with: its group, or its own name where it has none."""
    return program.group or program.name


def observe(dataset: Dataset, keep: AnyMapping | None = None) -> Observations:
    """Return the dataset's programs and mappings as matrices without holes.

    If measurements are missing or failed, the program or mapping with the largest missing share is dropped, until no
    hole is left; the mapping ``keep`` is never dropped. Columns are ordered by the mapping's fields.
    """
    programs = dataset.programs
    row_of = {program.name: row for row, program in enumerate(programs)}
    mappings = sorted({m.mapping for m in dataset.measurements}, key=order_of)
    column_of = {mapping: column for column, mapping in enumerate(mappings)}
    time_s = np.full((len(programs), len(mappings)), np.nan)
    counted = {name: np.full_like(time_s, np.nan) for name in (*COUNTERS, "local_share")}
    clock = clock_of(dataset)
    for measurement in dataset.measurements:
        row = row_of.get(measurement.program)
        if row is None or measurement.status != "ok":
            continue
        column = column_of[measurement.mapping]
        time_s[row, column] = _positive_time_s(measurement, clock)
        if measurement.counters is not None:
            for name in COUNTERS:
                counted[name][row, column] = getattr(measurement.counters, name)
        share = measurement.local_share
        if share is not None:
            counted["local_share"][row, column] = share
    kept_rows, kept_columns = _without_holes(np.isnan(time_s), column_of.get(keep) if keep is not None else None)
    if len(kept_rows) == 0 or len(kept_columns) == 0:
        raise InsufficientDataError(
            f"dataset of {dataset.machine} has no program with valid measurements: collect some first"
        )
    kept = np.ix_(kept_rows, kept_columns)
    found = {name: values[kept] for name, values in counted.items()}
    found["local_share"] = _filled(found["local_share"])
    known: dict[str, Any] = {name: values for name, values in found.items() if not np.isnan(values).any()}
    return Observations(
        programs=tuple(programs[row] for row in kept_rows),
        mappings=tuple(mappings[column] for column in kept_columns),
        time_s=time_s[kept],
        clock=clock,
        dropped_programs=_others([p.name for p in programs], kept_rows),
        dropped_mappings=_others(mappings, kept_columns),
        **known,
    )


def clock_of(dataset: Dataset) -> Clock:
    """Return the clock that all valid measurements of a dataset have."""
    readings = [m.region_time_s is not None for m in dataset.measurements if m.status == "ok"]
    return "regions" if readings and all(readings) else "process"


def time_by(clock: Clock, measurement: Measurement) -> float | None:
    """Return a measurement's median time by a clock, in seconds, or None if it was not measured."""
    return measurement.region_time_s if clock == "regions" else measurement.time_s


def normalise_by_default(time_s: Array, column: int) -> Array:
    """Divide every program's run times by its time at the default mapping's column.

    What is left is how the program reacts to a change of mapping, whatever its length (thesis sec. 5.1).
    """
    return time_s / time_s[:, [column]]


def gains_of(time_s: Array, default: int) -> Array:
    """Return float64[programs, mappings]: log2 of the time at the default's column over each mapping's."""
    gains: Array = np.log2(time_s[:, [default]] / time_s)
    return gains


def normalise_across_programs(values: Array) -> Array:
    """Divide every mapping's values by their largest over the programs, leaving a column of zeros as it is.

    What is left is how one metric differs from program to program (thesis sec. 6).
    """
    return values / across_programs_divisor(values)


def across_programs_divisor(values: Array) -> Array:
    """Return float64[mappings]: the largest value over the programs, 1 where that is zero."""
    largest: Array = values.max(axis=0)
    return np.where(largest > 0, largest, 1.0)


def clustering_rows(time_s: Array, column: int, scale: Scale) -> Array:
    """Return the rows that are clustered: times over the default's, as they are (the thesis) or as log2.

    On the linear scale the slow mappings decide (4 times slower lies 3 away from the default, 4 times faster only
    0.75); the log scale treats slower and faster alike.
    """
    normalised = normalise_by_default(time_s, column)
    return np.log2(normalised) if scale == "log" else normalised


def _positive_time_s(measurement: Measurement, clock: Clock) -> float:
    """Return the time in seconds, NaN unless it is positive and finite."""
    time_s = time_by(clock, measurement)
    return time_s if time_s is not None and 0 < time_s < np.inf else np.nan


def _without_holes(missing: npt.NDArray[np.bool_], keep: int | None) -> tuple[list[int], list[int]]:
    """Return the rows and columns that remain when the emptiest of either is dropped until no hole is left."""
    rows, columns = list(range(missing.shape[0])), list(range(missing.shape[1]))
    while rows and columns:
        part = missing[np.ix_(rows, columns)]
        if not part.any():
            break
        row_share, column_share = part.mean(axis=1), part.mean(axis=0)
        if keep in columns:
            column_share[columns.index(keep)] = -1.0
        if row_share.max() > column_share.max():
            rows.pop(int(row_share.argmax()))
        else:
            columns.pop(int(column_share.argmax()))
    return rows, columns


def _filled(shares: Array) -> Array:
    """Return shares with missing ones, if few, replaced by their mapping's median: sampling may see no access.

    The mapping largely determines the share, and for a program with few sampled accesses the share matters little.
    """
    missing = np.isnan(shares)
    if missing.mean() > MOST_FILLED or missing.all(axis=0).any():
        return shares
    return np.where(missing, np.nanmedian(shares, axis=0), shares)


def _others(every: Sequence[T], kept: list[int]) -> tuple[T, ...]:
    inside = set(kept)
    return tuple(each for index, each in enumerate(every) if index not in inside)
