"""The functions of an address: the one that holds it, and those that were inlined there (DWARF 5 sec. 3.3.8)."""

from collections.abc import Iterator
from typing import Any

from numapredict.collect.source.address_ranges import covers, ranges_of
from numapredict.collect.source.demangling import demangled
from numapredict.collect.source.lines import LineTable
from numapredict.collect.source.place import Frame

_SCOPES = {"DW_TAG_namespace", "DW_TAG_module"}
_ORIGINS = ("DW_AT_abstract_origin", "DW_AT_specification")
_NAMED = {"DW_TAG_namespace", "DW_TAG_class_type", "DW_TAG_structure_type", "DW_TAG_union_type", "DW_TAG_module"}
_DEEPEST = 64

Die = Any  # pyelftools before 0.32 ships no types


def functions_at(unit: Any, address: int) -> tuple[Die, ...]:  # noqa: ANN401
    """Return the entries of the functions at an address, outermost first; empty where none is known."""
    function = _holding(unit.get_top_DIE(), address)
    if function is None:
        return ()
    chain = [function]
    while len(chain) < _DEEPEST and (inner := _inlined_into(chain[-1], address)) is not None:
        chain.append(inner)
    return tuple(chain)


def frames_of(chain: tuple[Die, ...], address: int, table: LineTable) -> tuple[Frame, ...]:
    """Return the frames of an address, innermost first, by its functions, outermost first."""
    file, line, column = table.at(address)
    if not chain:
        return (Frame(None, file, line, column),) if file is not None else ()
    frames = []
    for function in reversed(chain):
        frames.append(Frame(full_name(function), file, line, column))
        called = function.attributes
        if "DW_AT_call_line" not in called:
            break  # no inlined one
        file = table.file(called["DW_AT_call_file"].value) if "DW_AT_call_file" in called else None
        line = called["DW_AT_call_line"].value
        column = called["DW_AT_call_column"].value if "DW_AT_call_column" in called else None
    return tuple(frames)


def full_name(die: Die) -> str | None:
    """Return the name of a function or variable with its classes and namespaces, None where it has none."""
    own = attribute(die, "DW_AT_name")
    if own is None:
        return None
    parts = [demangled(text(own))]
    if parts != [text(own)]:  # gcc names the bodies of regions as the linker does, with all their classes
        return parts[0]
    declared = declaration(die)
    parent = declared.get_parent()
    while parent is not None and parent.tag in _NAMED and len(parts) < _DEEPEST:
        name = parent.attributes.get("DW_AT_name")
        parts.append(text(name.value) if name is not None else "(anonymous namespace)")
        parent = parent.get_parent()
    return "::".join(reversed(parts))


def attribute(die: Die, name: str) -> Any:  # noqa: ANN401
    """Return the value of an attribute of an entry or of the one that it stands for, None where neither has it."""
    return next((one.attributes[name].value for one in _line_of(die) if name in one.attributes), None)


def declaration(die: Die) -> Die:
    """Return the entry that declares what an entry stands for: the last of the origins, in its class or namespace."""
    return list(_line_of(die))[-1]


def children(die: Die) -> Iterator[Die]:
    """Return the entries within an entry; raise ValueError where damage would lead in a circle."""
    last = die.offset
    for child in die.iter_children():
        if child.offset <= last:
            raise ValueError("the debug information leads in a circle")
        last = child.offset
        yield child


def text(value: object) -> str:
    """Return a string of the debug information."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _holding(die: Die, address: int) -> Die | None:
    """Return the function below an entry that holds an address; last, one that stands in another function.

    There gcc puts the bodies of C++ functions' parallel regions, at addresses of their own.
    """
    others = []
    for child in children(die):
        if child.tag == "DW_TAG_subprogram":
            if covers(ranges_of(child), address):
                return child
            others += [child] if ranges_of(child) else []
        elif child.tag in _SCOPES and child.has_children:
            found = _holding(child, address)
            if found is not None:
                return found
    return next((found for other in others if (found := _standing_in(other, address)) is not None), None)


def _standing_in(function: Die, address: int) -> Die | None:
    for child in children(function):
        if child.tag == "DW_TAG_subprogram" and covers(ranges_of(child), address):
            return child
        if child.tag == "DW_TAG_lexical_block":
            found = _standing_in(child, address)
            if found is not None:
                return found
    return None


def _inlined_into(die: Die, address: int) -> Die | None:
    """Return the function that was inlined into a function or block, or stands in it, at an address."""
    for child in children(die):
        if child.tag == "DW_TAG_lexical_block":
            ranges = ranges_of(child)
            if (not ranges or covers(ranges, address)) and (found := _inlined_into(child, address)) is not None:
                return found
        elif child.tag in ("DW_TAG_inlined_subroutine", "DW_TAG_subprogram") and covers(ranges_of(child), address):
            return child
    return None


def _line_of(die: Die) -> Iterator[Die]:
    """Return an entry, the one that it is made from, and so on."""
    for _ in range(_DEEPEST):
        yield die
        origin = next((name for name in _ORIGINS if name in die.attributes), None)
        if origin is None:
            return
        die = die.get_DIE_from_attribute(origin)
