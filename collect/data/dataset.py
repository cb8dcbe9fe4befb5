"""Datasets: the only reader and writer of training data.

A dataset is a folder with two files. ``dataset.json`` says what was measured, where and how; ``measurements.parquet``
holds one row a repetition (columns: see ``measurement_table``). The JSON names the digest of the Parquet file, so that
halves of two datasets are never read as one. Reading either never runs code.

History of the schema version:

1. the first: machine, modelled, topology, made_by, created, environment, units, programs, rows, measurements_sha256.
2. topology may be null, mappings may be opaque, and there is a default: datasets made of other people's tables.
3. the table has ``sampled_share``, where there were no counters.
4. the table has ``threads_per_core``; mappings of an older one have 1. It has no totals over the nodes any more, and
   no bandwidths where they follow from accesses and times. There may be ``counterparts`` of opaque mappings.
5. the table has ``thread_l3s``; mappings of an older one have 0. Cores of a topology may have a ``kind``.
"""

import hashlib
import shlex
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import msgspec

from numapredict.collect.data.counterparts import Counterparts
from numapredict.collect.host.bounded_file import MIB, read_bounded
from numapredict.collect.host.durable import reason_and_advice, refused_as, replace_file
from numapredict.collect.mapping import AnyMapping, from_label, to_label
from numapredict.collect.measurement import Measurement
from numapredict.collect.program import Program
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidInputError, InvalidTopologyError

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = 5
DESCRIPTION_FILE = "dataset.json"
TABLE_FILE = "measurements.parquet"
MOST_BYTES = 256 * MIB
"""Of either file; those of 128 programs under 526 mappings have 7 MiB together."""
UNITS = (
    ("time_s", "seconds"),
    ("region_time_s", "seconds in parallel regions"),
    ("local_accesses", "cache lines"),
    ("remote_accesses", "cache lines"),
    ("local_bandwidth_GBps", "1e9 bytes a second"),
    ("remote_bandwidth_GBps", "1e9 bytes a second"),
)


