"""The names of functions: what a module's symbol tables call the function at an offset."""

import os
from functools import lru_cache
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from numapredict.collect.source.symbol_table import FUNCTION, name_in, symbols_of

_PAGE = 4096


def function_at(path: str, offset: int) -> str | None:
    """Return the linker's name of the function that begins at an offset from a module's load address.

    None where the module cannot be read, is stripped or has no such function. The loaded module begins with the first
    page of its first segment, whether its addresses are fixed or not.
    """
    try:
        changed = os.stat(path).st_mtime_ns
    except (OSError, ValueError):
        return None
    return _functions(path, changed).get(offset)


@lru_cache(maxsize=64)
def _functions(path: str, _changed: int) -> dict[int, str]:
    """Return all functions of a module by their offsets; the first of several names for one, .symtab before .dynsym."""
    try:
        with Path(path).open("rb") as file:
            elf = ELFFile(file)
            if elf.elfclass != 64 or not elf.little_endian:
                return {}
            base = min(segment["p_vaddr"] for segment in elf.iter_segments("PT_LOAD")) // _PAGE * _PAGE
            tables = [section for section in elf.iter_sections() if isinstance(section, SymbolTableSection)]
            found: dict[int, str] = {}
            for table in sorted(tables, key=lambda table: bool(table["sh_flags"] & SH_FLAGS.SHF_ALLOC)):
                symbols, names = symbols_of(table)
                symbols = symbols[(symbols["info"] & 15) == FUNCTION]
                for value, name in zip(symbols["value"].tolist(), symbols["name"].tolist(), strict=True):
                    found.setdefault(value - base, name_in(names, name))
            return found
    except (OSError, ELFError, ValueError, KeyError, TypeError, AttributeError):
        return {}
