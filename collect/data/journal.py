"""The journal of a campaign: an append-only file with a line a finished run, so that a kill loses nothing finished.

A line is one JSON object and ends with a line feed: a ``header`` first (whose journal this is), then a ``program``
line before the first run of each program, and a ``finished`` line a run. Each is flushed and fsynced before the next
run starts. What follows the last whole line was torn by a kill and is cut off before the next line is appended. Where a
pair is there twice (a failed run that was tried again), the later line counts. What a reader would refuse is not
written: JSON has no infinite numbers, so a run with such a figure becomes a failed one that says so.

The journal of a folder is locked against a second campaign on this computer. Where many computers write into one
folder, no lock can be relied on (flock(2) on NFS and Lustre depends on how they are mounted): there each process has a
file of its own, made under a name that no other one uses, and appends to no other.

History of the schema version:

1. the first.
"""

import contextlib
import fcntl
import os
import stat
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from numapredict.collect.data.dataset import same_command
from numapredict.collect.data.measurement_fault import fault_of
from numapredict.collect.host.bounded_file import read_bounded
from numapredict.collect.host.durable import reason_and_advice, refused_as, replace_file, sync_folder
from numapredict.collect.mapping import parse_label
from numapredict.collect.measurement import Measurement, Repetition, Status
from numapredict.collect.program import Program
from numapredict.collect.topology import Topology
from numapredict.native.errors import (
    InvalidInputError,
    InvalidMappingError,
    InvalidTopologyError,
    UnwritableError,
)

SCHEMA_VERSION = 1
JOURNAL_FILE = "journal.jsonl"
MOST_BYTES = 1 << 30
"""A line of a machine with 8 nodes takes about 1 kB: room for a million runs."""


class _Line(msgspec.Struct, frozen=True, tag_field="kind", forbid_unknown_fields=True):
    """What all lines have: a kind."""


class Header(_Line, frozen=True, kw_only=True, tag="header"):
    """Whose journal this is; the fields are those of a Dataset."""

    schema: int = SCHEMA_VERSION
    machine: str
    modelled: bool
    made_by: str
    created: str
    environment: tuple[tuple[str, str], ...] = ()
    topology: Topology


class Introduced(_Line, frozen=True, tag="program"):
    """A program, before its first run."""

    program: Program


class Finished(_Line, frozen=True, kw_only=True, tag="finished"):
    """A finished run: a measurement without the header's fields, and the wall time that it took, in seconds."""

    program: str
    mapping: str
    status: Status
    took_s: float
    repetitions: tuple[Repetition, ...] = ()
    message: str = ""
    provenance: tuple[tuple[str, str], ...] = ()


class _Version(msgspec.Struct, frozen=True):
    """The one field that the header of every version has."""

    schema: int = SCHEMA_VERSION


class Record(msgspec.Struct, frozen=True):
    """What a journal holds: its header, programs by name, and the last measurement of every pair."""

    header: Header | None = None
    programs: tuple[Program, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    took_s: tuple[float, ...] = ()


_MEASURED = ("program", "status", "repetitions", "message", "provenance")  # of a line as of a measurement
_REPAIR = "restore the file, or move it away and collect again"
_DECODER = msgspec.json.Decoder(Header | Introduced | Finished)


def read_journal(path: Path) -> Record:
    """Return what the journal at ``path`` holds, an empty record where there is none; raise InvalidInputError."""
    try:
        data = read_bounded(path, MOST_BYTES)
    except FileNotFoundError:
        return Record()
    except OSError as error:
        raise InvalidInputError(f"cannot read {path}: {reason_and_advice(error)}") from error
    return _parse(path, data)[0]


def header_conflict(recorded: Header, asked: Header) -> str:
    """Return why runs of ``asked`` must not be added to the journal of ``recorded``; "" where they may."""
    if recorded.machine != asked.machine:
        return f"it was made on machine {recorded.machine!r}, not on {asked.machine!r}"
    if recorded.modelled != asked.modelled:
        return f"its figures are {'modelled' if recorded.modelled else 'measured'}, those to add are not"
    if recorded.topology.fingerprint != asked.topology.fingerprint:
        return f"machine {asked.machine!r} had another topology when it was made"
    return ""


def create_journal(path: Path, record: Record) -> None:
    """Write a journal that holds ``record``, in one step; leave a journal that is there already as it is."""
    lines: list[_Line] = [] if record.header is None else [record.header]
    lines += [Introduced(program) for program in record.programs]
    lines += [_finished(m, took_s) for m, took_s in zip(record.measurements, record.took_s, strict=True)]
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    with refused_as(f"cannot write {path}"):
        replace_file(temporary, b"".join(_encode(line) for line in lines))
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)  # unlike a rename, it cannot put an old record over a journal in use
        temporary.unlink()
        sync_folder(path.parent)


