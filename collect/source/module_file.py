"""A module's file: the program or a library, with its symbols and its debug information, wherever that is.

Debug information is in the file itself or in a separate file, found as gdb finds it: by build ID below /usr/lib/debug,
or by the name in .gnu_debuglink (gdb's manual, "Separate Debug Files"). Nothing of a file is executed.
"""

import os
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from numapredict.collect.host.bounded_file import open_regular
from numapredict.collect.source.symbol_table import SymbolTable, symbol_tables

DEBUG_FOLDER = Path("/usr/lib/debug")
MOST_BYTES = 2 << 30
"""Of debug information: more is not loaded."""

HOW_TO_BUILD = "build it with -g for lines and names of variables"

_CHUNK_BYTES = 1 << 20
_LINK_BYTES = 4096


@dataclass(frozen=True, eq=False)
class ModuleFile:
    """What a module's file tells: symbols, and DWARF (pyelftools' DWARFInfo) or None.

    ``doubt`` says in one line why there is no DWARF or why it may be wrong; empty where all is well.
    """

    path: str
    symbols: dict[int, SymbolTable] = field(default_factory=dict)
    dwarf: Any = None
    changed_s: float = 0.0
    doubt: str = ""


def open_module(
    path: str, run_ended_s: float | None = None, debug_folder: Path = DEBUG_FOLDER, build_id: str = ""
) -> ModuleFile:
    """Return what a module's file tells; damage and absence become a doubt, never an error.

    ``run_ended_s``: a file that was written after that time (seconds since 1970) is not the one that ran, nor is
    one with another ``build_id`` (hexadecimal; empty where that of the run is not known).
    """
    name = Path(path).name or "code without a file"
    if not path:
        return ModuleFile(path, doubt="made while the program ran: there is no file to look in")
    with ExitStack() as stack:
        changed = f"{name} has changed since the run: profile it again"
        try:
            changed_s = os.stat(path).st_mtime
            if run_ended_s is not None and not build_id and changed_s > run_ended_s:
                return ModuleFile(path, doubt=changed)
            elf = _opened(Path(path), stack)
            if build_id and _build_id(elf) != build_id:
                return ModuleFile(path, doubt=changed)
        except (OSError, ValueError) as error:
            return ModuleFile(path, doubt=f"{name} cannot be read: {getattr(error, 'strerror', None) or error}")
        except Exception:  # what pyelftools raises for a damaged file has no common class
            return ModuleFile(path, doubt=changed if build_id else f"{name} is no whole ELF file")
        doubt, dwarf, files = "", None, [elf]
        try:
            debug = elf if _has_lines(elf) else _separate(elf, Path(path), debug_folder, stack)
            files += [] if debug is None or debug is elf else [debug]
            dwarf, doubt = _dwarf(debug, name)
        except Exception:  # as above
            doubt = f"the debug information of {name} is damaged or of an unknown kind"
        try:
            symbols = symbol_tables(files)
        except Exception:  # as above
            symbols, doubt = {}, doubt or f"the symbols of {name} are damaged"
        return ModuleFile(path, symbols, dwarf, changed_s, doubt)


def _opened(path: Path, stack: ExitStack) -> Any:  # noqa: ANN401 - pyelftools before 0.32 ships no types
    return ELFFile(stack.enter_context(open_regular(path)))


def build_id_of(path: Path) -> str:
    """Return a file's build ID in hexadecimal, empty where it has none or is no ELF file; raises OSError."""
    with ExitStack() as stack:
        file = stack.enter_context(open_regular(path))
        try:
            return _build_id(ELFFile(file))
        except OSError:
            raise
        except Exception:  # what pyelftools raises for a damaged file has no common class
            return ""


def _has_lines(elf: Any) -> bool:  # noqa: ANN401
    return any(
        (section := elf.get_section_by_name(name)) is not None and section["sh_type"] != "SHT_NOBITS"
        for name in (".debug_info", ".zdebug_info")
    )


def _dwarf(elf: Any, name: str) -> tuple[Any, str]:  # noqa: ANN401
    """Return the debug information of a file, or None and why."""
    if elf is None:
        return None, f"{name} has no debug information: {HOW_TO_BUILD}"
    if sum(s.data_size for s in elf.iter_sections() if s.name.startswith((".debug_", ".zdebug_"))) > MOST_BYTES:
        return None, f"{name} has more than {MOST_BYTES >> 30} GiB of debug information, which is not loaded"
    return elf.get_dwarf_info(relocate_dwarf_sections=False, follow_links=False), ""


def _separate(elf: Any, path: Path, folder: Path, stack: ExitStack) -> Any:  # noqa: ANN401
    """Return the separate debug file that belongs to a file, None where there is none."""
    identity = _build_id(elf)
    for candidate, checksum in _candidates(elf, identity, path, folder):
        try:
            if checksum is not None and _crc(candidate) != checksum:
                continue
            found = _opened(candidate, stack)
            if _has_lines(found) and identity in ("", _build_id(found)):
                return found
        except Exception:  # noqa: S112 - not there, or no debug file: the next may be one
            continue
    return None


def _candidates(elf: Any, identity: str, path: Path, folder: Path) -> Iterator[tuple[Path, int | None]]:  # noqa: ANN401
    """Return the places of a separate debug file, with the checksum that it must have."""
    if len(identity) > 2:
        yield folder / ".build-id" / identity[:2] / f"{identity[2:]}.debug", None
    link = elf.get_section_by_name(".gnu_debuglink")
    if link is None or link["sh_size"] > _LINK_BYTES:
        return
    data = link.data()
    name = Path(os.fsdecode(data.partition(b"\0")[0])).name
    if name:
        checksum = int.from_bytes(data[-4:], "little")
        for place in (path.parent, path.parent / ".debug", folder / str(path.parent.absolute()).lstrip("/")):
            yield place / name, checksum


def _build_id(elf: Any) -> str:  # noqa: ANN401
    """Return a file's build ID in hexadecimal, empty where it has none."""
    section = elf.get_section_by_name(".note.gnu.build-id")
    if section is None or section["sh_type"] == "SHT_NOBITS":
        return ""
    return next((str(note["n_desc"]) for note in section.iter_notes() if note["n_type"] == "NT_GNU_BUILD_ID"), "")


def _crc(path: Path) -> int:
    checksum = 0
    with open_regular(path) as file:
        while part := file.read(_CHUNK_BYTES):
            checksum = zlib.crc32(part, checksum)
    return checksum
