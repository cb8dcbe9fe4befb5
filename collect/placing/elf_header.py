"""What the loader reads of an ELF program: for which processor it is, its segments and the libraries that it needs.

The System V ABI, "ELF Header", "Program Header" and "Dynamic Section". Every start of a program needs this, so it is
read without pyelftools, which takes longer to load than all else of a start. Segments are those of files of 64 bits,
little endian: other programs do not run here.
"""

import struct
from dataclasses import dataclass
from typing import BinaryIO

X86_64 = 62
LOAD, DYNAMIC, INTERPRETER = 1, 2, 3
_MACHINES = {
    3: "EM_386",
    21: "EM_PPC64",
    22: "EM_S390",
    40: "EM_ARM",
    X86_64: "EM_X86_64",
    183: "EM_AARCH64",
    243: "EM_RISCV",
    258: "EM_LOONGARCH",
}
_HEADER = struct.Struct("<16s2HI3QI6H")
_SEGMENT = struct.Struct("<2I6Q")
_ENTRY = struct.Struct("<2Q")
_NEEDED, _NAMES, _NAMES_BYTES = 1, 5, 10
_MOST_BYTES = 16 << 20
"""Of a dynamic section and of its names."""


class NoElfError(ValueError):
    """A file is no ELF file, or is cut."""


@dataclass(frozen=True)
class Segment:
    """A part of the file: of its kind, at a place in the file and in memory, with its size in the file."""

    kind: int
    offset: int
    address: int
    size_bytes: int


@dataclass(frozen=True)
class ElfHeader:
    """A file's width in bits, byte order and processor, and its segments."""

    bits: int
    little_endian: bool
    machine: int
    segments: tuple[Segment, ...]

    @property
    def machine_name(self) -> str:
        """Return the processor's name, or its number."""
        return _MACHINES.get(self.machine, f"processor number {self.machine}")

    @property
    def has_interpreter(self) -> bool:
        """Return whether it is linked dynamically."""
        return any(segment.kind == INTERPRETER for segment in self.segments)


def read_header(file: BinaryIO) -> ElfHeader:
    """Return the header of an open file; raise NoElfError where there is no whole one."""
    file.seek(0)
    start = file.read(_HEADER.size)
    if len(start) < _HEADER.size or start[:4] != b"\x7fELF" or start[4] not in (1, 2) or start[5] not in (1, 2):
        raise NoElfError
    bits, little = 32 * start[4], start[5] == 1
    machine = int.from_bytes(start[18:20], "little" if little else "big")
    segments = tuple(_segments(file, start)) if bits == 64 and little else ()
    return ElfHeader(bits, little, machine, segments)


def _segments(file: BinaryIO, start: bytes) -> list[Segment]:
    _, _, _, _, _, at, _, _, _, size, count, *_ = _HEADER.unpack(start)
    if count and size < _SEGMENT.size:
        raise NoElfError
    data = _read(file, at, size * count)
    found = [_SEGMENT.unpack_from(data, size * number) for number in range(count)]
    return [Segment(kind, offset, address, length) for kind, _, offset, address, _, length, _, _ in found]


def needed_libraries(file: BinaryIO, header: ElfHeader) -> list[str]:
    """Return the names of the libraries that a program is linked with; raise NoElfError where they are cut."""
    dynamic = next((segment for segment in header.segments if segment.kind == DYNAMIC), None)
    if dynamic is None:
        return []
    data = _read(file, dynamic.offset, dynamic.size_bytes)
    entries = list(_ENTRY.iter_unpack(data[: len(data) // _ENTRY.size * _ENTRY.size]))
    known = dict(entries)
    if _NAMES not in known or _NAMES_BYTES not in known:
        return []
    names = _read(file, _offset_of(known[_NAMES], header), known[_NAMES_BYTES])
    return [names[at:].partition(b"\0")[0].decode(errors="replace") for tag, at in entries if tag == _NEEDED]


def _offset_of(address: int, header: ElfHeader) -> int:
    for segment in header.segments:
        if segment.kind == LOAD and 0 <= address - segment.address < segment.size_bytes:
            return address - segment.address + segment.offset
    raise NoElfError


def _read(file: BinaryIO, at: int, size_bytes: int) -> bytes:
    if size_bytes > _MOST_BYTES or at >= 1 << 63:
        raise NoElfError
    file.seek(at)
    data = file.read(size_bytes)
    if len(data) < size_bytes:
        raise NoElfError
    return data