class Journal:
    """One campaign's journal, open for appending under an exclusive lock.

    Opening creates the file with its header, or reads what is there and cuts a torn last line off. With ``own`` the
    file must be new, and is not locked: its name is this process's alone. Use it as a context manager. Raises
    InvalidInputError for a journal in use elsewhere, of another machine, malformed or not writable.
    """

    def __init__(self, path: Path, header: Header, *, own: bool = False) -> None:
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK | (os.O_EXCL if own else 0)
        with refused_as(f"cannot write {path}"):
            self._file = os.open(path, flags, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                raise InvalidInputError(f"{path} is not a regular file; move it away, or name another folder")
            self._size = 0
            self.record = self._open(header, locked=not own)
        except BaseException:
            os.close(self._file)
            raise
        self._programs = {program.name: program for program in self.record.programs}
        self._nodes = len(header.topology.nodes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)  # releases the lock

    def introduce(self, program: Program) -> None:
        """Append a program before its first run; nothing where it is there already."""
        known = self._programs.get(program.name)
        if known == program:
            return
        if known is not None and not same_command(known, program):
            raise InvalidInputError(
                f"{self.path}: program {program.name!r} was recorded with another command; name the new one otherwise"
                " or use another folder"
            )
        self._append(Introduced(program))
        self._programs[program.name] = program

    def finished(self, measurement: Measurement, took_s: float) -> Measurement:
        """Append a finished run, and return it as it was written; it is on the disk when this returns.

        One whose figures make no sense, as no dataset may hold them, is written as a failed run that says which.
        """
        fault = fault_of(measurement, self._nodes)
        if fault:
            message = f"its figures make no sense: {fault}"
            measurement = msgspec.structs.replace(measurement, status="crashed", repetitions=(), message=message)
        self._append(_finished(measurement, took_s))
        return measurement

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InvalidInputError(
                f"{self.path} is in use by another campaign; wait for it or name another folder"
            ) from error
        except OSError as error:
            raise InvalidInputError(f"cannot lock {self.path}: {reason_and_advice(error)}") from error

    def _open(self, header: Header, *, locked: bool) -> Record:
        if locked:
            self._lock()
        with refused_as(f"cannot write {self.path}"):
            record, self._size = _parse(self.path, read_bounded(self.path, MOST_BYTES))
            os.ftruncate(self._file, self._size)
        if record.header is None:
            self._append(header)
            sync_folder(self.path.parent)
            return msgspec.structs.replace(record, header=header)
        conflict = header_conflict(record.header, header)
        if conflict:
            raise InvalidInputError(f"{self.path}: {conflict}; name another folder")
        return record

    def _append(self, line: _Line) -> None:
        try:
            data = _encode(line)
            view = memoryview(data)
            while view:
                view = view[os.write(self._file, view) :]
            os.fsync(self._file)
        except BaseException as error:
            # Remove a partly written line; where even that fails, the next process to open the journal does it.
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._size)
            if isinstance(error, OSError):
                raise UnwritableError(f"cannot write {self.path}: {reason_and_advice(error)}") from error
            if isinstance(error, UnicodeEncodeError):
                raise InvalidInputError(f"{self.path}: {error.object!r} is not UTF-8 text; rename it") from error
            raise
        self._size += len(data)


def _parse(path: Path, data: bytes) -> tuple[Record, int]:
    """Return the record in a journal's bytes and the length of its whole lines."""
    header: Header | None = None
    programs: dict[str, Program] = {}
    measurements: dict[tuple[str, str], tuple[Measurement, float]] = {}
    size = data.rfind(b"\n") + 1
    lines = data[:size].splitlines(keepends=True)
    for number, text in enumerate(lines, start=1):
        where = f"{path}, line {number}"
        if number == 1:
            _refuse_newer(where, text)
        try:
            line = _DECODER.decode(text)
        except (msgspec.ValidationError, InvalidTopologyError) as error:
            raise InvalidInputError(f"{where}: {error}; {_REPAIR}") from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            if number == len(lines):  # torn inside, by a power loss that kept the line feed
                size -= len(text)
                break
            raise InvalidInputError(f"{where}: not a JSON object ({error}); {_REPAIR}") from error
        if isinstance(line, Header):
            if header is not None or line.schema != SCHEMA_VERSION:
                raise InvalidInputError(f"{where}: a header of schema {line.schema} is not expected here; {_REPAIR}")
            header = line
        elif header is None:
            raise InvalidInputError(f"{where}: the header is missing; {_REPAIR}")
        elif isinstance(line, Introduced):
            programs[line.program.name] = line.program
        elif line.program not in programs:
            raise InvalidInputError(f"{where}: program {line.program!r} was not introduced; {_REPAIR}")
        else:
            measurements[line.program, line.mapping] = (_measurement(where, line, header), line.took_s)
    finished = measurements.values()
    return Record(header, tuple(programs.values()), tuple(m for m, _ in finished), tuple(t for _, t in finished)), size


def _refuse_newer(where: str, text: bytes) -> None:
    """Raise InvalidInputError for a header of a later version, which may have fields that are not known here."""
    with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
        schema = msgspec.json.decode(text, type=_Version).schema
        if schema > SCHEMA_VERSION:
            raise InvalidInputError(
                f"{where}: schema is {schema}, this numapredict reads up to {SCHEMA_VERSION}; use a newer numapredict"
            )


def _encode(line: _Line) -> bytes:
    """Return a line's bytes; JSON escapes every line feed within.

    Raises InvalidInputError for what no reader would take.
    """
    data = msgspec.json.encode(line) + b"\n"
    try:
        _DECODER.decode(data)
    except (msgspec.ValidationError, InvalidTopologyError) as error:
        kind = type(line).__name__.lower()
        raise InvalidInputError(f"a {kind} line could not be read again ({error}); it was not written") from error
    return data


def _finished(measurement: Measurement, took_s: float) -> Finished:
    same = {name: getattr(measurement, name) for name in _MEASURED}
    return Finished(mapping=measurement.mapping.label, took_s=took_s, **same)


def _measurement(where: str, line: Finished, header: Header) -> Measurement:
    try:
        mapping = parse_label(line.mapping)
    except InvalidMappingError as error:
        raise InvalidInputError(f"{where}: mapping: {error}; {_REPAIR}") from error
    same = {name: getattr(line, name) for name in _MEASURED}
    return Measurement(mapping=mapping, machine=header.machine, modelled=header.modelled, **same)