class Dataset(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured on one machine: programs, measurements and how they were made.

    ``made_by`` is the command that made it, ``created`` an ISO 8601 time, ``environment`` what may have influenced the
    figures (kernel, compiler, settings) as pairs. ``modelled`` is true when the figures come from a model.
    ``topology`` is None where the machine is not described; ``default`` is then the label of the baseline of
    speedups, None where the topology gives it. ``counterparts`` says which of our mappings opaque ones are like.
    """

    machine: str
    modelled: bool
    topology: Topology | None
    made_by: str
    created: str
    default: AnyMapping | None = None
    environment: tuple[tuple[str, str], ...] = ()
    programs: tuple[Program, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    counterparts: Counterparts | None = None

    def __post_init__(self) -> None:
        """Refuse measurements that do not belong here: other machine, unknown program, repeated pair."""
        names = {program.name for program in self.programs}
        if len(names) != len(self.programs):
            raise ValueError("programs: two programs have the same name")
        seen = set()
        for m in self.measurements:
            where = f"measurement of {m.program!r} under {m.mapping.label}"
            if m.program not in names:
                raise ValueError(f"{where}: the program is not in programs")
            if (m.machine, m.modelled) != (self.machine, self.modelled):
                raise ValueError(f"{where}: made on {m.machine!r} (modelled: {m.modelled}), not on {self.machine!r}")
            if (m.program, m.mapping) in seen:
                raise ValueError(f"{where}: there twice")
            seen.add((m.program, m.mapping))

    @property
    def nodes(self) -> int | None:
        """Return the machine's number of nodes, None where it is not known."""
        return None if self.topology is None else len(self.topology.nodes)

    def program(self, name: str) -> Program:
        """Return the program of that name; KeyError where there is none."""
        for program in self.programs:
            if program.name == name:
                return program
        raise KeyError(name)

    def frame(self) -> "pd.DataFrame":
        """Return the measurements as a tidy pandas frame: one row a repetition, in the dataset's order.

        Columns: ``machine``, ``program``, ``mapping`` (its label), ``threads``, ``thread_nodes``, ``thread_policy``,
        ``page_nodes``, ``page_policy``, ``threads_per_core``, ``thread_l3s`` (missing for opaque mappings), ``status``,
        ``message``, ``repetition`` (from 0), ``time_s`` and ``region_time_s`` (seconds, of the whole run and in its
        parallel regions), ``local_accesses`` and ``remote_accesses`` (cache lines, sums over the nodes),
        ``local_bandwidth_GBps`` and ``remote_bandwidth_GBps`` (1e9 bytes a second, sums over the nodes), ``modelled``,
        ``sampled_share`` (0 to 1, of page touches). Names and policies are categories. A failed measurement is one row
        without ``repetition``. What was not measured is NaN, <NA> in the columns of whole numbers.
        """
        from numapredict.collect.data.measurement_table import frame_of

        frame = frame_of(self.measurements)
        frame.insert(0, "machine", self.machine)
        return frame


_DESCRIBED = tuple(name for name in Dataset.__struct_fields__ if name != "measurements")
"""What ``dataset.json`` says of a dataset, as both records name it."""


class _Description(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of ``dataset.json``."""

    schema: int
    machine: str
    modelled: bool
    made_by: str
    created: str
    environment: tuple[tuple[str, str], ...]
    units: dict[str, str]
    rows: int
    measurements_sha256: str
    programs: tuple[Program, ...]
    default: AnyMapping | None = None
    counterparts: Counterparts | None = None
    topology: Topology | None


class Heading(msgspec.Struct, frozen=True, kw_only=True):
    """What ``dataset.json`` says of the machine, and when the dataset was made; see Dataset."""

    machine: str
    modelled: bool
    topology: Topology | None
    created: str


class _Version(msgspec.Struct, frozen=True):
    """The one field that every version of ``dataset.json`` has."""

    schema: int


def same_command(one: Program, other: Program) -> bool:
    """Return whether two programs run the same command, apart from folders, and stand for the same region of it."""

    def what(program: Program) -> tuple[object, ...]:
        module, offset = program.region or ("", 0)
        name = PurePath(program.command[0]).name
        return name, program.command[1:], sorted(program.environment), PurePath(module).name, offset

    return what(one) == what(other)


def read_heading(path: Path) -> Heading:
    """Return what the dataset in the folder ``path`` is of, without its measurements; raises as read_dataset does."""
    known = _decode(path / DESCRIPTION_FILE, _read(path / DESCRIPTION_FILE))
    return Heading(**{name: getattr(known, name) for name in Heading.__struct_fields__})


def read_dataset(path: Path) -> Dataset:
    """Return the dataset in the folder ``path``; raise InvalidInputError for anything malformed or unreadable."""
    from numapredict.collect.data import measurement_table

    description_path, table_path = path / DESCRIPTION_FILE, path / TABLE_FILE
    description = _decode(description_path, _read(description_path))
    data = _read(table_path)
    if hashlib.sha256(data).hexdigest() != description.measurements_sha256:
        raise InvalidInputError(
            f"{table_path}: measurements_sha256 in {DESCRIPTION_FILE} belongs to another file; restore both files from"
            " one copy, or resume the campaign that writes them"
        )
    try:
        nodes, line_bytes = _shape(description.topology)
        measurements = measurement_table.from_parquet(data, description.machine, nodes, line_bytes)
        if {m.modelled for m in measurements} - {description.modelled}:
            raise ValueError(f"column modelled: not {description.modelled}, as {DESCRIPTION_FILE} says")
    except ValueError as error:
        raise InvalidInputError(f"{table_path}: {error}; restore the file or collect the dataset again") from error
    try:
        return Dataset(**{name: getattr(description, name) for name in _DESCRIBED}, measurements=measurements)
    except ValueError as error:
        raise InvalidInputError(f"{path}: {error}; restore both files or collect the dataset again") from error


def write_dataset(dataset: Dataset, path: Path) -> None:
    """Write the dataset into the folder ``path``, each file in one step.

    Raises InvalidInputError for a measurement that no reader would accept, and UnwritableError where the
    system refuses. A crash between the two files leaves a pair that ``read_dataset`` refuses.
    """
    from numapredict.collect.data import measurement_table

    try:
        data, rows = measurement_table.to_parquet(dataset.measurements, *_shape(dataset.topology))
    except ValueError as error:
        raise InvalidInputError(f"dataset of {dataset.machine}: {error}; nothing was written") from error
    description = _Description(
        schema=SCHEMA_VERSION,
        units=dict(UNITS),
        rows=rows,
        measurements_sha256=hashlib.sha256(data).hexdigest(),
        **{name: getattr(dataset, name) for name in _DESCRIBED},
    )
    text = msgspec.json.format(msgspec.json.encode(description, enc_hook=to_label), indent=2) + b"\n"
    with refused_as(f"cannot write the dataset {path}"):
        path.mkdir(parents=True, exist_ok=True)
        replace_file(path / TABLE_FILE, data)
        replace_file(path / DESCRIPTION_FILE, text)


def _shape(topology: Topology | None) -> tuple[int | None, int | None]:
    """Return a machine's number of nodes, and the bytes of a line of its caches; None where they are not known."""
    if topology is None:
        return None, None
    lines = {cache.line_bytes for cache in topology.caches}
    return len(topology.nodes), lines.pop() if len(lines) == 1 else None


def _read(path: Path) -> bytes:
    try:
        return read_bounded(path, MOST_BYTES)
    except FileNotFoundError as error:
        where = shlex.quote(str(path.parent))
        raise InvalidInputError(
            f"{where} is not a dataset: {path.name} is missing; name a folder with both {DESCRIPTION_FILE} and"
            f" {TABLE_FILE}"
        ) from error
    except OSError as error:
        raise InvalidInputError(f"cannot read {path}: {reason_and_advice(error)}") from error


def _decode(path: Path, data: bytes) -> _Description:
    try:
        version = msgspec.json.decode(data, type=_Version).schema
        if version > SCHEMA_VERSION:
            raise InvalidInputError(
                f"{path}: schema is {version}, this numapredict reads up to {SCHEMA_VERSION}; use a newer numapredict"
            )
        if version < 1:
            raise InvalidInputError(f"{path}: schema is {version}, which never existed; restore the file")
        return msgspec.json.decode(data, type=_Description, dec_hook=from_label)
    except (msgspec.DecodeError, UnicodeDecodeError, InvalidTopologyError) as error:
        raise InvalidInputError(f"{path}: {error}; restore the file or collect the dataset again") from error
