"""Gains in files: the only reader and writer of what known programs gained, on one machine or on several.

A file is one MessagePack object, read with types and without running code. History of the schema version:

1. the first: machines with topology, default, mappings, groups of programs, and gains as float16.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from numapredict.collect.host.bounded_file import read_bounded
from numapredict.collect.host.durable import reason_and_advice, write_whole
from numapredict.collect.mapping import Mapping, parse_label
from numapredict.collect.topology import Topology
from numapredict.native.errors import InvalidInputError, NumapredictError
from numapredict.predictor.searching.known_gains import Array

SCHEMA_VERSION = 1

SIZE_LIMIT_BYTES = 64 * 1024 * 1024
"""128 programs under all mappings of 100 machines take 14 MB."""

_NUMBER = np.dtype("<f2")
_CHANGED = "restore the file, install numapredict again, or train again"


class MachineGains(msgspec.Struct, frozen=True, kw_only=True):
    """What K programs gained on one machine under M mappings, of which ``default`` is one; all by their labels.

    ``groups`` has each program's group. ``numbers`` are float16[K, M], little-endian: log2 of a program's time under
    the default over its time under the mapping. ValueError for numbers that do not fit or are not finite.
    """

    machine: str
    modelled: bool
    topology: Topology
    default: str
    mappings: tuple[str, ...]
    groups: tuple[str, ...]
    numbers: bytes

    def __post_init__(self) -> None:
        """Raise ValueError for contents that contradict each other."""
        if len(self.numbers) != len(self.groups) * len(self.mappings) * _NUMBER.itemsize:
            raise ValueError(f"{self.machine} has not one gain for each program and mapping")
        if self.default not in self.mappings or not self.groups:
            raise ValueError(f"{self.machine} has no program, or no gains of its default mapping {self.default}")
        if not np.isfinite(np.frombuffer(self.numbers, _NUMBER)).all():
            raise ValueError(f"{self.machine} has gains that are not finite")

    @property
    def stored(self) -> npt.NDArray[np.float16]:
        """Return the gains as they are stored, float16[K, M]."""
        return np.frombuffer(self.numbers, _NUMBER).reshape(len(self.groups), len(self.mappings))

    @property
    def gains(self) -> Array:
        """Return the gains as float64[K, M]."""
        return self.stored.astype(np.float64)

    @property
    def parsed(self) -> tuple[Mapping, ...]:
        """Return the mappings; InvalidMappingError for a label that is not in our grammar."""
        return tuple(map(parse_label, self.mappings))


class _File(msgspec.Struct, frozen=True):
    schema_version: int
    machines: tuple[MachineGains, ...]


class _Version(msgspec.Struct, frozen=True):
    schema_version: int


def numbers_of(gains: Array) -> bytes:
    """Return gains as a file has them, rounded to 11 significant bits: 0.1% of a gain of 2 in log2."""
    return gains.astype(_NUMBER).tobytes()


def read_gains(path: Path) -> tuple[MachineGains, ...]:
    """Return the machines in a file; InvalidInputError for anything malformed, too new, or unreadable."""
    try:
        data = read_bounded(path, SIZE_LIMIT_BYTES)
    except OSError as error:
        raise InvalidInputError(f"cannot read {path}: {reason_and_advice(error)}; {_CHANGED}") from error
    try:
        version = msgspec.msgpack.decode(data, type=_Version).schema_version
        if version > SCHEMA_VERSION:
            raise InvalidInputError(
                f"{path}: schema_version is {version}, this numapredict reads up to {SCHEMA_VERSION}; "
                "use a newer numapredict or train again"
            )
        machines = msgspec.msgpack.decode(data, type=_File).machines
        for machine in machines:
            _ = machine.parsed
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, NumapredictError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(f"{path}: {' '.join(str(error).split())[:300]}; {_CHANGED}") from error
    return machines


def write_gains(machines: Sequence[MachineGains], path: Path) -> None:
    """Write machines in one step; UnwritableError where the system refuses, InvalidInputError for too many."""
    data = msgspec.msgpack.encode(_File(SCHEMA_VERSION, tuple(machines)))
    if len(data) > SIZE_LIMIT_BYTES:  # it could not be read again
        raise InvalidInputError(
            f"the gains of {len(machines)} machines take {len(data) / 1e6:.0f} MB, at most "
            f"{SIZE_LIMIT_BYTES / 1e6:.0f} can be read: learn from fewer machines; nothing was written"
        )
    write_whole(path, data, f"cannot write the gains {path}")
