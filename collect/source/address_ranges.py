"""The addresses that an entry of the debug information (a DIE) covers, and the compile unit of an address."""

from bisect import bisect_right
from functools import cached_property
from typing import Any

from elftools.dwarf.ranges import BaseAddressEntry

DW_OP_ADDR = 0x03
"""The location of a static object: its address follows (DWARF 5 sec. 2.5.1.1)."""

Ranges = tuple[tuple[int, int], ...]
"""Pairs of an address and the address behind the last one."""


def ranges_of(die: Any) -> Ranges:  # noqa: ANN401 - pyelftools before 0.32 ships no types
    """Return the addresses of a function, a block or a compile unit (DWARF 5 sec. 2.17); none where it has no code."""
    attributes = die.attributes
    if "DW_AT_ranges" in attributes:
        return _listed(die, attributes["DW_AT_ranges"].value)
    if "DW_AT_low_pc" not in attributes or "DW_AT_high_pc" not in attributes:
        return ()
    low, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
    end = high.value if high.form in ("DW_FORM_addr", "DW_FORM_GNU_addr_index") or "addrx" in high.form else None
    return ((low, low + high.value if end is None else end),)


def covers(ranges: Ranges, address: int) -> bool:
    """Return whether an address is in one of the ranges."""
    return any(low <= address < high for low, high in ranges)


def _listed(die: Any, offset: int) -> Ranges:  # noqa: ANN401
    unit = die.cu
    top = unit.get_top_DIE().attributes
    base = top["DW_AT_low_pc"].value if "DW_AT_low_pc" in top else 0
    found = []
    for entry in die.dwarfinfo.range_lists().get_range_list_at_offset(offset, unit):
        if isinstance(entry, BaseAddressEntry):
            base = entry.base_address
        else:
            shift = 0 if entry.is_absolute else base
            found.append((entry.begin_offset + shift, entry.end_offset + shift))
    return tuple(found)


def _data(section: Any) -> bytes:  # noqa: ANN401
    """Return the bytes of a section of debug information, none where there is none."""
    if section is None:
        return b""
    section.stream.seek(0)
    data: bytes = section.stream.read()
    return data


class UnitFinder:
    """Finds the compile unit of an address: by .debug_aranges, else by each unit's first entry.

    clang writes no .debug_aranges. Of a unit that does not hold the address only its first entry is ever read.
    """

    def __init__(self, dwarf: Any) -> None:  # noqa: ANN401
        self.dwarf = dwarf

    def at(self, address: int) -> Any:  # noqa: ANN401
        """Return the compile unit of an address, None where there is none."""
        table = self._table
        offset = table.cu_offset_at_addr(address) if table is not None and table.entries else None
        if offset is None:
            starts, found = self._index
            number = bisect_right(starts, address) - 1
            if number < 0 or address >= found[number][1]:
                return None
            offset = found[number][2]
        return self.dwarf.get_CU_at(offset)

    def of_static(self, address: int) -> Any:  # noqa: ANN401
        """Return the compile unit that declares a static object at an address, None where none does.

        Its location there is the address itself, or its place in the unit's part of .debug_addr (DWARF 5): either is
        searched for in the bytes, so that no other unit is read.
        """
        wanted = address.to_bytes(8, "little")
        found = _data(self.dwarf.debug_info_sec).find(bytes([1 + len(wanted), DW_OP_ADDR]) + wanted)
        if found >= 0:
            return self.dwarf.get_CU_containing(found)
        at = _data(self.dwarf.debug_addr_sec).find(wanted)
        bases = [(base, unit) for base, unit in self._parts if base <= at]
        return max(bases, key=lambda one: one[0])[1] if bases else None

    @cached_property
    def _parts(self) -> list[tuple[int, Any]]:
        """Return where the part of .debug_addr of each unit begins that has one."""
        tops = ((unit.get_top_DIE().attributes, unit) for unit in self.dwarf.iter_CUs())
        return [(top["DW_AT_addr_base"].value, unit) for top, unit in tops if "DW_AT_addr_base" in top]

    @cached_property
    def _table(self) -> Any:  # noqa: ANN401
        return self.dwarf.get_aranges()

    @cached_property
    def _index(self) -> tuple[list[int], list[tuple[int, int, int]]]:
        found = []
        for unit in self.dwarf.iter_CUs():
            top = unit.get_top_DIE()
            if top.tag in ("DW_TAG_compile_unit", "DW_TAG_skeleton_unit"):
                found += [(low, high, unit.cu_offset) for low, high in ranges_of(top) if low < high and low > 0]
        found.sort()
        return [low for low, _, _ in found], found
