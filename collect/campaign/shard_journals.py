"""The journals of a campaign's shards, in a folder that all nodes share: one process writes each, all read it."""

import datetime
import os
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from numapredict.collect.campaign.control import GROUP
from numapredict.collect.campaign.shard import JournalName, Shard, journal_named
from numapredict.collect.data.dataset import same_command
from numapredict.collect.data.journal import Header, Journal, Record, read_journal
from numapredict.collect.data.machine_kind import MachineKind, kind_of
from numapredict.collect.host.durable import reason_and_advice
from numapredict.collect.host.node_name import node_name
from numapredict.collect.mapping import AnyMapping
from numapredict.collect.measurement import Measurement
from numapredict.collect.program import Program
from numapredict.native.errors import InvalidInputError

VERSION = "numapredict"
"""The name of our version in a journal's environment."""


class Source(msgspec.Struct, frozen=True):
    """Runs to put together, and the file that holds them; ``name`` is None where that is no shard's journal.

    ``control`` are the runs of the control, which the record does not have.
    """

    path: Path
    header: Header
    record: Record
    name: JournalName | None = None
    control: tuple[Measurement, ...] = ()

    @property
    def kind(self) -> MachineKind:
        """Return the kind of machine whose runs these are."""
        return kind_of(self.header)

    @property
    def version(self) -> str:
        """Return the version of numapredict that made them."""
        return dict(self.header.environment).get(VERSION, "unknown")


class Run(msgspec.Struct, frozen=True):
    """A measurement, how long it took in seconds, and the file that it is in."""

    measurement: Measurement
    took_s: float
    path: Path


def shard_journals(folder: Path) -> tuple[Source, ...]:
    """Return the journals of shards in a folder, by name; one without a whole header holds nothing yet."""
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise InvalidInputError(f"cannot read {folder}: {reason_and_advice(error)}") from error
    found = []
    for file in names:
        name = journal_named(file)
        record = Record() if name is None else read_journal(folder / file)
        if record.header is not None:
            found.append(_source(folder / file, record.header, record, name))
    return tuple(found)


def new_journal(folder: Path, shard: Shard, header: Header) -> Journal:
    """Make the journal of a start of a shard on this node."""
    # Not the process's number: in containers many processes are number 1.
    start = datetime.datetime.now(datetime.UTC).strftime(f"%Y%m%dT%H%M%SZ-{secrets.token_hex(4)}")
    name = JournalName(shard, kind_of(header).fingerprint, node_name(), start)
    return Journal(folder / name.file, header, own=True)


def check_one_version(sources: Sequence[Source]) -> None:
    """Raise InvalidInputError where runs of one machine were made by several versions of numapredict."""
    for source in sources:
        if source.version != sources[0].version:
            raise InvalidInputError(
                f"{sources[0].path} was made by numapredict {sources[0].version}, {source.path} by {source.version}:"
                " their programs and figures may differ; collect one of them again"
            )


def all_programs(sources: Iterable[Source]) -> dict[str, Program]:
    """Return all programs by name; raise InvalidInputError where two files have other commands for a name."""
    found: dict[str, tuple[Program, Path]] = {}
    for source in sources:
        for program in source.record.programs:
            known, path = found.setdefault(program.name, (program, source.path))
            if not same_command(known, program):
                raise InvalidInputError(
                    f"program {program.name!r} has one command in {path} and another in {source.path}; rename one of"
                    " them and collect it again"
                )
            if _bytes(program) < _bytes(known):
                found[program.name] = program, source.path
    return {name: program for name, (program, _) in found.items()}


def all_runs(sources: Iterable[Source], *, strict: bool) -> dict[tuple[str, AnyMapping], Run]:
    """Return the run of every pair, whatever the order of the files: one that went well before one that failed.

    ``strict`` refuses two that went well with different figures (InvalidInputError), since nothing says which is right.
    """
    found: dict[tuple[str, AnyMapping], Run] = {}
    for source in sources:
        for measurement, took_s in zip(source.record.measurements, source.record.took_s, strict=True):
            run = Run(measurement, took_s, source.path)
            pair = measurement.program, measurement.mapping
            known = found.setdefault(pair, run)
            if known.measurement == measurement:
                continue
            if strict and known.measurement.status == measurement.status == "ok":
                raise InvalidInputError(_two_results(known, run))
            found[pair] = min(known, run, key=_order)
    return found


def joined(sources: Sequence[Source]) -> Record:
    """Return what journals of one kind of machine hold together."""
    runs = all_runs(sources, strict=False).values()
    return Record(
        sources[0].header if sources else None,
        tuple(all_programs(sources).values()),
        tuple(run.measurement for run in runs),
        tuple(run.took_s for run in runs),
    )


def _source(path: Path, header: Header, record: Record, name: JournalName | None) -> Source:
    controls = {program.name for program in record.programs if program.group == GROUP}
    runs = [each for each in zip(record.measurements, record.took_s, strict=True) if each[0].program not in controls]
    return Source(
        path,
        header,
        Record(
            header,
            tuple(program for program in record.programs if program.name not in controls),
            tuple(measurement for measurement, _ in runs),
            tuple(took_s for _, took_s in runs),
        ),
        name,
        tuple(measurement for measurement in record.measurements if measurement.program in controls),
    )


def _order(run: Run) -> tuple[bool, bytes]:
    return run.measurement.status != "ok", _bytes(run.measurement)


def _bytes(record: Program | Measurement) -> bytes:
    return msgspec.json.encode(record, enc_hook=repr)


def _two_results(one: Run, other: Run) -> str:
    measurement = one.measurement
    return (
        f"{measurement.program} under {measurement.mapping.label} is in {one.path} ({measurement.time_s:.6g} s) and"
        f" with other figures in {other.path} ({other.measurement.time_s:.6g} s): move one of the files to another"
        " folder, and submit the campaign again for what that leaves out"
    )
