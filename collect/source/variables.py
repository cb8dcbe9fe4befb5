"""The variables that the debug information declares: those of a function, and static ones by their address."""

from collections.abc import Iterator
from typing import Any

from numapredict.collect.source.address_ranges import DW_OP_ADDR
from numapredict.collect.source.functions import Die, attribute, children, full_name
from numapredict.collect.source.lines import LineTable
from numapredict.collect.source.place import Frame

_VARIABLES = {"DW_TAG_variable", "DW_TAG_formal_parameter"}
_BLOCKS = {"DW_TAG_lexical_block", "DW_TAG_namespace", "DW_TAG_module", "DW_TAG_common_block"}
_ADDRESS_AT = 0xA1  # DW_OP_addrx: the address's place in the unit's table


def declared_in(function: Die, table: LineTable) -> tuple[Frame, ...]:
    """Return the variables of a function with the place of their declaration; ``function`` holds the name.

    Those of its blocks are among them, those of functions that were inlined into it are not.
    """
    return tuple(_declared(die, table) for die in _within(function))


def static_at(unit: Any, address: int, table: LineTable) -> Frame | None:  # noqa: ANN401 - see functions.py
    """Return the static variable of a compile unit that begins at an address, None where none does."""
    for die in _statics(unit.get_top_DIE()):
        location = die.attributes.get("DW_AT_location")
        if location is not None and isinstance(location.value, list) and _address(unit, location.value) == address:
            return _declared(die, table)
    return None


def _address(unit: Any, expression: list[int]) -> int | None:  # noqa: ANN401
    """Return the address that an expression consists of, None for any other expression (DWARF 5 sec. 2.6.1.1)."""
    if expression[:1] == [DW_OP_ADDR] and len(expression) == 9:
        return int.from_bytes(bytes(expression[1:]), "little")
    if expression[:1] == [_ADDRESS_AT] and expression[1:]:
        *low, last = expression[1:]
        if last < 0x80 and all(byte >= 0x80 for byte in low):  # one number, seven bits a byte
            number = sum((byte & 0x7F) << 7 * at for at, byte in enumerate(expression[1:]))
            return int(unit.dwarfinfo.get_addr(unit, number))
    return None


def _declared(die: Die, table: LineTable) -> Frame:
    file, line = attribute(die, "DW_AT_decl_file"), attribute(die, "DW_AT_decl_line")
    return Frame(full_name(die), None if file is None else table.file(file), line)


def _within(die: Die) -> Iterator[Die]:
    for child in children(die):
        if child.tag in _VARIABLES:
            yield child
        elif child.tag in _BLOCKS:
            yield from _within(child)


def _statics(die: Die) -> Iterator[Die]:
    """Return the variables of a unit, those that a function keeps to itself included."""
    for child in children(die):
        if child.tag == "DW_TAG_variable":
            yield child
        elif child.tag in _BLOCKS or child.tag == "DW_TAG_subprogram":
            yield from _statics(child)
