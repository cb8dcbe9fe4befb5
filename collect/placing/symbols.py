"""The names of functions: what a module's symbol tables call the function at an offset."""

import os
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from numapredict.collect.source.symbol_table import FUNCTION, name_in, symbols_of

_PAGE = 4096
_TASKS = (b"GOMP_task\0", b"GOMP_taskloop\0", b"GOMP_taskloop_ull\0", b"__kmpc_omp_task\0", b"__kmpc_taskloop\0")


def function_at(path: str, offset: int) -> str | None:
    """Return the linker's name of the function that begins at an offset from a module's load address.

    None where the module cannot be read, is stripped or has no such function.
    """
    return _module(path).functions.get(offset)


def load_address(path: str) -> int:
    """Return the address, before relocation, that offsets in a loaded module count from; 0 where it cannot be read.

    The loaded module begins with the first page of its first segment, whether its addresses are fixed or not.
    """
    return _module(path).base


def uses_tasks(path: str) -> bool:
    """Return whether a module calls the runtime for OpenMP tasks."""
    return _module(path).tasks


@dataclass(frozen=True)
class _Module:
    functions: dict[int, str] = field(default_factory=dict)
    base: int = 0
    tasks: bool = False


def _module(path: str) -> _Module:
    try:
        return _read(path, os.stat(path).st_mtime_ns)
    except (OSError, ValueError):
        return _Module()


@lru_cache(maxsize=64)
def _read(path: str, _changed: int) -> _Module:
    """Return all functions of a module by their offsets; the first of several names for one, .symtab before .dynsym."""
    try:
        with Path(path).open("rb") as file:
            elf = ELFFile(file)
            if elf.elfclass != 64 or not elf.little_endian:
                return _Module()
            base = min(segment["p_vaddr"] for segment in elf.iter_segments("PT_LOAD")) // _PAGE * _PAGE
            tables = [section for section in elf.iter_sections() if isinstance(section, SymbolTableSection)]
            found: dict[int, str] = {}
            tasks = False
            for table in sorted(tables, key=lambda table: bool(table["sh_flags"] & SH_FLAGS.SHF_ALLOC)):
                symbols, names = symbols_of(table)
                tasks = tasks or any(name in names for name in _TASKS)
                symbols = symbols[(symbols["info"] & 15) == FUNCTION]
                for value, name in zip(symbols["value"].tolist(), symbols["name"].tolist(), strict=True):
                    found.setdefault(value - base, name_in(names, name))
            return _Module(found, base, tasks)
    except (OSError, ELFError, ValueError, KeyError, TypeError, AttributeError):
        return _Module()
