"""A module's symbols: which function or static object is at an address."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from elftools.elf.sections import SymbolTableSection

OBJECT, FUNCTION, THREAD_LOCAL = 1, 2, 6  # STT_OBJECT, STT_FUNC, STT_TLS: the low four bits of a symbol's type
_INDIRECT = 10  # STT_GNU_IFUNC
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)


@dataclass(frozen=True)
class Symbol:
    """A symbol: its linker's name, its address before relocation and its size."""

    name: str
    address: int
    size_bytes: int


@dataclass(frozen=True, eq=False)
class SymbolTable:
    """The functions or the objects of a module, by address; records are of _SYMBOL, names those of ``text``."""

    records: npt.NDArray[np.void]
    text: bytes

    def at(self, address: int) -> Symbol | None:
        """Return the symbol that holds an address, None where there is none."""
        number = int(np.searchsorted(self.records["value"], np.uint64(address), side="right"))
        for record in self.records[max(number - 8, 0) : number][::-1]:  # an alias may have no size
            if int(record["value"]) <= address < int(record["value"]) + int(record["size"]):
                return self._symbol(record)
        return None

    def within(self, start: int, end: int) -> tuple[Symbol, ...]:
        """Return the symbols between two addresses, in order, of those at one address the largest."""
        found: dict[int, Symbol] = {}
        first, last = np.searchsorted(self.records["value"], np.array([start, end], dtype=np.uint64))
        for record in self.records[int(first) : int(last)]:
            symbol = self._symbol(record)
            if symbol.size_bytes > found.get(symbol.address, Symbol("", 0, 0)).size_bytes:
                found[symbol.address] = symbol
        return tuple(found.values())

    def _symbol(self, record: np.void) -> Symbol:
        return Symbol(name_in(self.text, int(record["name"])), int(record["value"]), int(record["size"]))


def symbol_tables(files: Iterable[Any]) -> dict[int, SymbolTable]:
    """Return the functions (FUNCTION) and the objects (OBJECT) of the best table that some ELF files have.

    A .symtab is better than a .dynsym, which has no static functions.
    """
    tables = [section for elf in files for section in elf.iter_sections() if isinstance(section, SymbolTableSection)]
    tables = [table for table in tables if table["sh_type"] != "SHT_NOBITS" and table["sh_entsize"] == _SYMBOL.itemsize]
    tables.sort(key=lambda table: table["sh_type"] != "SHT_SYMTAB")
    if not tables:
        return {}
    records, text = symbols_of(tables[0])
    records = records[(records["section"] < 0xFF00) & (records["name"] < len(text))]
    kinds = records["info"] & 15
    return {
        THREAD_LOCAL: _table(records[kinds == THREAD_LOCAL], text),
        OBJECT: _table(records[kinds == OBJECT], text),
        FUNCTION: _table(records[(kinds == FUNCTION) | (kinds == _INDIRECT)], text),
    }


def symbols_of(table: SymbolTableSection) -> tuple[npt.NDArray[np.void], bytes]:
    """Return the symbols that a module defines by one of its 64-bit tables, as records of _SYMBOL, and their names."""
    data = table.data()
    records = np.frombuffer(data, _SYMBOL, len(data) // _SYMBOL.itemsize)
    return records[records["section"] != 0], table.elffile.get_section(table["sh_link"]).data()


def name_in(text: bytes, start: int) -> str:
    """Return the name that begins at a place of a table's names."""
    return text[start : text.find(b"\0", start)].decode(errors="replace")


def _table(records: npt.NDArray[np.void], text: bytes) -> SymbolTable:
    return SymbolTable(records[np.argsort(records["value"], kind="stable")], text)
